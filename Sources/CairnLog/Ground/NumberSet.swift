// A set of numbers of a tree.

/// A bit set of object numbers.
package struct NumberSet {
    private var words: [UInt64] = []

    package init() {}

    package func contains(_ number: UInt32) -> Bool {
        let word = Int(number >> 6)
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    /// Returns which of 64 consecutive numbers are in the set, one bit each from the lowest on.
    @inline(__always)
    func contained(from first: UInt32) -> UInt64 {
        let word = Int(first >> 6)
        let shift = UInt64(first & 63)
        let low = word < words.count ? words[word] >> shift : 0
        // A shift by all 64 bits yields zero.
        return word + 1 < words.count ? low | words[word + 1] << (64 - shift) : low
    }

    package mutating func insert(_ number: UInt32) {
        let word = Int(number >> 6)
        makeRoom(word)
        words[word] |= 1 << UInt64(number & 63)
    }

    /// Inserts some of 64 consecutive numbers, one bit each from the lowest on.
    @inline(__always)
    mutating func insert(_ bits: UInt64, from first: UInt32) {
        let word = Int(first >> 6)
        makeRoom(word + 1)
        let shift = UInt64(first & 63)
        words[word] |= bits << shift
        // A shift by all 64 bits yields zero.
        words[word + 1] |= bits >> (64 - shift)
    }

    @inline(__always)
    private mutating func makeRoom(_ word: Int) {
        if word < words.count { return }
        words.append(
            contentsOf: repeatElement(0, count: word + 1 + words.count / 2 - words.count))
    }
}
