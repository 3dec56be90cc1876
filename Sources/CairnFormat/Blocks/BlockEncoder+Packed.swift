// The encodings with individually readable cells.                                Format 50.13, F-560 to F-569
//
//   1. Numbers are distances from the minimum, in as many bits as the largest requires. If there are a few
//      outliers, the width is that of the others, and the outliers are stored separately as exceptions: the
//      smallest result wins.
//   2. Doubles are whole numbers divided by a power of ten; otherwise their bits are the numbers, without the
//      trailing zeros that all of them share.
//   3. Bytes are a dictionary, coded by symbols, or stored plain: the smallest result wins. LZ4 gets long
//      strings that it makes much smaller, though their cells are not individually readable.
//
// Values contain something in every row; a nil row has the number 0 (F-503).

extension BlockEncoder {
    /// A packing of numbers: `(value - low) >> shift - offset`, if that is not negative and below the
    /// maximum.
    private struct Packing {
        var low: UInt64
        var shift = 0
        var offset: UInt64 = 0
        var width: Int
        /// The number of rows that are exceptions.
        var exceptions = 0

        var base: UInt64 { low &+ offset << UInt64(shift) }

        func size(_ rows: Int) -> Int {
            12 + exceptions * 10 + PackedNumbers.size(rows, width: width)
        }
    }

    // MARK: Numbers

