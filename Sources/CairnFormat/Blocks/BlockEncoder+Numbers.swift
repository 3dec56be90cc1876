// The encodings of integers, floating-point numbers and UUIDs.         Format 50, F-510 to F-522
//
// Each function appends the body of a slice to `raw` and returns the encoding that it chose. The values
// contain something in every row; `nils` marks the rows where it is meaningless, and there the format
// requires zeros (F-503).

extension BlockEncoder {
    mutating func encodeIntegers(
        _ values: UnsafePointer<Int64>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> ColumnEncoding {
        let (low, high) = NarrowIntegers.range(values, rows)
        let width = NarrowIntegers.width(of: UInt64(bitPattern: high &- low))
        let size = NarrowIntegers.headSize + rows * width
        if nils == nil, size > 16, let step = Self.step(values, rows) {
            raw.append(values[0])
            raw.append(step)
            return .sequence
        }
        NarrowIntegers.encode(values, rows, low: low, high: high, nils: nils, to: &raw)
        return .narrow
    }

    /// Returns the common difference of all neighbours; nil if there is none within 64 bits.
    static func step(_ values: UnsafePointer<Int64>, _ rows: Int) -> Int64? {
        let (step, overflow) = values[1].subtractingReportingOverflow(values[0])
        if overflow { return nil }
        for row in 2..<max(rows, 2) where values[row] &- values[row &- 1] != step { return nil }
        // Equal wrapping differences can still exceed 64 bits in between.
        let span = Int64(rows - 1).multipliedReportingOverflow(by: step)
        if span.overflow || values[0].addingReportingOverflow(span.partialValue).overflow {
            return nil
        }
        return step
    }

    mutating func encodeDoubles(
        _ values: UnsafePointer<UInt64>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> ColumnEncoding {
        if nils == nil, Self.isConstant(values, rows) {
            raw.append(values[0])
            return .constant
        }
        let integers = UnsafeMutableRawPointer(scratch.words)
        if let scale = ScaledDoubles.scale(values, rows) {
            // The values may share memory with the integers: each value is read before it is overwritten.
            let whole = ScaledDoubles.integers(values, rows, scale: scale, into: integers)
            let (low, high) = NarrowIntegers.range(whole, rows)
            if NarrowIntegers.width(of: UInt64(bitPattern: high &- low)) <= 4 {
                raw.append(UInt8(scale))
                NarrowIntegers.encode(whole, rows, low: low, high: high, nils: nils, to: &raw)
                return .scaled
            }
            ScaledDoubles.doubles(whole, rows, scale: scale, into: integers)
            encodePlanes(
                UnsafePointer(integers.bindMemory(to: UInt64.self, capacity: rows)), rows, nils)
            return .planes
        }
        encodePlanes(values, rows, nils)
        return .planes
    }

    mutating func encodeFloats(
        _ values: UnsafePointer<UInt32>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> ColumnEncoding {
        if nils == nil, Self.isConstant(values, rows) {
            raw.append(values[0])
            return .constant
        }
        encodePlanes(values, rows, nils)
        return .planes
    }

    mutating func encodeFixed(
        _ source: UnsafeRawPointer, _ rows: Int, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?
    ) -> ColumnEncoding {
        let start = raw.count
        let target = raw.reserve(rows * 16)
        var isConstant = nils == nil
        for row in 0..<rows {
            if let nils, nils[row] != 0 {
                (target + row * 16).initializeMemory(as: UInt8.self, repeating: 0, count: 16)
                continue
            }
            let cell = source + Int(selection.map { $0[row] } ?? UInt16(row)) * 16
            (target + row * 16).copyMemory(from: cell, byteCount: 16)
            if isConstant {
                let low = cell.loadUnaligned(as: UInt64.self)
                let high = cell.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
                isConstant =
                    low == target.loadUnaligned(as: UInt64.self)
                    && high == target.loadUnaligned(fromByteOffset: 8, as: UInt64.self)
            }
        }
        guard isConstant else { return .plain }
        raw.cut(to: start + 16)
        return .constant
    }

    @inline(__always)
    static func isConstant<T: Equatable>(_ values: UnsafePointer<T>, _ rows: Int) -> Bool {
        let first = values[0]
        for row in 1..<max(rows, 1) where values[row] != first { return false }
        return true
    }

    @inline(__always)
    private mutating func encodePlanes<T: FixedWidthInteger & UnsignedInteger>(
        _ values: UnsafePointer<T>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) {
        let size = MemoryLayout<T>.size
        let target = raw.reserve(rows * size).bindMemory(to: UInt8.self, capacity: rows * size)
        for plane in 0..<size {
            let shift = T(truncatingIfNeeded: plane &* 8)
            let bytes = target + plane &* rows
            for row in 0..<rows { bytes[row] = UInt8(truncatingIfNeeded: values[row] &>> shift) }
        }
        guard let nils else { return }
        for row in 0..<rows where nils[row] != 0 {
            for plane in 0..<size { target[plane &* rows &+ row] = 0 }
        }
    }
}
