// Compares the state from a checkpoint with the one from the log.                               CK1, CK3
//
//   1. Both are brought to the same commit, by reading the log after the checkpoint.
//   2. They are compared by content: pages, handles and the order of entries may differ.
//
// Threads: one audit in one thread.

import CairnFormat
import CairnStore

enum CheckpointAudit {
    /// Returns the differences, one sentence each; at most a hundred.
    static func differences(
        _ state: EngineState, _ other: EngineState, progress: (Int, Int) -> Void
    ) -> [String] {
        var found: [String] = []
        func find(_ text: String) { if found.count < 100 { found.append(text) } }
        let parts = state.catalog.trees.count + state.uniques.count + state.inverses.count
        var part = 0
        func next() {
            part += 1
            progress(part, parts)
        }
        if state.counts != other.counts { find("it has other counts of objects") }
        if state.nextNumbers != other.nextNumbers {
            find("it would give new objects other numbers (DR1)")
        }
        let (here, there) = (state.catalog.metadata, other.catalog.metadata)
        if here?.revision != there?.revision || here?.place != there?.place {
            find("it names other metadata (F-753)")
        }
        if state.history.changes != other.history.changes {
            find("it names other changes for the history (F-861)")
        }
        if state.redirects?.entries ?? [:] != other.redirects?.entries ?? [:] {
            find("it redirects ids to other objects (F-862)")
        }
        for (tree, definition) in state.catalog.trees.enumerated() {
            compare(tree, definition.id, state, other, find)
            next()
        }
        for (index, unique) in state.uniques.enumerated() {
            if entries(unique) != entries(other.uniques[index]) {
                find(
                    "its unique index on \(state.catalog.uniques[index].words) has other entries (IX1)"
                )
            }
            next()
        }
        // A checkpoint may lack some, which are then built from the rows.
        for (definition, content) in zip(state.catalog.fetchIndexes, state.fetchIndexes) {
            for (wanted, there) in zip(other.catalog.fetchIndexes, other.fetchIndexes)
            where wanted.isSame(as: definition) && !content.ordered.isEqual(to: there.ordered) {
                find("its fetch index \(definition.name) has other entries (IX1)")
            }
        }
        for (index, inverse) in state.inverses.enumerated() {
            if pairs(inverse) != pairs(other.inverses[index]) {
                let definition = state.catalog.references[index]
                let entity = state.catalog.entities[definition.entity]
                find(
                    "it has other references of \(entity.name).\(entity.columns[definition.column].name) (RL2)"
                )
            }
            next()
        }
        return found
    }

    private static func compare(
        _ tree: Int, _ id: UInt32, _ state: EngineState, _ other: EngineState,
        _ find: (String) -> Void
    ) {
        var number: UInt32 = 0
        while true {
            let here = state.directories[tree].next(from: number)
            let there = other.directories[tree].next(from: number)
            guard let next = min(here ?? there, there ?? here) else { return }
            let (a, b) = (state.directories[tree][next], other.directories[tree][next])
            if a.isEmpty || b.isEmpty {
                find(
                    "object \(next) of hierarchy \(id) is \(a.isEmpty ? "superfluous" : "missing") in it (DR2)"
                )
            } else {
                let (x, y) = (state.blocks.entry(a.handle), other.blocks.entry(b.handle))
                if x.place != y.place || a.slot != b.slot || a.version != b.version {
                    find("object \(next) of hierarchy \(id) is in another place in it (DR2)")
                } else if !y.isLive(b.slot) {
                    find("object \(next) of hierarchy \(id) is dead in it (DR2)")
                }
            }
            if next == .max { return }
            number = next + 1
        }
    }

    private static func min(_ a: UInt32?, _ b: UInt32?) -> UInt32? {
        guard let a, let b else { return nil }
        return Swift.min(a, b)
    }

    /// The entries of a unique index, in order.
    static func entries(_ index: UniqueIndex) -> [UInt64] {
        var entries: [UInt64] = []
        entries.reserveCapacity(index.count)
        index.forEachPartition { _, partition in
            for slot in 0..<partition.capacity where partition[slot] != 0 {
                entries.append(partition[slot])
            }
        }
        entries.sort()
        return entries
    }

    /// The entries of an inverse table, in order: target in the upper half, source in the lower.
    static func pairs(_ inverse: InverseTable) -> [UInt64] {
        var pairs: [UInt64] = []
        var sources: [UInt32] = []
        var start: UInt32 = 0
        while let first = inverse.heads.written(from: start) {
            var target = first
            repeat {
                if inverse.heads[target] != 0 {
                    sources.removeAll(keepingCapacity: true)
                    inverse.sources(of: target, into: &sources)
                    for source in sources { pairs.append(UInt64(target) << 32 | UInt64(source)) }
                }
                if target == .max { return pairs }
                target += 1
            } while target & 511 != 0
            start = target
        }
        return pairs
    }
}
