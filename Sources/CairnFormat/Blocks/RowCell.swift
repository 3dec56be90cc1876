// A cell to be encoded into a block of one row.                                  Format 40 and 50
//
// Threads: borrowed memory; valid for the call that it is passed to.

/// A value of a block of one row; a nil value has no cell.
package struct RowCell {
    package let propertyID: UInt32
    let kind: ColumnKind
    let isExternal: Bool
    let value: UnsafeRawPointer
    /// The size of the value in memory, in bytes.
    let count: Int

    /// - Parameters:
    ///   - value: the plain value, or the bytes themselves.
    ///   - count: the number of bytes; used only for `.bytes`.
    ///   - isExternal: whether the bytes are a reference to a large value.
    @inline(__always)
    package init(
        _ kind: ColumnKind, _ propertyID: UInt32, value: UnsafeRawPointer, count: Int = 0,
        isExternal: Bool = false
    ) {
        precondition(
            !isExternal || count == ValueReference.size,
            "a reference to a large value has 24 bytes")
        self.kind = kind
        self.propertyID = propertyID
        self.value = value
        self.count = count
        self.isExternal = isExternal
    }

    /// The encoding of the cell's column.
    var encoding: ColumnEncoding {
        switch kind {
        case .integer: .narrow
        case .double, .float, .fixed16: .constant
        case .bytes: .lengths
        }
    }

    /// The size of its slice, in bytes.
    var sliceLength: Int {
        switch kind {
        case .integer: NarrowIntegers.headSize
        case .double: 8
        case .float: 4
        case .fixed16: 16
        case .bytes: NarrowIntegers.lengthsSize(1, low: 0, high: 0) + (isExternal ? 1 : 0) + count
        }
    }

    /// Writes its slice.
    @inline(__always)
    func store(into target: UnsafeMutableRawPointer) {
        switch kind {
        case .integer:
            NarrowIntegers.store(single: value.loadUnaligned(as: Int64.self), into: target)
        case .double:
            target.storeBytes(
                of: value.loadUnaligned(as: UInt64.self).littleEndian, as: UInt64.self)
        case .float:
            target.storeBytes(
                of: value.loadUnaligned(as: UInt32.self).littleEndian, as: UInt32.self)
        case .fixed16: target.copyMemory(from: value, byteCount: 16)
        case .bytes:
            var target = target
            if isExternal {
                target.storeBytes(of: 1, as: UInt8.self)
                target += 1
            }
            target.storeBytes(of: UInt32(truncatingIfNeeded: count).littleEndian, as: UInt32.self)
            target.storeBytes(of: 0, toByteOffset: 4, as: UInt8.self)
            (target + 5).copyMemory(from: value, byteCount: count)
        }
    }
}
