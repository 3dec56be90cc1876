// The encodings of strings and other bytes.                             Format 50, F-530 to F-532
//
//   1. Gathers starts and lengths of the selected rows; a nil row has length 0.
//   2. The dictionary trial numbers the distinct values with a small hash table of first rows. It gives up
//      when three of four rows so far were new, which it checks every 128 rows (of 50 values in turn 32 rows
//      contain 32), or when a probe gets long.
//   3. Uses the dictionary if it is smaller than lengths and bytes.

extension BlockEncoder {
    mutating func encodeBytes(
        _ column: PlainColumn, _ rows: Int, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?, _ rawBefore: Int, packs: Bool,
        _ flags: inout ColumnFlags
    ) throws(FormatError) -> (ColumnEncoding, expandedBytes: Int) {
        guard let lengths = column.lengths, let data = column.data else {
            preconditionFailure("a column of bytes has lengths and data")
        }
        let starts = column.values.assumingMemoryBound(to: UInt32.self)
        let hasExternals = gatherCells(column.externals, starts, lengths, rows, nils, selection)
        var total: UInt64 = 0
        for row in 0..<rows { total &+= UInt64(scratch.lengths[row]) }
        guard total <= UInt64(FormatLimits.maximumRawBlock - rawBefore) else {
            throw SliceCompressor.tooLarge(rawBefore, total)
        }
        if hasExternals {
            flags.insert(.externals)
            raw.appendBitmap(scratch.externals, rows)
        }
        if packs {
            return packBytes(
                column.propertyID, data, rows, total: Int(total), nils: nils,
                hasExternals: hasExternals)
        }
        if !hasExternals, let entries = distinct(data, rows, nils) {
            let size = dictionarySize(entries, rows)
            if size < lengthsSize(rows) + Int(total) {
                appendDictionary(entries, data, rows)
                return (.dictionary, 0)
            }
        }
        appendLengths(data, rows, Int(total))
        return (.lengths, 0)
    }

    /// Appends lengths and bytes.
    mutating func appendLengths(_ data: UnsafePointer<UInt8>, _ rows: Int, _ total: Int) {
        NarrowIntegers.encodeLengths(scratch.lengths, rows, to: &raw)
        appendCells(data, rows, total)
    }

    /// - Returns: whether any cell is a reference to a large value.
    private func gatherCells(
        _ externals: UnsafePointer<UInt8>?, _ starts: UnsafePointer<UInt32>,
        _ lengths: UnsafePointer<UInt32>, _ rows: Int, _ nils: UnsafePointer<UInt8>?,
        _ selection: UnsafePointer<UInt16>?
    ) -> Bool {
        var hasExternals = false
        for row in 0..<rows {
            let source = selection.map { Int($0[row]) } ?? row
            let isNil = nils.map { $0[row] != 0 } ?? false
            scratch.starts[row] = isNil ? 0 : starts[source]
            scratch.lengths[row] = isNil ? 0 : lengths[source]
            if let externals {
                let isExternal = !isNil && externals[source] != 0
                precondition(
                    !isExternal || lengths[source] == UInt32(ValueReference.size),
                    "a reference to a large value has 24 bytes")
                scratch.externals[row] = isExternal ? 1 : 0
                hasExternals = hasExternals || isExternal
            }
        }
        return hasExternals
    }

    private func lengthsSize(_ rows: Int) -> Int {
        var low = UInt32.max
        var high: UInt32 = 0
        for row in 0..<rows {
            low = min(low, scratch.lengths[row])
            high = max(high, scratch.lengths[row])
        }
        return NarrowIntegers.lengthsSize(rows, low: low, high: high)
    }

    mutating func appendCells(_ data: UnsafePointer<UInt8>, _ rows: Int, _ total: Int) {
        let target = raw.reserve(total)
        var expected: UInt32?
        var isContiguous = true
        for row in 0..<rows where scratch.lengths[row] > 0 {
            if let expected, expected != scratch.starts[row] {
                isContiguous = false
                break
            }
            expected = scratch.starts[row] &+ scratch.lengths[row]
        }
        if isContiguous {
            guard let expected, total > 0 else { return }
            target.copyMemory(from: data + (Int(expected) - total), byteCount: total)
            return
        }
        var position = 0
        for row in 0..<rows {
            let length = Int(scratch.lengths[row])
            (target + position).copyMemory(
                from: data + Int(scratch.starts[row]), byteCount: length)
            position &+= length
        }
    }

