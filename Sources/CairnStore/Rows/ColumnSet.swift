// Which columns of an entity are meant.
//
// Invariant: the last word is not zero, so that equal sets have equal words.

/// A set of columns of one entity.
public struct ColumnSet: Sendable, Hashable {
    private var words: [UInt64] = []

    /// The empty set.
    public init() {}

    /// The set of these columns.
    public init(_ columns: some Sequence<Int>) {
        for column in columns { insert(column) }
    }

    /// Whether there is none.
    public var isEmpty: Bool { words.isEmpty }

    /// How many there are.
    public var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Whether a column is in the set.
    public func contains(_ column: Int) -> Bool {
        let word = column >> 6
        return word < words.count && words[word] & (1 << UInt64(column & 63)) != 0
    }

    /// Adds a column.
    public mutating func insert(_ column: Int) {
        let word = column >> 6
        while words.count <= word { words.append(0) }
        words[word] |= 1 << UInt64(column & 63)
    }

    /// Takes a column out.
    public mutating func remove(_ column: Int) {
        let word = column >> 6
        guard word < words.count else { return }
        words[word] &= ~(1 << UInt64(column & 63))
        trim()
    }

    /// The columns that are in this set and not in the other.
    public func subtracting(_ other: ColumnSet) -> ColumnSet {
        var result = self
        for (index, word) in zip(result.words.indices, other.words) {
            result.words[index] &= ~word
        }
        result.trim()
        return result
    }

    /// The columns that are in either set.
    public func union(_ other: ColumnSet) -> ColumnSet {
        var result = words.count < other.words.count ? other : self
        let shorter = words.count < other.words.count ? self : other
        for (index, word) in zip(result.words.indices, shorter.words) {
            result.words[index] |= word
        }
        return result
    }

    private mutating func trim() {
        while words.last == 0 { words.removeLast() }
    }
}

extension ColumnSet: Sequence {
    /// The columns, ascending.
    public func makeIterator() -> Iterator { Iterator(words: words) }

    /// Gives the columns of a set, ascending.
    public struct Iterator: IteratorProtocol {
        private let words: [UInt64]
        private var position = 0
        private var rest: UInt64

        fileprivate init(words: [UInt64]) {
            self.words = words
            rest = words.first ?? 0
        }

        /// The next column.
        public mutating func next() -> Int? {
            while rest == 0 {
                position += 1
                guard position < words.count else { return nil }
                rest = words[position]
            }
            defer { rest &= rest - 1 }
            return position << 6 | rest.trailingZeroBitCount
        }
    }
}

extension ColumnSet: ExpressibleByArrayLiteral {
    /// The set of these columns.
    public init(arrayLiteral columns: Int...) { self.init(columns) }
}
