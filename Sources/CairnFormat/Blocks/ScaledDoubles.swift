// Doubles that are whole numbers divided by a power of ten: prices, coordinates, times in milliseconds.
//                                                                              Format 50, F-521
//   1. The first rows propose a scale: the smallest power that makes each of them whole.
//   2. All rows are tried with it; one that fails asks for a larger scale, up to the limit.
//
// A value passes only if the division gives back its very bits, so −0, NaN and infinities never do.
// Rounding to a whole number is adding and taking away 1.5 × 2^52, exact below 2^51 and free of calls.

@usableFromInline
enum ScaledDoubles {
    static let largestScale = 9
    private static let rounder = 6_755_399_441_055_744.0
    private static let limit = 2_251_799_813_685_248.0
    private static let sample = 16
    /// What a decoder lets pass: whole numbers that a double holds exactly.
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

    /// The scale that all values share; nil if there is none.
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

    /// The whole numbers. `target` may be where the values are.
    static func integers(
        _ values: UnsafePointer<UInt64>, _ rows: Int, scale: Int,
        into target: UnsafeMutableRawPointer
    ) -> UnsafePointer<Int64> {
        let power = power(scale)
        let source = UnsafeRawPointer(values)
        for row in 0..<rows {
            let value = source.load(fromByteOffset: row &* 8, as: Double.self)
            // `fits` has shown that it is whole and below 2^51.
            let whole = Int64((value * power + rounder) - rounder)
            target.storeBytes(of: whole, toByteOffset: row &* 8, as: Int64.self)
        }
        return UnsafePointer(target.bindMemory(to: Int64.self, capacity: rows))
    }

    /// The doubles of whole numbers. `target` may be where these are.
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
