// A set of columns of an entity.
//
// Invariant: the last word is not zero, so that equal sets have equal words.

/// A set of columns of one entity.
public struct ColumnSet: Sendable, Hashable {
    private var words: [UInt64] = []

    /// Creates an empty set.
    public init() {}

    /// Creates a set of these columns.
    public init(_ columns: some Sequence<Int>) {
        for column in columns { insert(column) }
    }

    /// Whether the set is empty.
    public var isEmpty: Bool { words.isEmpty }

    /// The number of columns.
    public var count: Int { words.reduce(0) { $0 + $1.nonzeroBitCount } }

    /// Whether the set contains a column.
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

    /// Removes a column.
    public mutating func remove(_ column: Int) {
        let word = column >> 6
        guard word < words.count else { return }
        words[word] &= ~(1 << UInt64(column & 63))
        trim()
    }

    /// The columns in this set that are not in the other.
    public func subtracting(_ other: ColumnSet) -> ColumnSet {
        var result = self
        for (index, word) in zip(result.words.indices, other.words) {
            result.words[index] &= ~word
        }
        result.trim()
        return result
    }

    /// The columns in either set.
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
    /// Iterates over the columns in ascending order.
    public func makeIterator() -> Iterator { Iterator(words: words) }

    /// Iterates over the columns of a set in ascending order.
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
    /// Creates a set of these columns.
    public init(arrayLiteral columns: Int...) { self.init(columns) }
}
