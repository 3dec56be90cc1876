// The values of one row in a piece of memory: the data of a fault, and what a save compares with.
//
//   words      the row's length and where it lies, the nil bits, one word of 8 bytes for each column, then the tail
//   length     of the row in bytes, in 32 bits; how many bytes the row lies behind its slab's beginning, in the next 32
//   nil        one bit for each column, in words before the columns'
//   fixed      integers, booleans, doubles, dates, floats and references: the value in the word
//   variable   strings, URIs, bytes, decimals and UUIDs: offset << 32 | length of its bytes in the tail
//
// Equal rows have equal bytes (but for where they lie, and the bits of NaN): the tail is in the order of the columns, and
// the word of a nil is zero.
//
// No String is made until a value is asked for. Rows that were read together lie in one slab, side by side. A row says where
// its slab is, so that an object gets by with the row's address.
// Threads: a value; immutable once built.

public import CairnModel
import FoundationEssentials

/// The raw cells of one row, by column index of its entity.
public struct RowCells: Equatable, @unchecked Sendable {
    // Unchecked: the memory that `base` points to is never written once a row has been made of it.

    /// Keeps the memory.
    @usableFromInline let slab: CellSlab
    /// The row: good as long as somebody holds the cells.
    @usableFromInline package let base: UnsafeRawPointer

    /// The row that lies in a slab at an address, and begins with what `begin` has written.
    @inlinable
    init(_ base: UnsafeRawPointer, in slab: CellSlab) {
        self.slab = slab
        self.base = base
    }

    /// Writes the first word of a row of so many bytes that lies in a slab at an address.
    static func begin(_ base: UnsafeMutableRawPointer, length: Int, in slab: CellSlab) {
        let beginning = Unmanaged.passUnretained(slab).toOpaque()
        base.storeBytes(of: UInt32(length), as: UInt32.self)
        base.storeBytes(of: UInt32(base - beginning), toByteOffset: 4, as: UInt32.self)
    }

    /// Whether all cells are equal, byte by byte.
    public static func == (left: RowCells, right: RowCells) -> Bool {
        withExtendedLifetime((left.slab, right.slab)) {
            let count = left.length
            return left.base == right.base
                || (count == right.length
                    && UnsafeRawBufferPointer(start: left.base, count: count).dropFirst(8)
                        .elementsEqual(
                            UnsafeRawBufferPointer(start: right.base, count: count).dropFirst(8)))
        }
    }

    /// Whether the column is nil.
    public func isNull(_ column: Int) -> Bool {
        withExtendedLifetime(slab) {
            precondition(column >= 0 && 8 + column >> 3 < length, "the row has no such column")
            return Self.isNull(base, column)
        }
    }

    /// The bytes that the row takes.
    private var length: Int { Int(base.load(as: UInt32.self)) }

