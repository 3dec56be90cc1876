// Reads the cells of a slice in place, without decoding it.                      Format 50.13, F-560 to F-569
//
// This code checks what every cell depends on, at a cost independent of the number of rows: lengths, widths,
// symbols, exceptions. The rest is checked when the column is decoded, or when a single cell is read.

extension CellReader {
    /// Verifies the checksum of a slice and provides its cells; returns nil if the slice must be decoded.
    ///
    /// - Parameters:
    ///   - slice: must remain valid as long as the cells.
    ///   - rows: the number of rows in the block's head.
    package init?(verifying slice: UnsafeRawBufferPointer, _ entry: ColumnEntry, rows: Int)
        throws(FormatError)
    {
        let isPlain = entry.encoding == .plain && !entry.flags.contains(.lz4)
        guard entry.encoding.isAddressable || isPlain else { return nil }
        try entry.verify(slice)
        var reader = ByteReader(slice)
        let nils = try reader.bitmap(.nils, of: entry, rows, "F-501")
        let externals = try reader.bitmap(.externals, of: entry, rows, "F-502")
        self = try reader.cells(entry, rows, nils, externals)
        guard reader.remaining == 0 else {
            throw FormatError(
                .malformed, "F-414", "there are bytes after the body of the slice",
                at: reader.offset, expected: 0, found: UInt64(reader.remaining))
        }
    }
}

extension ByteReader {
    /// Reads the bitmap that a flag announces; returns nil without the flag.
    mutating func bitmap(
        _ flag: ColumnFlags, of entry: ColumnEntry, _ rows: Int, _ rule: String
    ) throws(FormatError) -> UnsafeRawBufferPointer? {
        entry.flags.contains(flag) ? try bitmap((rows + 7) / 8, rows, rule) : nil
    }

    /// Reads the cells of the body of a slice.
    mutating func cells(
        _ entry: ColumnEntry, _ rows: Int, _ nils: UnsafeRawBufferPointer?,
        _ externals: UnsafeRawBufferPointer?
    ) throws(FormatError) -> CellReader {
        let nils = nils?.baseAddress?.assumingMemoryBound(to: UInt8.self)
        let kind = entry.kind
        switch entry.encoding {
        case .packed:
            let (numbers, detail, exceptions) = try packed(rows)
            guard detail == 0 else { throw badDetail(detail) }
            return CellReader(
                kind: kind, form: .integers, numbers: numbers, nils: nils,
                extra: exceptions.memory, count: exceptions.count)
        case .packedDecimals:
            let start = offset
            let (numbers, scale, exceptions) = try packed(rows)
            let limit = ScaledDoubles.largestInteger
            let last = numbers.base.addingReportingOverflow(Int64(clamping: numbers.mask))
            guard Int(scale) <= ScaledDoubles.largestScale, numbers.base >= -limit,
                !last.overflow, last.partialValue <= limit
            else {
                throw FormatError(
                    .malformed, "F-562", "a scaled double is not exact", at: start,
                    found: UInt64(bitPattern: numbers.base))
            }
            return CellReader(
                kind: kind, form: .decimals, numbers: numbers, detail: scale, nils: nils,
                extra: exceptions.memory, count: exceptions.count)
        case .packedBits:
            let (numbers, shift, exceptions) = try packed(rows)
            guard shift < 64 else { throw badDetail(shift) }
            return CellReader(
                kind: kind, form: .bits, numbers: numbers, detail: shift, nils: nils,
                extra: exceptions.memory, count: exceptions.count)
        case .texts:
            let (places, data) = try places(rows)
            return CellReader(
                kind: kind, form: .cells, nils: nils, extra: externals?.baseAddress,
                places: places, data: data)
        case .symbols:
            let table = try symbolTable()
            let (places, data) = try places(rows)
            return CellReader(
                kind: kind, form: .symbols, nils: nils, extra: table.entries, count: table.count,
                places: places, data: data)
        case .packedDictionary:
            let start = offset
            let count = Int(try integer(UInt16.self))
            let width = Int(try integer(UInt8.self))
            guard count >= 1, count <= rows,
                width == PackedNumbers.width(of: UInt64(count - 1))
            else {
                throw FormatError(
                    .malformed, "F-567", "the size of the dictionary is impossible", at: start,
                    expected: UInt64(rows), found: UInt64(count))
            }
            let codes = try packedNumbers(rows, width: width)
            let (places, data) = try places(count)
            return CellReader(
                kind: kind, form: .dictionary, numbers: PackedNumbers(codes, width: width),
                nils: nils, count: count, places: places, data: data)
        case .plain:
            let values = try take(rows * 16)
            guard let first = values.baseAddress else { throw truncated(16) }
            return CellReader(
                kind: kind, form: .fixed16, numbers: PackedNumbers(first, width: 64), nils: nils)
        case .narrow, .sequence, .planes, .scaled, .constant, .lengths, .dictionary:
            preconditionFailure("the encoding has no addressable cells")
        }
    }

