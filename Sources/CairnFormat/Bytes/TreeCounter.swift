// The next object number of a tree, as in start, commit and close frames.         Format 60, F-621

/// The object number counter of a tree.
package struct TreeCounter: Sendable, Hashable {
    static let size = 16

    package var tree: UInt32
    /// Always 0 in this format.
    package var epoch: UInt32
    /// The smallest number that was never issued, from 1.
    package var next: UInt32

    package init(tree: UInt32, epoch: UInt32 = 0, next: UInt32) {
        self.tree = tree
        self.epoch = epoch
        self.next = next
    }
}

extension ByteWriter {
    mutating func append(_ counters: [TreeCounter]) {
        for (index, counter) in counters.enumerated() {
            precondition(
                index == 0 || counters[index - 1].tree < counter.tree, "trees are written in order")
            append(counter.tree)
            append(counter.epoch)
            append(counter.next)
            append(UInt32(0))
        }
    }
}

extension ByteReader {
    mutating func counters(_ count: UInt32) throws(FormatError) -> [TreeCounter] {
        guard UInt64(count) * UInt64(TreeCounter.size) <= UInt64(remaining) else {
            throw truncated(Int(clamping: UInt64(count) * UInt64(TreeCounter.size)))
        }
        var counters: [TreeCounter] = []
        counters.reserveCapacity(Int(count))
        for _ in 0..<count {
            let start = offset
            let counter = TreeCounter(
                tree: try integer(), epoch: try integer(), next: try integer())
            try zeros(4)
            guard counter.tree != 0, counter.next != 0, counter.epoch == 0,
                counters.last.map({ $0.tree < counter.tree }) ?? true
            else {
                throw FormatError(
                    .malformed, "F-621", "the counters of the trees are impossible", at: start,
                    found: UInt64(counter.tree))
            }
            counters.append(counter)
        }
        return counters
    }
}
