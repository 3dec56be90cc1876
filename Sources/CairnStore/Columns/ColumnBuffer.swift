// The values of one column for up to 1,024 rows to be written to a store.
//
// Each cell has a state: untouched, set, or set to nil. Bytes are appended as they come; start and length
// of each cell are kept, so that setting a cell twice is harmless. Whether integers are in the range of
// their attribute is asked once for the whole column, when the batch is sealed: a loop over plain
// integers is vectorised, a comparison in every call would not be.
//
// Invariants: start + length <= `used` for every cell of bytes that is set; rows are below the capacity
// that the buffer was made with.
// Threads: owned by one batch, used by one thread at a time.

package import CairnModel

/// One column of a `ColumnBatch`.
public struct ColumnBuffer {
    /// How the plain values lie in memory.
    package enum Kind: UInt8, Sendable, BitwiseCopyable {
        /// 64-bit integers: integers, Booleans and references.
        case integer
        /// Doubles and dates.
        case double
        /// Floats.
        case float
        /// Strings, bytes, URIs and decimals.
        case bytes
        /// 16 bytes each: UUIDs.
        case fixed16

        /// Whether it is `bytes`. Beyond the module, comparing kinds is a call.
        @inlinable package var isBytes: Bool { if case .bytes = self { true } else { false } }
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

    /// How the plain values lie in memory.
    package let kind: Kind
    /// The states of the cells.
    @usableFromInline package let states: UnsafeMutablePointer<UInt8>
    /// The plain values; of bytes, their starts in `data`.
    @usableFromInline package let values: UnsafeMutableRawPointer
    /// The lengths of bytes; one unused number for other kinds.
    @usableFromInline package let lengths: UnsafeMutablePointer<UInt32>
    /// The bytes, one cell's after the other in the order they were set.
    @usableFromInline package private(set) var data: UnsafeMutablePointer<UInt8>
    /// How many bytes are taken.
    @usableFromInline package var used = 0
    @usableFromInline package private(set) var capacity: Int
    /// The room for bytes of all columns of the batch, shared by them.
    private let reserved: UnsafeMutablePointer<Int>
    /// The row whose bytes were too many, or -1.
    package private(set) var oversizedRow = -1
    /// The first row that was given a decimal number that is NaN, and so became nil, or -1.
    package private(set) var noNumberRow = -1
    /// Whether untouched cells have the attribute's default value; true only after sealing.
    @usableFromInline package var hasDefault = false

    package init(kind: Kind, rows: Int, reserved: UnsafeMutablePointer<Int>) {
        self.kind = kind
        self.reserved = reserved
        states = .allocate(capacity: rows)
        states.initialize(repeating: State.untouched, count: rows)
        values = .allocate(byteCount: rows * kind.width, alignment: 16)
        values.initializeMemory(as: UInt8.self, repeating: 0, count: rows * kind.width)
        lengths = .allocate(capacity: kind == .bytes ? rows : 1)
        lengths.initialize(repeating: 0, count: kind == .bytes ? rows : 1)
        capacity = kind == .bytes ? rows * Self.usualLength : 0
        data = .allocate(capacity: capacity)
        reserved.pointee += capacity
    }

    /// Room for so many bytes a row is made at once: most short texts fit without growing.
    private static let usualLength = 16

    package func deallocate() {
        states.deallocate()
        values.deallocate()
        lengths.deallocate()
        data.deallocate()
    }

    /// Makes it empty; `rows` is the number of cells that may have been touched.
    ///
    /// Room that a few long values needed is given back, or the next batch would be taken for a large one.
    package mutating func reset(rows: Int, capacity rowCapacity: Int) {
        states.update(repeating: State.untouched, count: rows)
        used = 0
        oversizedRow = -1
        noNumberRow = -1
        hasDefault = false
        if capacity > rowCapacity * Self.usualLength * 8 {
            replaceData(capacity: rowCapacity * Self.usualLength)
        }
    }

    /// Sets a cell to nil.
    @inlinable public mutating func setNil(row: Int) {
        states[row] = 2
    }

    /// Sets a cell of an integer column.
    @inlinable public mutating func setInteger(_ value: Int64, row: Int) {
        states[row] = 1
        values.storeBytes(of: value, toByteOffset: row &* 8, as: Int64.self)
    }

    /// Sets a cell of a double column. NaN stays NaN.
    @inlinable public mutating func setDouble(_ value: Double, row: Int) {
        states[row] = 1
        values.storeBytes(of: value, toByteOffset: row &* 8, as: Double.self)
    }

    /// Sets a cell of a float column.
    @inlinable public mutating func setFloat(_ value: Float, row: Int) {
        states[row] = 1
        values.storeBytes(of: value, toByteOffset: row &* 4, as: Float.self)
    }

    /// Sets a cell of a UUID column; requires 16 bytes.
    @inlinable public mutating func setFixed16(_ bytes: UnsafeRawBufferPointer, row: Int) {
        precondition(bytes.count == 16, "a UUID has 16 bytes")
        states[row] = 1
        values.advanced(by: row &* 16).copyMemory(from: bytes.baseAddress!, byteCount: 16)
    }

    /// Sets a cell of a string or URI column.
    @inlinable public mutating func setString(_ value: String, row: Int) {
        // Without a mutable copy, which would cost a retain and a release. Native strings are contiguous.
        let isDone: Void? = value.utf8.withContiguousStorageIfAvailable {
            setBytes(UnsafeRawBufferPointer($0), row: row)
        }
        if isDone == nil { setForeignString(value, row: row) }
    }

    @usableFromInline mutating func setForeignString(_ value: String, row: Int) {
        var value = value
        value.withUTF8 { setBytes(UnsafeRawBufferPointer($0), row: row) }
    }

    /// Sets a cell of a bytes column.
    @inlinable public mutating func setBytes(_ bytes: UnsafeRawBufferPointer, row: Int) {
        let count = bytes.count
        if capacity &- used < count, !grow(count, row: row) { return }
        let target = UnsafeMutableRawPointer(data + used)
        if let base = bytes.baseAddress {
            // A string of up to 15 bytes lies in two registers that were just spilled as two words: loads
            // that straddle them, as memcpy does, would wait for both stores to reach the cache.
            if count < 16 {
                var at = 0
                if count & 8 != 0 {
                    target.storeBytes(of: base.loadUnaligned(as: UInt64.self), as: UInt64.self)
                    at = 8
                }
                if count & 4 != 0 {
                    target.storeBytes(
                        of: base.loadUnaligned(fromByteOffset: at, as: UInt32.self),
                        toByteOffset: at, as: UInt32.self)
                    at &+= 4
                }
                if count & 2 != 0 {
                    target.storeBytes(
                        of: base.loadUnaligned(fromByteOffset: at, as: UInt16.self),
                        toByteOffset: at, as: UInt16.self)
                    at &+= 2
                }
                if count & 1 != 0 {
                    target.storeBytes(
                        of: base.load(fromByteOffset: at, as: UInt8.self), toByteOffset: at,
                        as: UInt8.self)
                }
            } else {
                target.copyMemory(from: base, byteCount: count)
            }
        }
        values.storeBytes(
            of: UInt32(truncatingIfNeeded: used), toByteOffset: row &* 4, as: UInt32.self)
        lengths[row] = UInt32(truncatingIfNeeded: count)
        states[row] = 1
        used &+= count
    }

    /// Lets a cell of a column of references name a target by some bytes, which begin where the cell says.
    mutating func appendLink(_ bytes: UnsafeRawBufferPointer, row: Int) {
        if capacity &- used < bytes.count, !grow(bytes.count, row: row) { return }
        if let base = bytes.baseAddress {
            UnsafeMutableRawPointer(data + used).copyMemory(from: base, byteCount: bytes.count)
        }
        values.storeBytes(of: used, toByteOffset: row &* 8, as: Int.self)
        states[row] = State.linked
        used &+= bytes.count
    }

    /// The bytes of a cell that has a value.
    @inlinable package func bytes(row: Int) -> UnsafeRawBufferPointer {
        let start = values.load(fromByteOffset: row &* 4, as: UInt32.self)
        return UnsafeRawBufferPointer(start: data + Int(start), count: Int(lengths[row]))
    }

    /// Whether a cell is nil: it was set to nil, or not set at all and has, after sealing, no default.
    @inlinable package func isNil(row: Int) -> Bool {
        let state = states[row]
        return state == 2 || (state == 0 && !hasDefault)
    }

    /// Sets a cell to nil for a number that has no bytes, and notes it: a batch refuses it.
    @usableFromInline mutating func setNoNumber(row: Int) {
        // A row that was given another value since is out of it.
        if noNumberRow < 0 || states[noNumberRow] != State.null { noNumberRow = row }
        setNil(row: row)
    }

    /// Sets a cell of a bytes column to the bytes that a closure writes; the closure returns their length.
    ///
    /// - Parameter most: the capacity that the closure needs.
    @inlinable @inline(__always) public mutating func setBytes(
        upTo most: Int, row: Int, _ write: (UnsafeMutableRawPointer) -> Int
    ) {
        if capacity &- used < most, !grow(most, row: row) { return }
        let count = write(UnsafeMutableRawPointer(data + used))
        values.storeBytes(
            of: UInt32(truncatingIfNeeded: used), toByteOffset: row &* 4, as: UInt32.self)
        lengths[row] = UInt32(truncatingIfNeeded: count)
        states[row] = 1
        used &+= count
    }

    /// Makes room for so many bytes more; false if the column would become too large, which is noted.
    @usableFromInline mutating func grow(_ count: Int, row: Int) -> Bool {
        guard count <= Int(UInt32.max) - used else {
            if oversizedRow < 0 { oversizedRow = row }
            return false
        }
        replaceData(capacity: max(capacity * 2, used + count))
        return true
    }

    private mutating func replaceData(capacity size: Int) {
        let other = UnsafeMutablePointer<UInt8>.allocate(capacity: size)
        other.update(from: data, count: used)
        data.deallocate()
        data = other
        reserved.pointee += size - capacity
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

    /// What a row takes beside the bytes of its value: plain value, length and state.
    var widthOfRow: Int { self == .bytes ? width + 5 : width + 1 }

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
                preconditionFailure("a column has a storable type")
            }
        }
    }
}
