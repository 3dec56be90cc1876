// The bodies of slices, one function per encoding.                      Format 50, F-510 to F-532
//
// Invariants: sizes are checked before memory is allocated; every function ends with `reader.end()`, which
// checks that nothing follows (F-414).
// Threads: a value of the function that decodes.

struct SliceBody {
    let kind: ColumnKind
    let rows: Int
    let nils: UnsafeRawBufferPointer?
    let externals: UnsafeRawBufferPointer?
    var reader: ByteReader

    mutating func narrow() throws(FormatError) -> DecodedColumn {
        let (base, width, distances) = try reader.narrow(rows)
        try end()
        var parts = parts(valueBytes: distances.count)
        parts.base = base
        parts.width = width
        Self.copy(distances, to: parts.values)
        return DecodedColumn(parts)
    }

    mutating func sequence() throws(FormatError) -> DecodedColumn {
        let start = reader.offset
        let first = try reader.integer(Int64.self)
        let step = try reader.integer(Int64.self)
        try end()
        let span = Int64(rows - 1).multipliedReportingOverflow(by: step)
        let last = first.addingReportingOverflow(span.partialValue)
        guard !span.overflow, !last.overflow, nils == nil else {
            throw FormatError(
                .malformed, "F-512", "a sequence does not fit 64 bits or has nils", at: start)
        }
        let low = min(first, last.partialValue)
        let distance = UInt64(bitPattern: max(first, last.partialValue) &- low)
        let width = NarrowIntegers.width(of: distance)
        var parts = parts(valueBytes: rows * width)
        parts.base = width == 8 ? 0 : low
        parts.width = width
        for row in 0..<rows {
            let value = first &+ Int64(row) &* step &- parts.base
            switch width {
            case 0: break
            case 1:
                parts.values.storeBytes(
                    of: UInt8(truncatingIfNeeded: value), toByteOffset: row, as: UInt8.self)
            case 2:
                parts.values.storeBytes(
                    of: UInt16(truncatingIfNeeded: value), toByteOffset: row &* 2, as: UInt16.self)
            case 4:
                parts.values.storeBytes(
                    of: UInt32(truncatingIfNeeded: value), toByteOffset: row &* 4, as: UInt32.self)
            default:
                parts.values.storeBytes(of: value, toByteOffset: row &* 8, as: Int64.self)
            }
        }
        return DecodedColumn(parts)
    }

    @inline(__always)
    mutating func planes<T: FixedWidthInteger & UnsignedInteger>(of type: T.Type)
        throws(FormatError) -> DecodedColumn
    {
        let size = MemoryLayout<T>.size
        let bytes = try reader.take(rows * size)
        try end()
        let parts = parts(valueBytes: rows * size)
        if let planes = bytes.baseAddress?.assumingMemoryBound(to: UInt8.self) {
            for row in 0..<rows {
                var value: T = 0
                for plane in 0..<size {
                    value |= T(planes[plane &* rows &+ row]) &<< T(truncatingIfNeeded: plane &* 8)
                }
                parts.values.storeBytes(of: value, toByteOffset: row &* size, as: T.self)
            }
        }
        return DecodedColumn(parts)
    }

    mutating func scaled() throws(FormatError) -> DecodedColumn {
        let start = reader.offset
        let scale = Int(try reader.integer(UInt8.self))
        guard scale <= ScaledDoubles.largestScale else {
            throw FormatError(
                .malformed, "F-521", "the scale of the doubles is impossible", at: start,
                found: UInt64(scale))
        }
        let (base, width, distances) = try reader.narrow(rows, widest: 4)
        try end()
        let limit = ScaledDoubles.largestInteger
        guard base >= -limit, base <= limit - 0xffff_ffff else {
            throw FormatError(
                .malformed, "F-521", "a scaled double is not exact", at: start,
                found: UInt64(bitPattern: base))
        }
        let parts = parts(valueBytes: rows * 8)
        let power = ScaledDoubles.power(scale)
        for row in 0..<rows {
            let whole = base &+ Int64(truncatingIfNeeded: distances.unsigned(row, width: width))
            parts.values.storeBytes(
                of: Double(whole) / power, toByteOffset: row &* 8, as: Double.self)
        }
        return DecodedColumn(parts)
    }

