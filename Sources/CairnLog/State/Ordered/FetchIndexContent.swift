// One fetch index in a state: its ordered entries, and its postings if it has any.
//
// Threads: a value; see `PageTransaction`.

/// A fetch index of a state.
package struct FetchIndexContent: BitwiseCopyable, Sendable {
    var ordered = OrderedIndex()
    /// Empty if the index has none.
    var postings = PostingIndex()

    /// Returns the hash of a key by which its postings are found.
    @inline(__always)
    static func hash(_ key: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        StoredHash.of(key, seed: seed)
    }

    /// Applies changes and clears them; false if the index contradicts them.
    mutating func apply(
        _ changes: IndexChanges, hasPostings: Bool, seed: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        changes.settle()
        var isRight = ordered.apply(changes, in: &pages) == 0
        if hasPostings {
            // The old and the new key of a row may share a hash, in either order: removals go before
            // insertions.
            for isInsert in [false, true]
            where !applyToPostings(changes.all, isInsert: isInsert, seed: seed, in: &pages) {
                isRight = false
            }
        }
        changes.removeAll()
        return isRight
    }

    /// Applies either the insertions or the removals; false if the postings contradict them.
    private mutating func applyToPostings(
        _ changes: IndexChanges.Slice, isInsert: Bool, seed: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        var isRight = true
        for index in 0..<changes.count where changes.isInsert(index) == isInsert {
            let entry = changes.entry(index)
            let length = entry.count &- 4
            let hash = Self.hash(UnsafeRawBufferPointer(rebasing: entry[..<length]), seed: seed)
            let number = UInt32(
                bigEndian: entry.loadUnaligned(fromByteOffset: length, as: UInt32.self))
            let isDone =
                isInsert
                ? postings.insert(hash: hash, number: number, in: &pages)
                : postings.remove(hash: hash, number: number, in: &pages)
            if !isDone { isRight = false }
        }
        return isRight
    }

    /// Whether it has the entry of a row, and its posting if it has postings.
    func has(_ key: borrowing IndexKey, number: UInt32, hasPostings: Bool, seed: UInt64) -> Bool {
        var entry = Array(key.bytes)
        withUnsafeBytes(of: number.bigEndian) { entry.append(contentsOf: $0) }
        guard entry.withUnsafeBytes({ ordered.count(prefix: $0) }) == 1 else { return false }
        if !hasPostings { return true }
        var cursor = postings.numbers(hash: Self.hash(key.bytes, seed: seed))
        cursor.skip(to: number)
        return cursor.next() == number
    }

    /// Returns the objects with a value for each element, in ascending order, and their number. Their keys
    /// may still differ if their hashes are equal, or if they are truncated.
    func postings(_ key: borrowing IndexKey, seed: UInt64) -> (count: Int, numbers: PostingCursor) {
        let hash = Self.hash(key.bytes, seed: seed)
        return (postings.count(hash: hash), postings.numbers(hash: hash))
    }

    /// The size of its pages in bytes. Leaves need not be read for that; hash tables are.
    var byteCount: Int { ordered.byteCount + postings.byteCount }

    /// Releases all pages.
    mutating func removeAll(in pages: inout PageTransaction) {
        ordered.removeAll(in: &pages)
        postings.removeAll(in: &pages)
    }
}
