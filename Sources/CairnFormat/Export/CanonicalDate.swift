// Dates in the canonical export.                                               Format 80, F-817
//
//   1. Rounds to the nearest whole number of milliseconds m; if m / 1000 is not exactly the same double, or
//      the year is not between 1 and 9999, prints the date as a number of seconds.
//   2. Counts days from 2001-01-01 in the proleptic Gregorian calendar.

package enum CanonicalDate {
    private static let millisecondsPerDay: Int64 = 86_400_000
    /// From 0001-01-01 to the end of 9999-12-31, in milliseconds since 2001-01-01.
    private static let first: Int64 = -730_485 * millisecondsPerDay
    private static let last: Int64 = 2_921_574 * millisecondsPerDay - 1

    /// 1.5 × 2^52: adding it to a number below 2^51 leaves no room for a fraction.
    private static let rounder = 6_755_399_441_055_744.0

    /// Appends a date in seconds since 2001-01-01 UTC.
    package static func append(_ seconds: Double, to writer: inout ByteWriter) {
        guard let milliseconds = milliseconds(seconds) else {
            CanonicalNumber.append(double: seconds, to: &writer)
            return
        }
        var (day, rest) = milliseconds.quotientAndRemainder(dividingBy: millisecondsPerDay)
        if rest < 0 {
            rest += millisecondsPerDay
            day -= 1
        }
        let (year, month, dayOfMonth) = civil(daysSince2001: day)
        writer.append(UInt8(ascii: "\""))
        append(year, digits: 4, to: &writer)
        writer.append(UInt8(ascii: "-"))
        append(month, digits: 2, to: &writer)
        writer.append(UInt8(ascii: "-"))
        append(dayOfMonth, digits: 2, to: &writer)
        writer.append(UInt8(ascii: "T"))
        append(rest / 3_600_000, digits: 2, to: &writer)
        writer.append(UInt8(ascii: ":"))
        append(rest / 60_000 % 60, digits: 2, to: &writer)
        writer.append(UInt8(ascii: ":"))
        append(rest / 1000 % 60, digits: 2, to: &writer)
        if rest % 1000 != 0 {
            writer.append(UInt8(ascii: "."))
            append(rest % 1000, digits: 3, to: &writer)
        }
        writer.append(utf8: "Z\"")
    }

    /// Returns whether a date is printed as a string, and not as a number.
    package static func isText(_ seconds: Double) -> Bool { milliseconds(seconds) != nil }

    private static func milliseconds(_ seconds: Double) -> Int64? {
        let product = seconds * 1000
        guard product.magnitude < 1e15 else { return nil }
        // The nearest whole number, ties to even, without a call into the C library.
        let whole = Int64((product + rounder) - rounder)
        guard whole >= first, whole <= last,
            (Double(whole) / 1000).bitPattern == seconds.bitPattern
        else { return nil }
        return whole
    }

    /// Returns year, month and day of a day number: 400 years are one cycle, and its years begin in March.
    private static func civil(daysSince2001: Int64) -> (Int64, Int64, Int64) {
        // 2001-01-01 is day 730,791 after 0000-03-01.
        let days = daysSince2001 + 730_791
        let cycle = (days >= 0 ? days : days - 146_096) / 146_097
        let dayOfCycle = days - cycle * 146_097
        let yearOfCycle =
            (dayOfCycle - dayOfCycle / 1460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (365 * yearOfCycle + yearOfCycle / 4 - yearOfCycle / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        let day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        let month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        return (yearOfCycle + cycle * 400 + (month <= 2 ? 1 : 0), month, day)
    }

    private static func append(_ value: Int64, digits: Int, to writer: inout ByteWriter) {
        let text = String(value)
        writer.append(utf8: String(repeating: "0", count: digits - text.utf8.count))
        writer.append(utf8: text)
    }
}
