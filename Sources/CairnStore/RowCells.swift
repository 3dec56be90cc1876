// The values of one row in one small buffer: what a fault is filled with and a save compares with.
//
//   words      one word of 8 bytes for each column, then the tail
//   nil        one bit for each column, in words before the columns'
//   fixed      integers, booleans, doubles, dates, floats and references: the value in the word
//   variable   strings, URIs, bytes, decimals and UUIDs: offset << 32 | length of its bytes in the tail
//
// Equal rows have equal bytes (but for the bits of NaN): the tail is in the order of the columns, and the
// word of a nil is zero.
//
// No String is made until a value is asked for, so that a row costs one allocation.
// Threads: a value; immutable once built.

public import CairnModel
import FoundationEssentials

/// The raw cells of one row, by column index of its entity.
public struct RowCells: Sendable, Equatable {
    @usableFromInline package let bytes: [UInt8]

    /// Wraps bytes that a `RowCellsBuilder` has made.
    package init(bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// Whether the column is nil.
    public func isNull(_ column: Int) -> Bool {
        bytes[column >> 3] & (1 << UInt8(column & 7)) != 0
    }

    /// The column's value.
    ///
    /// - Complexity: O(1) for fixed kinds, O(n) in the length of text and bytes.
    public func value(_ column: Int, of entity: SchemaEntity, in store: StoreIdentity) -> Value {
        if isNull(column) { return .null }
        let word = self.word(column, columns: entity.columns.count)
        switch entity.columns[column].kind {
        case .reference(let root):
            return .objectID(store.id(word, entity: root))
        case .attribute(let type):
            switch type {
            case .integer16, .integer32, .integer64: return .integer(Int64(bitPattern: word))
            case .boolean: return .boolean(word != 0)
            case .double: return .double(Double(bitPattern: word))
            case .date:
                return .date(Date(timeIntervalSinceReferenceDate: Double(bitPattern: word)))
            case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: word)))
            case .string: return .string(withTail(word) { String(decoding: $0, as: UTF8.self) })
            case .uri:
                let text = withTail(word) { String(decoding: $0, as: UTF8.self) }
                return URL(string: text).map(Value.uri) ?? .null
            case .binary, .transformable: return .binary(withTail(word) { Data($0) })
            case .decimal:
                return withTail(word) { DecimalCoding.decode($0).map(Value.decimal) ?? .null }
            case .uuid: return withTail(word) { UUIDCoding.decode($0).map(Value.uuid) ?? .null }
            case .undefined, .objectID, .composite: return .null
            }
        }
    }

    /// Whether two rows of one entity have the same value in a column, as `Value` compares: bit by bit,
    /// but one NaN is like another.
    public func isEqual(_ other: RowCells, column: Int, of entity: SchemaEntity) -> Bool {
        let (here, there) = (isNull(column), other.isNull(column))
        if here || there { return here && there }
        let count = entity.columns.count
        let (left, right) = (word(column, columns: count), other.word(column, columns: count))
        guard entity.columns[column].isVariable else {
            if left == right { return true }
            return entity.columns[column].isNotANumber(left)
                && entity.columns[column].isNotANumber(right)
        }
        return withTail(left) { a in other.withTail(right) { b in a.elementsEqual(b) } }
    }

    /// The word of a column of a fixed kind; nil if that is nil. `columns` is how many columns the row has.
    @inline(__always) package func word(_ column: Int, of columns: Int) -> UInt64? {
        isNull(column) ? nil : word(column, columns: columns)
    }

    /// The text of a column of text; nil if that is nil.
    @inline(__always) package func string(_ column: Int, of columns: Int) -> String? {
        if isNull(column) { return nil }
        return withTail(word(column, columns: columns)) { String(decoding: $0, as: UTF8.self) }
    }

    func word(_ column: Int, columns count: Int) -> UInt64 {
        bytes.withUnsafeBytes {
            $0.loadUnaligned(fromByteOffset: RowCells.start(count) + column * 8, as: UInt64.self)
        }
    }

    func withTail<R>(_ word: UInt64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        let start = Int(word >> 32)
        let length = Int(word & 0xFFFF_FFFF)
        return bytes.withUnsafeBytes {
            body(UnsafeRawBufferPointer(rebasing: $0[start..<start + length]))
        }
    }

    /// Where the words of the columns begin: after the nil bits, in whole words.
    static func start(_ columns: Int) -> Int { (columns + 63) / 64 * 8 }
}

extension SchemaColumn {
    /// Whether the cell's bytes lie in the tail.
    package var isVariable: Bool {
        switch kind {
        case .reference: false
        case .attribute(let type):
            switch type {
            case .string, .uri, .binary, .transformable, .decimal, .uuid: true
            default: false
            }
        }
    }

    /// Whether a cell's word is a number that is none.
    fileprivate func isNotANumber(_ word: UInt64) -> Bool {
        switch kind {
        case .attribute(.double), .attribute(.date): Double(bitPattern: word).isNaN
        case .attribute(.float): Float(bitPattern: UInt32(truncatingIfNeeded: word)).isNaN
        default: false
        }
    }
}
