import CairnFormat
import CairnStore

extension ColumnBuffer {
    /// The bytes of a string, binary or UUID cell.
    @inline(__always) func cell(_ row: Int) -> UnsafeRawBufferPointer {
        if case .fixed16 = kind {
            return UnsafeRawBufferPointer(start: values + row &* 16, count: 16)
        }
        return bytes(row: row)
    }

    /// Returns the plain bits of a cell of a fixed kind; NaN in one form.
    @inline(__always) package func word(_ row: Int) -> UInt64 {
        if case .float = kind {
            return UInt64(values.load(fromByteOffset: row &* 4, as: UInt32.self))
        }
        return values.load(fromByteOffset: row &* 8, as: UInt64.self)
    }

    /// Returns whether a cell has a value: its own, or the attribute's default.
    @inline(__always) package func hasValue(_ row: Int) -> Bool { !isNil(row: row) }
}

extension ColumnBuffer.State {
    /// The cell's bytes are the reference to a large value that is already stored.
    static let external: UInt8 = 3
}
