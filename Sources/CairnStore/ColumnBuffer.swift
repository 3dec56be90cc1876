// The plain values of one column for up to 1,024 rows that are on their way into a store.
//
// Each cell has a state: untouched, set, or set to nil. Bytes are appended as they come; start and length
// of each cell are kept, so that setting a cell twice is harmless.
//
// Invariants: `starts[r] + lengths[r] <= used` for every cell that is set.
// Threads: owned by one batch, used by one thread at a time.

package import CairnModel

/// One column of a `ColumnBatch`.
public struct ColumnBuffer {
    /// How the plain values lie in memory.
    package enum Kind: UInt8, Sendable {
        /// 64-bit integers: integers, booleans and references.
        case integer
        /// Doubles and dates.
        case double
        /// Floats.
        case float
        /// Strings, bytes, URIs and decimals.
        case bytes
        /// 16 bytes each: UUIDs.
        case fixed16
    }

    /// What is known of a cell.
    package enum State {
        /// The row does not name the column.
        package static let untouched: UInt8 = 0
        /// It has a value.
        package static let set: UInt8 = 1
        /// It was set to nil.
        package static let null: UInt8 = 2
    }

    package let kind: Kind
    @usableFromInline package let minimum: Int64
    @usableFromInline package let maximum: Int64
    @usableFromInline package let states: UnsafeMutablePointer<UInt8>
    @usableFromInline package let values: UnsafeMutableRawPointer
    @usableFromInline package let lengths: UnsafeMutablePointer<UInt32>
    @usableFromInline package private(set) var data: UnsafeMutablePointer<UInt8>
    @usableFromInline package var used = 0
    @usableFromInline package private(set) var capacity: Int
    /// The first row whose value did not fit, or -1.
    @usableFromInline package var failedRow = -1

    package init(kind: Kind, minimum: Int64, maximum: Int64, rows: Int) {
        self.kind = kind
        self.minimum = minimum
        self.maximum = maximum
        states = .allocate(capacity: rows)
        states.initialize(repeating: State.untouched, count: rows)
        values = .allocate(byteCount: rows * kind.width, alignment: 16)
        values.initializeMemory(as: UInt8.self, repeating: 0, count: rows * kind.width)
        lengths = .allocate(capacity: kind == .bytes ? rows : 1)
        lengths.initialize(repeating: 0, count: kind == .bytes ? rows : 1)
        capacity = kind == .bytes ? rows * 16 : 1
        data = .allocate(capacity: capacity)
    }

    package func deallocate() {
        states.deallocate()
        values.deallocate()
        lengths.deallocate()
        data.deallocate()
    }

    package mutating func reset(rows: Int) {
        states.update(repeating: State.untouched, count: rows)
        used = 0
        failedRow = -1
    }

    /// Sets a cell to nil.
    @inlinable public mutating func setNil(row: Int) {
        states[row] = 2
    }

    /// Sets a cell of an integer column, if the value is in its range.
    @inlinable public mutating func setInteger(_ value: Int64, row: Int) {
        if value < minimum || value > maximum { if failedRow < 0 { failedRow = row } }
        states[row] = 1
        values.storeBytes(of: value, toByteOffset: row &* 8, as: Int64.self)
    }

    /// Sets a cell of a double column. NaN is kept as NaN.
    @inlinable public mutating func setDouble(_ value: Double, row: Int) {
        states[row] = 1
        values.storeBytes(of: value, toByteOffset: row &* 8, as: Double.self)
    }

    /// Sets a cell of a float column.
    @inlinable public mutating func setFloat(_ value: Float, row: Int) {
        states[row] = 1
        values.storeBytes(of: value, toByteOffset: row &* 4, as: Float.self)
    }

    /// Sets a cell of a UUID column.
    @inlinable public mutating func setFixed16(_ bytes: UnsafeRawBufferPointer, row: Int) {
        states[row] = 1
        values.advanced(by: row &* 16).copyMemory(from: bytes.baseAddress!, byteCount: 16)
    }

    /// Sets a cell of a string or URI column.
    @inlinable public mutating func setString(_ value: String, row: Int) {
        var value = value
        value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), row: row) }
    }

    /// Sets a cell of a column of bytes.
    @inlinable public mutating func setBytes(_ bytes: UnsafeRawBufferPointer, row: Int) {
        let count = bytes.count
        if capacity &- used < count { grow(count) }
        if let base = bytes.baseAddress {
            UnsafeMutableRawPointer(data + used).copyMemory(from: base, byteCount: count)
        }
        values.storeBytes(
            of: UInt32(truncatingIfNeeded: used), toByteOffset: row &* 4, as: UInt32.self)
        lengths[row] = UInt32(truncatingIfNeeded: count)
        states[row] = 1
        used &+= count
    }

    /// The bytes of a cell that is set.
    package func bytes(row: Int) -> UnsafeRawBufferPointer {
        let start = values.load(fromByteOffset: row &* 4, as: UInt32.self)
        return UnsafeRawBufferPointer(start: data + Int(start), count: Int(lengths[row]))
    }

    @usableFromInline mutating func grow(_ count: Int) {
        precondition(used + count <= Int(UInt32.max), "1,024 values of a column exceed 4 GiB")
        let size = max(capacity * 2, used + count)
        let bigger = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        bigger.update(from: data, count: used)
        data.deallocate()
        data = bigger
        capacity = size
    }
}

extension ColumnBuffer.Kind {
    /// The bytes of one plain value; of bytes, of its start.
    package var width: Int {
        switch self {
        case .integer, .double: 8
        case .float, .bytes: 4
        case .fixed16: 16
        }
    }

    /// How the values of a column lie in memory.
    package init(_ column: SchemaColumn) {
        switch column.kind {
        case .reference: self = .integer
        case .attribute(let type):
            switch type {
            case .integer16, .integer32, .integer64, .boolean: self = .integer
            case .double, .date: self = .double
            case .float: self = .float
            case .uuid: self = .fixed16
            case .string, .uri, .binary, .transformable, .decimal: self = .bytes
            case .undefined, .objectID, .composite:
                preconditionFailure("a column holds values of a storable type")
            }
        }
    }
}
