// How the values of a column are represented, and how they are encoded.       Format 50, F-409

/// The type of a column's values. The raw values never change.
package enum ColumnKind: UInt8, Sendable, CaseIterable, BitwiseCopyable {
    /// 64-bit integers: integers, booleans, references, order keys.
    case integer = 1
    /// Doubles and dates.
    case double = 2
    /// Floats.
    case float = 3
    /// Strings, binary data, URIs, decimals.
    case bytes = 4
    /// 16 bytes each: UUIDs.
    case fixed16 = 5
}

/// The encoding of a slice. The raw values never change.
package enum ColumnEncoding: UInt8, Sendable, CaseIterable {
    /// Integers as distances from the minimum, in as few bytes as the largest distance requires.
    case narrow = 1
    /// Integers with equal steps.
    case sequence = 2
    /// Floating-point numbers, their first bytes together, then their second bytes, and so on.
    case planes = 3
    /// Doubles that are whole numbers divided by a power of ten.
    case scaled = 4
    /// One value for all rows.
    case constant = 5
    /// Lengths, then the bytes of all cells.
    case lengths = 6
    /// The distinct values, then a code for each row.
    case dictionary = 7
    /// The values as they are.
    case plain = 8
    /// Integers as distances from a base, in as many bits as they require, with outliers stored separately.
    case packed = 9
    /// Doubles that are packed integers divided by a power of ten.
    case packedDecimals = 10
    /// Floating-point numbers whose bits are packed integers.
    case packedBits = 11
    /// The places of the cells, and their bytes.
    case texts = 12
    /// The same, coded by symbols.
    case symbols = 13
    /// The distinct values, then a code for each row in as many bits as it requires.
    case packedDictionary = 14

    /// Whether a cell can be read without the cells before it. Such slices are never compressed, and no block
    /// of few rows has them.
    package var isAddressable: Bool { rawValue >= Self.packed.rawValue }

    /// Returns whether columns of a kind may use the encoding.
    package func fits(_ kind: ColumnKind) -> Bool {
        switch self {
        case .narrow, .sequence, .packed: kind == .integer
        case .planes, .packedBits: kind == .double || kind == .float
        case .scaled, .packedDecimals: kind == .double
        case .constant: kind == .double || kind == .float || kind == .fixed16
        case .lengths, .dictionary, .texts, .symbols, .packedDictionary: kind == .bytes
        case .plain: kind == .fixed16
        }
    }
}

/// Properties of one slice.
package struct ColumnFlags: OptionSet, Sendable, Hashable {
    package let rawValue: UInt8

    package init(rawValue: UInt8) {
        self.rawValue = rawValue
    }

    /// The slice begins with a bitmap of the rows that are nil.
    package static let nils = ColumnFlags(rawValue: 1)
    /// The slice is LZ4-compressed.
    package static let lz4 = ColumnFlags(rawValue: 2)
    /// A bitmap of the cells that are references to large values follows.
    package static let externals = ColumnFlags(rawValue: 4)

    static let known: ColumnFlags = [.nils, .lz4, .externals]
}