    /// The column's value.
    ///
    /// - Complexity: O(1) for fixed-size types, O(n) in the length of strings and bytes.
    public func value(_ column: Int, of entity: SchemaEntity, in store: StoreIdentity) -> Value {
        if isNull(column) { return .null }
        let word = self.word(column, columns: entity.columns.count)
        switch entity.columns[column].kind {
        case .reference(let root):
            return .objectID(store.target(word, entity: root))
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
                return withTail(word) {
                    $0.isEmpty
                        ? .decimal(.nan) : DecimalCoding.decode($0).map(Value.decimal) ?? .null
                }
            case .uuid: return withTail(word) { UUIDCoding.decode($0).map(Value.uuid) ?? .null }
            case .undefined, .objectID, .composite: return .null
            }
        }
    }

    /// Whether two rows of one entity have the same value in a column, compared like `Value`: bit by bit, but all NaNs are
    /// equal.
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

    /// The same row with the number of a store in its references, or with 0 none; see `StoreNumbers`.
    ///
    /// - Parameter references: the columns of references, of so many columns.
    package func moved(to store: UInt32, _ references: [Int], columns count: Int) -> RowCells {
        guard references.contains(where: { !isNull($0) }) else { return self }
        let slab = CellSlab.make(byteCount: length)
        let copy = slab.base
        copy.copyMemory(from: base, byteCount: length)
        Self.begin(copy, length: length, in: slab)
        Self.move(copy, to: store, references, columns: count)
        return RowCells(copy, in: slab)
    }

    /// The same where the row lies: nobody else may have it.
    static func move(
        _ base: UnsafeMutableRawPointer, to store: UInt32, _ references: [Int], columns count: Int
    ) {
        for column in references where !isNull(base, column) {
            base.storeBytes(
                of: UInt64(store) << 32 | word(base, column, columns: count) & StoreNumbers.mask,
                toByteOffset: start(count) + column * 8, as: UInt64.self)
        }
    }

    func word(_ column: Int, columns count: Int) -> UInt64 {
        withExtendedLifetime(slab) {
            precondition(
                column >= 0 && column < count && Self.start(count) + count * 8 <= length,
                "the row has no such column")
            return Self.word(base, column, columns: count)
        }
    }

    func withTail<R>(_ word: UInt64, _ body: (UnsafeRawBufferPointer) -> R) -> R {
        withExtendedLifetime(slab) {
            precondition(
                Int(word >> 32) + Int(word & 0xFFFF_FFFF) <= length, "the row has another entity")
            return body(Self.tail(base, word))
        }
    }

    /// Where the words of the columns begin: after the first word and the nil bits, in whole words.
    @inlinable package static func start(_ columns: Int) -> Int { 8 + (columns + 63) / 64 * 8 }
}

// MARK: Rows of which somebody keeps the address alone

extension RowCells {
    /// The row's address, for somebody who keeps that: one word in place of two. It is good until `letGo`.
    @inlinable @inline(__always)
    package consuming func kept() -> UnsafeRawPointer {
        let base = base
        _ = Unmanaged.passRetained(slab)
        return base
    }

    /// The row that is kept at an address.
    @inlinable @inline(__always)
    package init(kept base: UnsafeRawPointer) {
        self.init(base, in: Self.slab(of: base).takeUnretainedValue())
    }

    /// The row at an address is kept no more.
    @inlinable @inline(__always)
    package static func letGo(_ base: UnsafeRawPointer) { slab(of: base).release() }

    /// The slab that a row lies in, as its first word says.
    @inlinable @inline(__always)
    static func slab(of base: UnsafeRawPointer) -> Unmanaged<CellSlab> {
        .fromOpaque(base - Int(base.load(fromByteOffset: 4, as: UInt32.self)))
    }
}

// MARK: Rows in memory that somebody else holds

extension RowCells {
    @inlinable @inline(__always)
    package static func isNull(_ base: UnsafeRawPointer, _ column: Int) -> Bool {
        base.load(fromByteOffset: 8 &+ column >> 3, as: UInt8.self)
            & (1 << UInt8(truncatingIfNeeded: column & 7)) != 0
    }

    @inlinable @inline(__always)
    package static func word(_ base: UnsafeRawPointer, _ column: Int, columns: Int) -> UInt64 {
        base.load(fromByteOffset: start(columns) &+ column &* 8, as: UInt64.self)
    }

    @inlinable @inline(__always)
    package static func tail(_ base: UnsafeRawPointer, _ word: UInt64) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: base + Int(word >> 32), count: Int(word & 0xFFFF_FFFF))
    }

    /// The word of a column of a fixed kind; nil if that is nil. `columns` is how many columns the row has.
    @inlinable @inline(__always)
    package static func word(_ base: UnsafeRawPointer, _ column: Int, of columns: Int) -> UInt64? {
        isNull(base, column) ? nil : word(base, column, columns: columns)
    }

    /// The text of a column of text; nil if that is nil.
    @inlinable @inline(__always)
    package static func string(_ base: UnsafeRawPointer, _ column: Int, of columns: Int) -> String?
    {
        if isNull(base, column) { return nil }
        return String(
            decoding: tail(base, word(base, column, columns: columns)), as: UTF8.self)
    }
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
