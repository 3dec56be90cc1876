// Which numbers of a tree are meant.

/// A set of object numbers, a bit each.
struct NumberSet {
    private var words: [UInt64] = []

    func contains(_ number: UInt32) -> Bool {
        let word = Int(number >> 6)
        return word < words.count && words[word] & (1 << UInt64(number & 63)) != 0
    }

    mutating func insert(_ number: UInt32) {
        let word = Int(number >> 6)
        if word >= words.count {
            words.append(
                contentsOf: repeatElement(0, count: word + 1 + words.count / 2 - words.count))
        }
        words[word] |= 1 << UInt64(number & 63)
    }

    /// Takes numbers in that follow each other.
    mutating func insert(_ first: UInt32, count: Int) {
        for number in first..<first + UInt32(count) { insert(number) }
    }
}
