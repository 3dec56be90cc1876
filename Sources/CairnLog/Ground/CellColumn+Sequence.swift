// Consecutive object numbers, such as those of rows that were inserted together.

import CairnStore

extension CellColumn {
    /// The number in the first row, if the rows are consecutive integers without nils; otherwise nil.
    func firstOfSequence(rows: Int) -> UInt32? {
        guard rows > 0 else { return nil }
        let first = integer(0)
        guard first >= 0, first <= Int64(UInt32.max) - Int64(rows) else { return nil }
        let isSequence =
            switch width {
            case 1: follow(UInt8.self, rows)
            case 2: follow(UInt16.self, rows)
            case 4: follow(UInt32.self, rows)
            case 8: follow(UInt64.self, rows)
            default: rows == 1
            }
        return isSequence ? UInt32(first) : nil
    }

    /// Does not exit before the last row, so that several rows are processed at once.
    @inline(__always)
    private func follow<T: FixedWidthInteger & UnsignedInteger>(_ type: T.Type, _ rows: Int) -> Bool
    {
        let values = self.values.unsafelyUnwrapped
        let first = values.loadUnaligned(as: T.self)
        guard UInt64(rows &- 1) <= UInt64(T.max) &- UInt64(first) else { return false }
        var difference: T = 0
        for row in 0..<rows {
            let value = values.loadUnaligned(
                fromByteOffset: row &* MemoryLayout<T>.size, as: T.self)
            difference |= value ^ (first &+ T(truncatingIfNeeded: row))
        }
        return difference == 0
    }
}