    mutating func packIntegers(
        _ values: UnsafePointer<Int64>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> ColumnEncoding {
        let (low, high) = NarrowIntegers.range(values, rows)
        if nils == nil, low != high, let step = Self.step(values, rows) {
            raw.append(values[0])
            raw.append(step)
            return .sequence
        }
        let words = UnsafeRawPointer(values).assumingMemoryBound(to: UInt64.self)
        let packing = packing(
            words, rows, nils, low: UInt64(bitPattern: low), high: UInt64(bitPattern: high))
        append(packing, words, rows, nils, exceptions: words)
        return .packed
    }

    mutating func packDoubles(
        _ values: UnsafePointer<UInt64>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> ColumnEncoding {
        if nils == nil, Self.isConstant(values, rows) {
            raw.append(values[0])
            return .constant
        }
        let bits = packing(bitsOf: values, rows, nils)
        if let scale = ScaledDoubles.scale(values, rows) {
            let integers = ScaledDoubles.integers(values, rows, scale: scale, into: scratch.whole)
            let (low, high) = NarrowIntegers.range(integers, rows)
            let words = UnsafeRawPointer(integers).assumingMemoryBound(to: UInt64.self)
            let decimals = packing(
                words, rows, nils, low: UInt64(bitPattern: low),
                high: UInt64(bitPattern: high))
            // The largest number that the bits allow must be exact, too.
            if decimals.width <= 51,
                Int64(bitPattern: decimals.base) + Int64(PackedNumbers.mask(decimals.width))
                    <= ScaledDoubles.largestInteger, decimals.size(rows) <= bits.size(rows)
            {
                append(decimals, words, rows, nils, detail: scale, exceptions: values)
                return .packedDecimals
            }
        }
        append(bits, values, rows, nils, detail: bits.shift, exceptions: values)
        return .packedBits
    }

    mutating func packFloats(
        _ values: UnsafePointer<UInt32>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> ColumnEncoding {
        if nils == nil, Self.isConstant(values, rows) {
            raw.append(values[0])
            return .constant
        }
        for row in 0..<rows { scratch.words[row] = UInt64(values[row]) }
        let words = UnsafePointer(scratch.words)
        let bits = packing(bitsOf: words, rows, nils)
        append(bits, words, rows, nils, detail: bits.shift, exceptions: words)
        return .packedBits
    }

    /// Returns the packing of the bits of floating-point numbers, without the trailing zeros that all
    /// distances share.
    private func packing(
        bitsOf values: UnsafePointer<UInt64>, _ rows: Int, _ nils: UnsafePointer<UInt8>?
    ) -> Packing {
        var (low, high) = (values[0], values[0])
        for row in 0..<rows {
            low = min(low, values[row])
            high = max(high, values[row])
        }
        var all: UInt64 = 0
        for row in 0..<rows { all |= values[row] &- low }
        return packing(
            values, rows, nils, low: low, high: high,
            shift: all == 0 ? 0 : all.trailingZeroBitCount)
    }

    /// Returns the smallest packing of numbers.
    private func packing(
        _ values: UnsafePointer<UInt64>, _ rows: Int, _ nils: UnsafePointer<UInt8>?, low: UInt64,
        high: UInt64, shift: Int = 0
    ) -> Packing {
        let span = (high &- low) >> UInt64(shift)
        let full = PackedNumbers.width(of: span)
        var best = Packing(low: low, shift: shift, width: full)
        guard full > 8, rows >= 64 else { return best }
        // Counts the distances by the bits they require: from the minimum, and from the maximum. One more,
        // since the largest number of all marks an exception.
        let (up, down) = (scratch.widths, scratch.widths + 66)
        up.update(repeating: 0, count: 132)
        for row in 0..<rows {
            if let nils, nils[row] != 0 { continue }
            let distance = (values[row] &- low) >> UInt64(shift)
            up[Self.widthBesideMark(distance)] &+= 1
            down[Self.widthBesideMark(span &- distance)] &+= 1
        }
        var (above, below) = (Int(up[full + 1]), Int(down[full + 1]))
        for width in stride(from: full - 1, through: 1, by: -1) {
            above += Int(up[width + 1])
            below += Int(down[width + 1])
            let exceptions = min(above, below)
            if exceptions > rows / 16 { break }
            let most = PackedNumbers.mask(width) - 1
            let packing = Packing(
                low: low, shift: shift, offset: above <= below ? 0 : span - most, width: width,
                exceptions: exceptions)
            if packing.size(rows) < best.size(rows) { best = packing }
        }
        return best
    }

    /// Returns the bits that a number requires if the largest number is reserved.
    @inline(__always)
    private static func widthBesideMark(_ number: UInt64) -> Int {
        number == .max ? 65 : PackedNumbers.width(of: number + 1)
    }

    /// Appends base, width, exceptions and numbers.
    ///
    /// - Parameters:
    ///   - words: the values that the numbers are computed from.
    ///   - detail: scale, shift or nothing.
    ///   - values: the values stored for exceptions.
    private mutating func append(
        _ packing: Packing, _ words: UnsafePointer<UInt64>, _ rows: Int,
        _ nils: UnsafePointer<UInt8>?, detail: Int = 0, exceptions values: UnsafePointer<UInt64>
    ) {
        let (low, offset, shift) = (packing.low, packing.offset, UInt64(packing.shift))
        let numbers = scratch.distances
        for row in 0..<rows { numbers[row] = (words[row] &- low) >> shift }
        var count = 0
        if packing.exceptions > 0 {
            let mark = PackedNumbers.mask(packing.width)
            for row in 0..<rows {
                let number = numbers[row] &- offset
                if numbers[row] >= offset, number < mark {
                    numbers[row] = number
                } else {
                    numbers[row] = mark
                    if let nils, nils[row] != 0 { continue }
                    scratch.codes[count] = UInt16(row)
                    count += 1
                }
            }
        }
        if let nils {
            for row in 0..<rows where nils[row] != 0 { numbers[row] = 0 }
        }
        raw.append(packing.base)
        raw.append(UInt8(packing.width))
        raw.append(UInt8(detail))
        raw.append(UInt16(count))
        for index in 0..<count { raw.append(scratch.codes[index]) }
        for index in 0..<count { raw.append(values[Int(scratch.codes[index])]) }
        PackedNumbers.pack(
            rows, width: packing.width,
            into: raw.reserve(PackedNumbers.size(rows, width: packing.width))
        ) { numbers[$0] }
    }

    // MARK: Bytes

    /// The length from which a string is long, in bytes.
    private static let longText = 64

    /// Packs the bytes gathered in `scratch`, or appends them as they are.
    ///
    /// - Parameter hasExternals: whether some cells are references, which are neither coded nor put into a
    ///   dictionary.
    /// - Returns: the encoding, and by how many bytes symbol-coded strings exceed their codes; otherwise 0.
    mutating func packBytes(
        _ property: UInt32, _ data: UnsafePointer<UInt8>, _ rows: Int, total: Int,
        nils: UnsafePointer<UInt8>?, hasExternals: Bool
    ) -> (ColumnEncoding, expandedBytes: Int) {
        let plain = total + placesSize(scratch.lengths, rows)
        var best = plain
        var entries: Int?
        if !hasExternals, let found = distinct(data, rows, nils) {
            let size = packedDictionarySize(found, rows)
            if size < best { (best, entries) = (size, found) }
        }
        // A dictionary much smaller than the strings is final. Otherwise long strings may share much that no
        // symbol is long enough for.
        if best * 4 > plain, total > rows * Self.longText {
            let start = raw.count
            appendLengths(data, rows, total)
            let size = SliceCompressor.size(
                UnsafeRawBufferPointer(rebasing: raw.bytes[start...]), &symbolCodes)
            if size < best / 3 { return (.lengths, 0) }
            raw.cut(to: start)
        }
        if !hasExternals, total >= SymbolEncoder.fewestBytes, total <= Self.mostSymbolBytes,
            best * 4 > plain
        {
            let coder = symbolEncoder(of: property)
            if coder.isWorthTrying() {
                coder.encode(
                    data, scratch.starts, scratch.lengths, rows, total: total,
                    places: scratch.places, codes: &symbolCodes)
                let size =
                    coder.tableSize + symbolCodes.count
                    + placesSize(of: scratch.places, rows)
                let isWorthIt = size < best - best / 8
                coder.wasWorthIt(isWorthIt)
                if isWorthIt {
                    coder.appendTable(to: &raw)
                    appendPlaces(scratch.places, rows)
                    raw.append(symbolCodes.bytes)
                    return (.symbols, total - symbolCodes.count)
                }
            }
        }
        if let entries {
            appendPackedDictionary(entries, data, rows)
            return (.packedDictionary, 0)
        }
        places(of: scratch.lengths, rows)
        appendPlaces(scratch.places, rows)
        appendCells(data, rows, total)
        return (.texts, 0)
    }

    /// Returns the symbol encoder of a property.
    private mutating func symbolEncoder(of property: UInt32) -> SymbolEncoder {
        if let known = symbolEncoders[property] { return known }
        // An entity with very many strings does not keep all their symbols.
        if symbolEncoders.count >= Self.mostSymbolEncoders { _ = symbolEncoders.popFirst() }
        let encoder = SymbolEncoder()
        symbolEncoders[property] = encoder
        return encoder
    }

    /// Fills in the places of cells with these lengths.
    private func places(of lengths: UnsafePointer<UInt32>, _ count: Int) {
        var end: UInt32 = 0
        for row in 0..<count {
            scratch.places[row] = end
            end &+= lengths[row]
        }
        scratch.places[count] = end
    }

    /// Returns the size of the places of cells with these lengths, in bytes.
    private func placesSize(_ lengths: UnsafePointer<UInt32>, _ count: Int) -> Int {
        places(of: lengths, count)
        return placesSize(of: scratch.places, count)
    }

    private func placesSize(of places: UnsafePointer<UInt32>, _ count: Int) -> Int {
        9 + PackedNumbers.size(count + 1, width: line(places, count).width)
    }

    /// Returns the line below the places, and the bits that the distances from it require.
    private func line(_ places: UnsafePointer<UInt32>, _ count: Int) -> (
        base: Int64, step: Int64, width: Int
    ) {
        let step = Int64(places[count]) / Int64(count)
        var (low, high) = (Int64(0), Int64(0))
        for index in 0...count {
            let distance = Int64(places[index]) &- Int64(index) &* step
            low = min(low, distance)
            high = max(high, distance)
        }
        return (low, step, PackedNumbers.width(of: UInt64(high - low)))
    }

    private mutating func appendPlaces(_ places: UnsafePointer<UInt32>, _ count: Int) {
        let (base, step, width) = line(places, count)
        raw.append(Int32(base))
        raw.append(UInt32(step))
        raw.append(UInt8(width))
        PackedNumbers.pack(
            count + 1, width: width,
            into: raw.reserve(PackedNumbers.size(count + 1, width: width))
        ) { UInt64(bitPattern: Int64(places[$0]) &- Int64($0) &* step &- base) }
    }

    /// Gathers the lengths of the dictionary's entries, in memory that is free while bytes are encoded.
    private func gatherEntries(_ entries: Int) -> Int {
        var total = 0
        for entry in 0..<entries {
            let length = scratch.lengths[Int(scratch.firstRows[entry])]
            scratch.floats[entry] = length
            total += Int(length)
        }
        return total
    }

    private func packedDictionarySize(_ entries: Int, _ rows: Int) -> Int {
        let total = gatherEntries(entries)
        return 3 + PackedNumbers.size(rows, width: PackedNumbers.width(of: UInt64(entries - 1)))
            + placesSize(scratch.floats, entries) + total
    }

    private mutating func appendPackedDictionary(
        _ entries: Int, _ data: UnsafePointer<UInt8>, _ rows: Int
    ) {
        let width = PackedNumbers.width(of: UInt64(entries - 1))
        raw.append(UInt16(entries))
        raw.append(UInt8(width))
        let codes = scratch.codes
        PackedNumbers.pack(
            rows, width: width, into: raw.reserve(PackedNumbers.size(rows, width: width))
        ) { UInt64(codes[$0]) }
        _ = gatherEntries(entries)
        places(of: scratch.floats, entries)
        appendPlaces(scratch.places, entries)
        for entry in 0..<entries {
            let row = Int(scratch.firstRows[entry])
            raw.append(
                UnsafeRawBufferPointer(
                    start: data + Int(scratch.starts[row]), count: Int(scratch.lengths[row])))
        }
    }
}
