// Objects that a save relies on, each once, in the order in which they came.
//
// Threads: the context's.

/// A list of different objects.
struct LockedObjects: Sequence, ExpressibleByArrayLiteral {
    private var list: [ManagedObject] = []
    private var known: Set<ManagedObject> = []

    init(arrayLiteral objects: ManagedObject...) { for object in objects { append(object) } }

    var isEmpty: Bool { list.isEmpty }

    func makeIterator() -> IndexingIterator<[ManagedObject]> { list.makeIterator() }

    /// Adds an object that is not there yet.
    mutating func append(_ object: ManagedObject) {
        if known.insert(object).inserted { list.append(object) }
    }

    mutating func remove(_ object: ManagedObject) {
        guard known.remove(object) != nil else { return }
        list.removeAll { $0 === object }
    }
}
