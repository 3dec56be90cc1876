// What a state has of one fetch index: its order, and its postings if it has some.
//
// Threads: a value; see `PageTransaction`.

import CCairn

/// A fetch index of a state.
struct FetchIndexContent: Sendable {
    var ordered = OrderedIndex()
    /// Empty if the index has none.
    var postings = PostingIndex()

    /// The hash of a key under which its postings are.
    @inline(__always)
    static func hash(_ key: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        cairn_hash64(key.baseAddress, key.count, seed)
    }

    /// Carries out changes and forgets them; false if the index contradicts them.
    mutating func apply(
        _ changes: IndexChanges, hasPostings: Bool, seed: UInt64, in pages: inout PageTransaction
    ) -> Bool {
        changes.settle()
        var isRight = ordered.apply(changes, in: &pages) == 0
        if hasPostings {
            let all = changes.all
            for index in 0..<all.count {
                let entry = all.entry(index)
                let length = entry.count &- 4
                let hash = Self.hash(UnsafeRawBufferPointer(rebasing: entry[..<length]), seed: seed)
                let number = UInt32(
                    bigEndian: entry.loadUnaligned(fromByteOffset: length, as: UInt32.self))
                let isDone =
                    all.isInsert(index)
                    ? postings.insert(hash: hash, number: number, in: &pages)
                    : postings.remove(hash: hash, number: number, in: &pages)
                if !isDone { isRight = false }
            }
        }
        changes.removeAll()
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

    /// The objects that have a value for each element, rising, and how many there are. Their keys may differ all the same, if
    /// their hashes do not, or they are cut.
    func postings(_ key: borrowing IndexKey, seed: UInt64) -> (count: Int, numbers: PostingCursor) {
        let hash = Self.hash(key.bytes, seed: seed)
        return (postings.count(hash: hash), postings.numbers(hash: hash))
    }

    /// Bytes of its pages. Leaves need not be read for that, hash tables are.
    var byteCount: Int { ordered.byteCount + postings.byteCount }

    /// Gives all pages back.
    mutating func removeAll(in pages: inout PageTransaction) {
        ordered.removeAll(in: &pages)
        postings.removeAll(in: &pages)
    }
}