    /// Numbers the distinct values: `codes` has one code per row, `firstRows` one row per value.
    ///
    /// - Returns: the number of distinct values; nil if it gave up.
    func distinct(
        _ data: UnsafePointer<UInt8>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> Int? {
        guard rows >= 4 else { return nil }
        let mask = EncoderScratch.tableSize - 1
        scratch.table.initialize(repeating: 0, count: EncoderScratch.tableSize)
        var count = 0
        for row in 0..<rows {
            if row & 127 == 0, row > 0, count &* 4 > row &* 3 { return nil }
            if let nils, nils[row] != 0 {
                scratch.codes[row] = 0
                continue
            }
            let length = Int(scratch.lengths[row])
            let bytes = data + Int(scratch.starts[row])
            var slot = Int(truncatingIfNeeded: Self.mix(bytes, length) >> 40) & mask
            var probes = 0
            while true {
                let entry = Int(scratch.table[slot])
                if entry == 0 {
                    scratch.firstRows[count] = UInt16(row)
                    scratch.codes[row] = UInt16(count)
                    count &+= 1
                    scratch.table[slot] = UInt16(count)
                    break
                }
                let other = Int(scratch.firstRows[entry &- 1])
                if Int(scratch.lengths[other]) == length,
                    Self.equal(data + Int(scratch.starts[other]), bytes, length)
                {
                    scratch.codes[row] = UInt16(entry &- 1)
                    break
                }
                slot = (slot &+ 1) & mask
                probes &+= 1
                if probes > 24 { return nil }
            }
        }
        return count &* 4 > rows &* 3 ? nil : count
    }

    /// Returns a hash of length, first and last eight bytes: different for most distinct values.
    @inline(__always)
    private static func mix(_ bytes: UnsafePointer<UInt8>, _ length: Int) -> UInt64 {
        var first: UInt64 = 0
        var last: UInt64 = 0
        let raw = UnsafeRawPointer(bytes)
        if length >= 8 {
            first = raw.loadUnaligned(as: UInt64.self)
            last = raw.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
        } else if length >= 4 {
            first = UInt64(raw.loadUnaligned(as: UInt32.self))
            last = UInt64(raw.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self))
        } else if length > 0 {
            first = UInt64(bytes[0]) | UInt64(bytes[length / 2]) << 8
            last = UInt64(bytes[length &- 1])
        }
        let mixed = (first ^ UInt64(truncatingIfNeeded: length)) &* 0x9e37_79b9_7f4a_7c15
        return ((mixed ^ mixed >> 29) &+ last) &* 0xbf58_476d_1ce4_e5b9
    }

    @inline(__always)
    private static func equal(_ a: UnsafePointer<UInt8>, _ b: UnsafePointer<UInt8>, _ length: Int)
        -> Bool
    {
        let left = UnsafeRawPointer(a)
        let right = UnsafeRawPointer(b)
        var position = 0
        while position &+ 8 <= length {
            if left.loadUnaligned(fromByteOffset: position, as: UInt64.self)
                != right.loadUnaligned(fromByteOffset: position, as: UInt64.self)
            {
                return false
            }
            position &+= 8
        }
        while position < length {
            if a[position] != b[position] { return false }
            position &+= 1
        }
        return true
    }

    private func dictionarySize(_ entries: Int, _ rows: Int) -> Int {
        var low = UInt32.max
        var high: UInt32 = 0
        var total = 0
        for entry in 0..<entries {
            let length = scratch.lengths[Int(scratch.firstRows[entry])]
            low = min(low, length)
            high = max(high, length)
            total += Int(length)
        }
        return 3 + NarrowIntegers.lengthsSize(entries, low: low, high: high) + total
            + rows * Self.codeWidth(entries)
    }

    /// Returns the bytes of a code: 0 if there is only one value.
    static func codeWidth(_ entries: Int) -> Int {
        entries == 1 ? 0 : entries <= 256 ? 1 : 2
    }

    private mutating func appendDictionary(
        _ entries: Int, _ data: UnsafePointer<UInt8>, _ rows: Int
    ) {
        let width = Self.codeWidth(entries)
        raw.append(UInt16(entries))
        raw.append(UInt8(width))
        // The memory for floats is free while bytes are encoded, and holds the lengths of the entries.
        for entry in 0..<entries {
            scratch.floats[entry] = scratch.lengths[Int(scratch.firstRows[entry])]
        }
        NarrowIntegers.encodeLengths(scratch.floats, entries, to: &raw)
        for entry in 0..<entries {
            let row = Int(scratch.firstRows[entry])
            raw.append(
                UnsafeRawBufferPointer(
                    start: data + Int(scratch.starts[row]), count: Int(scratch.lengths[row])))
        }
        let target = raw.reserve(rows * width)
        switch width {
        case 0: break
        case 1:
            for row in 0..<rows {
                target.storeBytes(
                    of: UInt8(truncatingIfNeeded: scratch.codes[row]), toByteOffset: row,
                    as: UInt8.self)
            }
        default:
            for row in 0..<rows {
                target.storeBytes(
                    of: scratch.codes[row].littleEndian, toByteOffset: row &* 2, as: UInt16.self)
            }
        }
    }
}
