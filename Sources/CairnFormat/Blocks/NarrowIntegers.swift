// Integers as distances from a base, in 0, 1, 2, 4 or 8 bytes each.          Format 50, F-510, F-511
//
// The loops use plain pointers, one loop for each width, so that the compiler vectorises them.

enum NarrowIntegers {
    /// The size of base and width, in bytes.
    static let headSize = 9

    /// Returns the bytes that a distance requires.
    static func width(of distance: UInt64) -> Int {
        if distance == 0 { return 0 }
        if distance <= 0xff { return 1 }
        if distance <= 0xffff { return 2 }
        return distance <= 0xffff_ffff ? 4 : 8
    }

    /// Returns the minimum and the maximum of at least one value.
    static func range(_ values: UnsafePointer<Int64>, _ count: Int) -> (Int64, Int64) {
        var low = values[0]
        var high = values[0]
        for index in 0..<count {
            let value = values[index]
            low = value < low ? value : low
            high = value > high ? value : high
        }
        return (low, high)
    }

    /// Appends base, width and distances.
    ///
    /// - Parameter nils: rows whose distance is written as 0.
    static func encode(
        _ values: UnsafePointer<Int64>, _ count: Int, low: Int64, high: Int64,
        nils: UnsafePointer<UInt8>?, to writer: inout ByteWriter
    ) {
        let width = width(of: UInt64(bitPattern: high &- low))
        let base = width == 8 ? 0 : low
        writer.append(base)
        writer.append(UInt8(width))
        let target = writer.reserve(count * width)
        store(values, count, base: base, width: width, into: target)
        guard let nils, width > 0 else { return }
        for row in 0..<count where nils[row] != 0 {
            (target + row * width).initializeMemory(as: UInt8.self, repeating: 0, count: width)
        }
    }

    private static func store(
        _ values: UnsafePointer<Int64>, _ count: Int, base: Int64, width: Int,
        into target: UnsafeMutableRawPointer
    ) {
        switch width {
        case 0: break
        case 1: store(values, count, base, target, UInt8.self)
        case 2: store(values, count, base, target, UInt16.self)
        case 4: store(values, count, base, target, UInt32.self)
        default: target.copyMemory(from: values, byteCount: count * 8)
        }
    }

    @inline(__always)
    private static func store<T: FixedWidthInteger & UnsignedInteger>(
        _ values: UnsafePointer<Int64>, _ count: Int, _ base: Int64,
        _ target: UnsafeMutableRawPointer, _ type: T.Type
    ) {
        for row in 0..<count {
            let distance = T(truncatingIfNeeded: values[row] &- base)
            target.storeBytes(
                of: distance.littleEndian, toByteOffset: row &* MemoryLayout<T>.size, as: T.self)
        }
    }

    /// Writes what `encode` writes for one value: it is the base, and the distance has no bytes.
    @inline(__always)
    static func store(single value: Int64, into target: UnsafeMutableRawPointer) {
        target.storeBytes(of: value.littleEndian, as: Int64.self)
        target.storeBytes(of: 0, toByteOffset: 8, as: UInt8.self)
    }

    /// Appends distances of lengths in the 32-bit form: base, width, values.
    static func encodeLengths(
        _ lengths: UnsafePointer<UInt32>, _ count: Int, to writer: inout ByteWriter
    ) {
        var low = UInt32.max
        var high: UInt32 = 0
        for row in 0..<count {
            low = min(low, lengths[row])
            high = max(high, lengths[row])
        }
        if count == 0 { low = 0 }
        let width = width(of: UInt64(high &- low))
        writer.append(low)
        writer.append(UInt8(width))
        let target = writer.reserve(count * width)
        for row in 0..<count {
            let distance = lengths[row] &- low
            switch width {
            case 0: break
            case 1:
                target.storeBytes(
                    of: UInt8(truncatingIfNeeded: distance), toByteOffset: row, as: UInt8.self)
            case 2:
                target.storeBytes(
                    of: UInt16(truncatingIfNeeded: distance).littleEndian, toByteOffset: row &* 2,
                    as: UInt16.self)
            default:
                target.storeBytes(
                    of: distance.littleEndian, toByteOffset: row &* 4, as: UInt32.self)
            }
        }
    }

    /// Returns the number of bytes that `encodeLengths` writes.
    static func lengthsSize(_ count: Int, low: UInt32, high: UInt32) -> Int {
        5 + count * width(of: UInt64(high &- low))
    }
}

extension ByteReader {
    /// Reads base and width, and returns where the distances are.
    mutating func narrow(_ count: Int, widest: Int = 8) throws(FormatError)
        -> (base: Int64, width: Int, distances: UnsafeRawBufferPointer)
    {
        let start = offset
        let base = try integer(Int64.self)
        let width = Int(try integer(UInt8.self))
        guard width <= widest, width <= 2 || width == 4 || width == 8, width != 8 || base == 0
        else {
            throw FormatError(
                .malformed, "F-510", "the width of the integers is impossible", at: start + 8,
                found: UInt64(width))
        }
        let distances = try take(count * width)
        if width < 8, base > Int64.max - (1 << (Int64(width) * 8) - 1) {
            // Only a base near the limit of 64 bits requires a check of each distance.
            for row in 0..<count {
                let distance = Int64(distances.unsigned(row, width: width))
                guard !base.addingReportingOverflow(distance).overflow else {
                    throw FormatError(
                        .malformed, "F-511", "an integer does not fit 64 bits", at: start,
                        found: UInt64(row))
                }
            }
        }
        return (base, width, distances)
    }

    /// Reads lengths in the 32-bit form, as offsets: `count + 1` of them into `ends`, the first is 0.
    mutating func lengths(_ count: Int, into ends: UnsafeMutablePointer<UInt32>)
        throws(FormatError) -> Int
    {
        let start = offset
        let base = try integer(UInt32.self)
        let width = Int(try integer(UInt8.self))
        guard width <= 2 || width == 4 else {
            throw FormatError(
                .malformed, "F-530", "the width of the lengths is impossible", at: start + 4,
                found: UInt64(width))
        }
        let distances = try take(count * width)
        var sum: UInt64 = 0
        ends[0] = 0
        for row in 0..<count {
            // At most 1,024 terms below 2^33.
            sum &+= UInt64(base) &+ distances.unsigned(row, width: width)
            ends[row + 1] = UInt32(truncatingIfNeeded: sum)
        }
        guard sum <= UInt64(remaining) else {
            throw FormatError(
                .malformed, "F-530", "the lengths exceed the slice", at: start,
                expected: UInt64(remaining), found: sum)
        }
        return Int(sum)
    }
}

extension UnsafeRawBufferPointer {
    /// Returns value `row` of an array of unsigned integers of 0, 1, 2, 4 or 8 bytes.
    @inline(__always)
    func unsigned(_ row: Int, width: Int) -> UInt64 {
        switch width {
        case 0: 0
        case 1: UInt64(loadUnaligned(fromByteOffset: row, as: UInt8.self))
        case 2:
            UInt64(UInt16(littleEndian: loadUnaligned(fromByteOffset: row &* 2, as: UInt16.self)))
        case 4:
            UInt64(UInt32(littleEndian: loadUnaligned(fromByteOffset: row &* 4, as: UInt32.self)))
        default: UInt64(littleEndian: loadUnaligned(fromByteOffset: row &* 8, as: UInt64.self))
        }
    }
}
