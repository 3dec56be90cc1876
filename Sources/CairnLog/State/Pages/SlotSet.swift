// A set of rows of one block, without heap memory for small blocks.

/// A set of slots.
struct SlotSet {
    private var words: (UInt64, UInt64, UInt64, UInt64) = (0, 0, 0, 0)
    private var more: [UInt64] = []
    private(set) var count = 0

    func contains(_ slot: Int) -> Bool { word(slot >> 6) >> UInt64(slot & 63) & 1 == 1 }

    private func word(_ index: Int) -> UInt64 {
        switch index {
        case 0: words.0
        case 1: words.1
        case 2: words.2
        case 3: words.3
        default: index - 4 < more.count ? more[index - 4] : 0
        }
    }

    mutating func insert(_ slot: Int) {
        guard !contains(slot) else { return }
        count += 1
        let bit: UInt64 = 1 << UInt64(slot & 63)
        switch slot >> 6 {
        case 0: words.0 |= bit
        case 1: words.1 |= bit
        case 2: words.2 |= bit
        case 3: words.3 |= bit
        default:
            while more.count <= slot >> 6 - 4 { more.append(0) }
            more[slot >> 6 - 4] |= bit
        }
    }

    mutating func formUnion(_ other: SlotSet) {
        words.0 |= other.words.0
        words.1 |= other.words.1
        words.2 |= other.words.2
        words.3 |= other.words.3
        while more.count < other.more.count { more.append(0) }
        for (index, word) in other.more.enumerated() { more[index] |= word }
        count =
            [words.0, words.1, words.2, words.3].reduce(0) { $0 + $1.nonzeroBitCount }
            + more.reduce(0) { $0 + $1.nonzeroBitCount }
    }
}