    mutating func constant() throws(FormatError) -> DecodedColumn {
        let size = kind == .fixed16 ? 16 : kind == .double ? 8 : 4
        let value = try reader.take(size)
        try end()
        guard nils == nil else {
            throw FormatError(.malformed, "F-522", "a constant column has nils")
        }
        let parts = parts(valueBytes: rows * size)
        for row in 0..<rows { Self.copy(value, to: parts.values + row * size) }
        return DecodedColumn(parts)
    }

    mutating func plain() throws(FormatError) -> DecodedColumn {
        let values = try reader.take(rows * 16)
        try end()
        let parts = parts(valueBytes: values.count)
        Self.copy(values, to: parts.values)
        return DecodedColumn(parts)
    }

    mutating func cells() throws(FormatError) -> DecodedColumn {
        let parts = parts(offsets: rows + 1, valueBytes: reader.remaining)
        let total = try reader.lengths(rows, into: parts.offsets)
        let cells = try reader.take(total)
        try end()
        try requireReferences(parts)
        Self.copy(cells, to: parts.values)
        return DecodedColumn(parts)
    }

    /// Checks that the cells marked as references to large values have the length of one.          F-502
    func requireReferences(_ parts: borrowing DecodedParts) throws(FormatError) {
        guard let externals else { return }
        for row in 0..<rows where externals[row >> 3] >> UInt8(row & 7) & 1 == 1 {
            guard parts.offsets[row + 1] - parts.offsets[row] == UInt32(ValueReference.size) else {
                throw FormatError(
                    .malformed, "F-502", "a reference to a large value does not have 24 bytes",
                    at: row)
            }
        }
    }

    mutating func dictionary() throws(FormatError) -> DecodedColumn {
        let start = reader.offset
        let count = Int(try reader.integer(UInt16.self))
        let width = Int(try reader.integer(UInt8.self))
        guard count >= 1, count <= rows, width == BlockEncoder.codeWidth(count) else {
            throw FormatError(
                .malformed, "F-531", "the size of the dictionary is impossible", at: start,
                expected: UInt64(rows), found: UInt64(count))
        }
        var parts = parts(offsets: count + 1, hasCodes: true, valueBytes: reader.remaining)
        parts.dictionaryCount = count
        let total = try reader.lengths(count, into: parts.offsets)
        let entries = try reader.take(total)
        let codes = try reader.take(rows * width)
        try end()
        Self.copy(entries, to: parts.values)
        if let target = parts.codes {
            var largest: UInt16 = 0
            for row in 0..<rows {
                let code = UInt16(truncatingIfNeeded: codes.unsigned(row, width: width))
                target[row] = code
                largest = max(largest, code)
            }
            guard Int(largest) < count else {
                throw FormatError(
                    .malformed, "F-532", "a code has no entry in the dictionary", at: start,
                    expected: UInt64(count), found: UInt64(largest))
            }
        }
        return DecodedColumn(parts)
    }

    func end() throws(FormatError) {
        guard reader.remaining == 0 else {
            throw FormatError(
                .malformed, "F-414", "there are bytes after the body of the slice",
                at: reader.offset,
                expected: 0, found: UInt64(reader.remaining))
        }
    }

    func parts(offsets: Int = 0, hasCodes: Bool = false, valueBytes: Int) -> DecodedParts {
        var parts = DecodedParts(
            kind: kind, count: rows, hasNils: nils != nil, hasExternals: externals != nil,
            offsets: offsets, hasCodes: hasCodes, valueBytes: valueBytes)
        if let nils, let target = parts.nils {
            for row in 0..<rows { target[row] = nils[row >> 3] >> UInt8(row & 7) & 1 }
            parts.nilCount = nils.reduce(0) { $0 + $1.nonzeroBitCount }
        }
        if let externals, let target = parts.externals {
            for row in 0..<rows { target[row] = externals[row >> 3] >> UInt8(row & 7) & 1 }
        }
        return parts
    }

    static func copy(_ source: UnsafeRawBufferPointer, to target: UnsafeMutableRawPointer) {
        guard let base = source.baseAddress, source.count > 0 else { return }
        target.copyMemory(from: base, byteCount: source.count)
    }
}