    /// Reads packed numbers, and the zeros after them.
    private mutating func packedNumbers(_ count: Int, width: Int) throws(FormatError)
        -> UnsafeRawPointer
    {
        let start = offset
        let bytes = try take(PackedNumbers.size(count, width: width))
        let zeros = bytes.loadUnaligned(
            fromByteOffset: bytes.count - PackedNumbers.slack, as: UInt64.self)
        let rest = count * width & 7
        let isClean =
            rest == 0 || bytes[bytes.count - PackedNumbers.slack - 1] >> UInt8(rest) == 0
        guard zeros == 0, isClean, let base = bytes.baseAddress else {
            throw FormatError(
                .malformed, "F-560", "there is something behind packed numbers", at: start)
        }
        return base
    }

    /// Reads base, width, exceptions and numbers.
    private mutating func packed(_ rows: Int) throws(FormatError) -> (
        PackedNumbers, UInt8, (memory: UnsafeRawPointer?, count: Int)
    ) {
        let start = offset
        let base = try integer(Int64.self)
        let width = Int(try integer(UInt8.self))
        let detail = try integer(UInt8.self)
        let count = Int(try integer(UInt16.self))
        guard width <= 64, count <= rows, count == 0 || width > 0 else {
            throw FormatError(
                .malformed, "F-561", "the width of the numbers is impossible", at: start + 8,
                found: UInt64(width))
        }
        let exceptions = try take(count * 10)
        var last = -1
        for index in 0..<count {
            let row = Int(
                UInt16(
                    littleEndian: exceptions.loadUnaligned(
                        fromByteOffset: index * 2, as: UInt16.self)))
            guard row > last, row < rows else {
                throw FormatError(
                    .malformed, "F-561", "the exceptions are not in order", at: start,
                    found: UInt64(row))
            }
            last = row
        }
        let numbers = PackedNumbers(
            try packedNumbers(rows, width: width), width: width, base: base)
        return (numbers, detail, (count > 0 ? exceptions.baseAddress : nil, count))
    }

    /// Reads the places of cells, and the bytes of the cells.
    private mutating func places(_ count: Int) throws(FormatError) -> (
        PackedNumbers, UnsafeRawBufferPointer
    ) {
        let start = offset
        let base = Int64(try integer(Int32.self))
        let step = Int64(try integer(UInt32.self))
        let width = Int(try integer(UInt8.self))
        guard width <= 32 else {
            throw FormatError(
                .malformed, "F-563", "the width of the places is impossible", at: start + 8,
                found: UInt64(width))
        }
        let places = PackedNumbers(
            try packedNumbers(count + 1, width: width), width: width, base: base, step: step)
        let end = places[count]
        guard places[0] == 0, end >= 0, end <= Int64(remaining) else {
            throw FormatError(
                .malformed, "F-563", "the places exceed the slice", at: start,
                expected: UInt64(remaining), found: UInt64(bitPattern: end))
        }
        return (places, try take(Int(end)))
    }

    private func badDetail(_ found: UInt8) -> FormatError {
        FormatError(
            .malformed, "F-561", "a scale or shift is impossible", at: offset,
            found: UInt64(found))
    }
}
