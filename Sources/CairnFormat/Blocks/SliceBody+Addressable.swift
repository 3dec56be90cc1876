// Decodes whole slices with individually readable cells.                         Format 50.13, F-560 to F-569

extension SliceBody {
    mutating func addressable(_ entry: ColumnEntry) throws(FormatError) -> DecodedColumn {
        let cells = try reader.cells(entry, rows, nils, externals)
        try end()
        try requireExceptions(of: cells)
        switch cells.form {
        case .integers: return try integers(cells)
        case .decimals, .bits: return try floatingPoint(cells)
        case .cells: return try plainBytes(cells)
        case .symbols: return try symbols(cells, entry)
        case .dictionary: return try entries(cells)
        case .fixed16: preconditionFailure("values of 16 bytes are not packed")
        }
    }

    /// Checks that exactly the listed rows have the mark of an exception.
    private func requireExceptions(of cells: CellReader) throws(FormatError) {
        guard cells.hasExceptions else { return }
        var count = 0
        for row in 0..<rows where cells.numbers.bits(row) == cells.mark {
            guard cells.isException(row) else {
                count = -1
                break
            }
            count += 1
        }
        guard count == Int(cells.count) else {
            throw FormatError(
                .malformed, "F-561", "the exceptions are others than the numbers say",
                at: reader.offset, expected: UInt64(cells.count),
                found: UInt64(clamping: count))
        }
    }

    private func integers(_ cells: CellReader) throws(FormatError) -> DecodedColumn {
        let (numbers, width, base) = (cells.numbers, Int(cells.width), cells.base)
        let isSafe =
            width < 63
            && !base.addingReportingOverflow(Int64(numbers.mask)).overflow
        if !cells.hasExceptions, width <= 32, isSafe {
            let bytes = NarrowIntegers.width(of: numbers.mask)
            var parts = parts(valueBytes: rows * bytes)
            parts.base = base
            parts.width = bytes
            switch bytes {
            case 0: break
            case 1: numbers.unpack(rows, into: parts.values, as: UInt8.self)
            case 2: numbers.unpack(rows, into: parts.values, as: UInt16.self)
            default: numbers.unpack(rows, into: parts.values, as: UInt32.self)
            }
            return DecodedColumn(parts)
        }
        var parts = parts(valueBytes: rows * 8)
        parts.width = 8
        for row in 0..<rows {
            if !isSafe {
                let bits = numbers.bits(row)
                let isMarked = cells.hasExceptions && bits == cells.mark
                let room = UInt64(bitPattern: Int64.max &- base)
                guard isMarked || bits <= room else {
                    throw FormatError(
                        .malformed, "F-568", "an integer does not fit 64 bits", at: reader.offset,
                        found: UInt64(row))
                }
            }
            parts.values.storeBytes(
                of: cells.integer(row), toByteOffset: row &* 8, as: Int64.self)
        }
        return DecodedColumn(parts)
    }

    private func floatingPoint(_ cells: CellReader) throws(FormatError) -> DecodedColumn {
        if kind == .float {
            let parts = parts(valueBytes: rows * 4)
            for row in 0..<rows {
                parts.values.storeBytes(
                    of: cells.float(row), toByteOffset: row &* 4, as: Float.self)
            }
            return DecodedColumn(parts)
        }
        let parts = parts(valueBytes: rows * 8)
        for row in 0..<rows {
            parts.values.storeBytes(of: cells.double(row), toByteOffset: row &* 8, as: Double.self)
        }
        return DecodedColumn(parts)
    }

    /// Writes places as offsets, and checks that they are in order.
    private func offsets(_ cells: CellReader, _ count: Int, into parts: borrowing DecodedParts)
        throws(FormatError)
    {
        var last: Int64 = 0
        for index in 0...count {
            let place = cells.place(index)
            guard place >= last else {
                throw FormatError(
                    .malformed, "F-563", "the places are not in order", at: reader.offset,
                    found: UInt64(index))
            }
            parts.offsets[index] = UInt32(truncatingIfNeeded: place)
            last = place
        }
    }

    private func plainBytes(_ cells: CellReader) throws(FormatError) -> DecodedColumn {
        let parts = parts(offsets: rows + 1, valueBytes: Int(cells.place(rows)))
        try offsets(cells, rows, into: parts)
        try requireReferences(parts)
        Self.copy(cells.allBytes, to: parts.values)
        return DecodedColumn(parts)
    }

    private func symbols(_ cells: CellReader, _ entry: ColumnEntry) throws(FormatError)
        -> DecodedColumn
    {
        let codes = cells.allBytes
        let total = entry.rawLength - entry.storedLength + codes.count
        let parts = parts(offsets: rows + 1, valueBytes: total)
        var end = 0
        parts.offsets[0] = 0
        for row in 0..<rows {
            let cell = try cells.stored(row)
            // A cell that is certainly short enough is not measured first.
            if end + CellReader.mostBytes(cell) > total {
                guard try end + cells.symbols.length(cell) <= total else {
                    throw wrongLength(total)
                }
            }
            guard let length = cells.expand(cell, into: parts.values + end) else {
                throw cells.badCell(row)
            }
            end += length
            parts.offsets[row + 1] = UInt32(truncatingIfNeeded: end)
        }
        guard end == total else { throw wrongLength(total) }
        return DecodedColumn(parts)
    }

    private func wrongLength(_ total: Int) -> FormatError {
        FormatError(
            .malformed, "F-569",
            "the symbols do not give as many bytes as the table of columns says",
            at: reader.offset, expected: UInt64(clamping: total))
    }

    private func entries(_ cells: CellReader) throws(FormatError) -> DecodedColumn {
        let count = Int(cells.count)
        var parts = parts(
            offsets: count + 1, hasCodes: true, valueBytes: Int(cells.place(count)))
        parts.dictionaryCount = count
        try offsets(cells, count, into: parts)
        Self.copy(cells.allBytes, to: parts.values)
        if let codes = parts.codes {
            cells.numbers.unpack(rows, into: codes, as: UInt16.self)
            var largest: UInt16 = 0
            for row in 0..<rows { largest = max(largest, codes[row]) }
            guard Int(largest) < count else {
                throw FormatError(
                    .malformed, "F-567", "a code has no entry in the dictionary",
                    at: reader.offset, expected: UInt64(count), found: UInt64(largest))
            }
        }
        return DecodedColumn(parts)
    }
}
