// Doubles that are whole numbers divided by a power of ten: prices, coordinates, times in milliseconds.
//                                                                              Format 50, F-521
//   1. The first rows determine a scale: the smallest power that makes each of them whole.
//   2. All rows are tried with it; a row that fails requires a larger scale, up to the limit.
//
// A value passes only if the division returns exactly its bits, so −0, NaN and infinities never pass. Adding
// and subtracting 1.5 × 2^52 rounds to a whole number; it is exact below 2^51 and needs no calls.

@usableFromInline
enum ScaledDoubles {
    static let largestScale = 9
    private static let rounder = 6_755_399_441_055_744.0
    private static let limit = 2_251_799_813_685_248.0
    private static let sample = 16
    /// The limit that a decoder accepts: whole numbers that a double represents exactly.
    static let largestInteger: Int64 = 1 << 53

    @usableFromInline
    static func power(_ scale: Int) -> Double {
        switch scale {
        case 0: 1
        case 1: 10
        case 2: 100
        case 3: 1000
        case 4: 10_000
        case 5: 100_000
        case 6: 1_000_000
        case 7: 10_000_000
        case 8: 100_000_000
        default: 1_000_000_000
        }
    }

    /// Returns the scale that all values share; nil if there is none.
    static func scale(_ values: UnsafePointer<UInt64>, _ rows: Int) -> Int? {
        var scale = 0
        var row = 0
        while row < min(rows, sample) {
            if fits(values + row, 1, scale) {
                row += 1
            } else {
                scale += 1
                if scale > largestScale { return nil }
            }
        }
        while !fits(values, rows, scale) {
            scale += 1
            if scale > largestScale { return nil }
        }
        return scale
    }

    private static func fits(_ values: UnsafePointer<UInt64>, _ rows: Int, _ scale: Int) -> Bool {
        let power = power(scale)
        var wrong: UInt64 = 0
        for row in 0..<rows {
            let whole = (Double(bitPattern: values[row]) * power + rounder) - rounder
            wrong |= (whole / power).bitPattern ^ values[row]
            wrong |= whole.magnitude < limit ? 0 : 1
        }
        return wrong == 0
    }

    /// Returns the whole numbers. `target` may be the memory of the values.
    static func integers(
        _ values: UnsafePointer<UInt64>, _ rows: Int, scale: Int,
        into target: UnsafeMutableRawPointer
    ) -> UnsafePointer<Int64> {
        let power = power(scale)
        let source = UnsafeRawPointer(values)
        for row in 0..<rows {
            let value = source.load(fromByteOffset: row &* 8, as: Double.self)
            // `fits` has checked that it is whole and below 2^51.
            let whole = Int64((value * power + rounder) - rounder)
            target.storeBytes(of: whole, toByteOffset: row &* 8, as: Int64.self)
        }
        return UnsafePointer(target.bindMemory(to: Int64.self, capacity: rows))
    }

    /// Computes the doubles of whole numbers. `target` may be the memory of these.
    static func doubles(
        _ whole: UnsafePointer<Int64>, _ rows: Int, scale: Int, into target: UnsafeMutableRawPointer
    ) {
        let power = power(scale)
        let source = UnsafeRawPointer(whole)
        for row in 0..<rows {
            let value = source.load(fromByteOffset: row &* 8, as: Int64.self)
            target.storeBytes(of: Double(value) / power, toByteOffset: row &* 8, as: Double.self)
        }
    }
}
