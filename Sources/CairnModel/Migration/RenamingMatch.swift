// Matches new entities, or properties, with the old ones from which they come.
//
// Each has a name and perhaps a renaming identifier: the name under which another version knows it. Who has none is known by
// its name. They are matched in steps, and what is matched is out of the game:
//
//   1. The new one has an identifier, and the old one has the same name and identifier.
//   2. The new one has an identifier, and the old one has the same identifier under another name.
//   3. The new one's identifier is the name of an old one without identifier: the ordinary renaming, also over several versions
//      that all name the first one, and two that have changed names.
//   4. The new one's identifier is the name of an old one with another identifier: a chain, where each version names the one
//      before.
//   5. Neither has an identifier, and the names are the same.
//   6. The old one's identifier is the name of a new one without: a renaming taken back.
//   7. The names are the same, whatever the identifiers are: these are left over from a renaming long ago.
//
// Core Data knows steps 1 to 3, 5 and 6; it takes the left-over ones of steps 4 and 7 for new, and loses their values.
//
// Invariants: the orders on either side mean nothing; nobody is matched twice.
// Threads: pure.

/// Matches by name and renaming identifier.
struct RenamingMatch {
    /// What one is called.
    struct Named: Hashable {
        let name: String
        /// The renaming identifier; nil if it says no more than the name.
        let identifier: String?

        init(_ name: String, _ identifier: String?) {
            self.name = name
            self.identifier =
                identifier.flatMap { $0.isEmpty || $0.hasSameBytes(as: name) ? nil : $0 }
        }
    }

    /// By new one: the old one.
    let sources: [Int?]
    /// New ones that say they were an old one which another new one says too, and has got: by new one, the old one.
    let rivals: [Int: Int]

    init(_ old: [Named], _ new: [Named]) {
        var sources = [Int?](repeating: nil, count: new.count)
        var isTaken = [Bool](repeating: false, count: old.count)
        let oldOrder = old.indices.sorted { old[$0].name.comesBefore(old[$1].name) }
        let newOrder = new.indices.sorted { new[$0].name.comesBefore(new[$1].name) }
        let steps: [(Named, Named) -> Bool] = [
            { $1.identifier != nil && $0.identifier == $1.identifier && $0.name == $1.name },
            { $1.identifier != nil && $0.identifier == $1.identifier },
            { $0.identifier == nil && $0.name == $1.identifier },
            { $0.identifier != nil && $0.name == $1.identifier },
            { $0.identifier == nil && $1.identifier == nil && $0.name == $1.name },
            { $1.identifier == nil && $0.identifier == $1.name },
            { $0.name == $1.name },
        ]
        for step in steps {
            for index in newOrder where sources[index] == nil {
                let found = oldOrder.first { !isTaken[$0] && step(old[$0], new[index]) }
                guard let found else { continue }
                sources[index] = found
                isTaken[found] = true
            }
        }
        var rivals: [Int: Int] = [:]
        for index in new.indices where sources[index] == nil {
            guard let identifier = new[index].identifier else { continue }
            let winner = new.indices.first { other in
                guard let source = sources[other], new[other].identifier == identifier else {
                    return false
                }
                return [old[source].name, old[source].identifier].contains(identifier)
            }
            if let winner, let source = sources[winner] { rivals[index] = source }
        }
        self.sources = sources
        self.rivals = rivals
    }
}

extension String {
    /// Whether the bytes come before those of another: an order that is the same everywhere.
    func comesBefore(_ other: String) -> Bool { utf8.lexicographicallyPrecedes(other.utf8) }
}
