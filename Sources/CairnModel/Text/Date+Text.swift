// Dates as ISO 8601 text, without losing a bit.
//
//   day        = YYYY-MM-DD
//   date-time  = day ("T" | " ") HH:MM[:SS[.fraction]] [zone]
//   zone       = "Z" | ("+" | "-") HH[:MM] | ("+" | "-") HHMM
//   exact      = date-time | number " s since 2001"
//
// Without a zone the text means UTC, and a day its first moment. The fraction is joined to the whole
// seconds as text before it becomes a double, so that the double that was printed comes back.

package import FoundationEssentials

extension Date {
    /// The date that an ISO 8601 string represents; nil if it is not a date.
    package init?(isoText text: some StringProtocol) {
        var reader = ISOReader(bytes: Array(text.utf8)[...])
        guard let seconds = reader.moment() else { return nil }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    /// Whether the moment that a text means has the very digits of the text: a date tells it from every other one.
    package static func isTold(byText text: some StringProtocol) -> Bool {
        // Who writes seconds with their unit has printed a date.
        if text.hasSuffix(unit) { return true }
        var reader = ISOReader(bytes: Array(text.utf8)[...])
        guard let parts = reader.parts() else { return false }
        guard let number = parts.number else { return true }
        return DecimalText(number) == Double(number).flatMap { DecimalText($0.description) }
    }

    /// The moment as a text that ``init(exactText:)`` reads as the very same double: ``isoText``, or where there is none the
    /// seconds since 2001 with their unit, as in "1e+16 s since 2001".
    package var exactText: String { isoText ?? "\(timeIntervalSinceReferenceDate)\(Self.unit)" }

    /// The moment that an ISO 8601 text or a number of seconds with its unit means; nil if it is neither.
    package init?(exactText text: some StringProtocol) {
        guard text.hasSuffix(Self.unit) else {
            self.init(isoText: text)
            return
        }
        guard let seconds = Double(text.dropLast(Self.unit.count)), seconds.isFinite else {
            return nil
        }
        self.init(timeIntervalSinceReferenceDate: seconds)
    }

    /// What stands behind a number that is a moment.
    private static let unit = " s since 2001"

    /// The moment as ISO 8601 text in UTC, with every digit that the double has; nil outside the years
    /// 1 to 9999, nearer to the beginning of 2001 than such a text can tell, and for its negative zero.
    package var isoText: String? {
        let interval = timeIntervalSinceReferenceDate
        guard interval.isFinite, abs(interval) < 4e11,
            abs(interval) > 1e-26 || interval == 0 && interval.sign == .plus
        else { return nil }
        let whole = interval.rounded(.down)
        var fraction = ""
        if interval != whole {
            // 1e18 holds every digit after the point that a double of this size has.
            guard let exact = Decimal(exactText: "\(interval)") else { return nil }
            let rest = exact - Decimal(Int64(whole))
            fraction = String("\(rest)".drop { $0 != "." })
            guard fraction.utf8.count <= ISOReader.mostDigits + 1 else { return nil }
        }
        let days = (Int64(whole) - Calendar.floorMod(Int64(whole), 86_400)) / 86_400
        let second = Calendar.floorMod(Int64(whole), 86_400)
        let (year, month, day) = Calendar.civil(days + Calendar.referenceDay)
        guard (1...9999).contains(year) else { return nil }
        let pad = { (number: Int64, width: Int) -> String in
            let text = "\(number)"
            return String(repeating: "0", count: max(0, width - text.utf8.count)) + text
        }
        return "\(pad(year, 4))-\(pad(month, 2))-\(pad(day, 2))T\(pad(second / 3600, 2)):"
            + "\(pad(second / 60 % 60, 2)):\(pad(second % 60, 2))\(fraction)Z"
    }
}

/// Days and dates of the Gregorian calendar.
private enum Calendar {
    /// 2001-01-01 in days since 1970-01-01.
    static let referenceDay: Int64 = 11_323

    static func floorMod(_ number: Int64, _ divisor: Int64) -> Int64 {
        let rest = number % divisor
        return rest < 0 ? rest + divisor : rest
    }

    /// Days since 1970-01-01.
    static func days(_ year: Int64, _ month: Int64, _ day: Int64) -> Int64 {
        // A year that begins in March has its leap day last.
        let shifted = month <= 2 ? year - 1 : year
        let era = (shifted - floorMod(shifted, 400)) / 400
        let yearOfEra = shifted - era * 400
        let dayOfYear = (153 * ((month + 9) % 12) + 2) / 5 + day - 1
        let dayOfEra = yearOfEra * 365 + yearOfEra / 4 - yearOfEra / 100 + dayOfYear
        return era * 146_097 + dayOfEra - 719_468
    }

    static func civil(_ days: Int64) -> (Int64, Int64, Int64) {
        let shifted = days + 719_468
        let era = (shifted - floorMod(shifted, 146_097)) / 146_097
        let dayOfEra = shifted - era * 146_097
        let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
        let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
        let part = (5 * dayOfYear + 2) / 153
        let month = part < 10 ? part + 3 : part - 9
        return (
            yearOfEra + era * 400 + (month <= 2 ? 1 : 0), month,
            dayOfYear - (153 * part + 2) / 5 + 1
        )
    }

    static func length(ofMonth month: Int64, _ year: Int64) -> Int64 {
        switch month {
        case 4, 6, 9, 11: 30
        case 2: (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28
        default: 31
        }
    }
}

private struct ISOReader {
    /// How many digits behind the point can be taken together with the seconds of 9999 years.
    static let mostDigits = 26

    var bytes: ArraySlice<UInt8>

    /// Seconds since 2001.
    mutating func moment() -> Double? {
        guard let parts = parts() else { return nil }
        return parts.number.map { Double($0) } ?? Double(parts.whole)
    }

    /// Seconds since 2001, and with every digit of the text if they are not whole.
    mutating func parts() -> (whole: Int64, number: String?)? {
        guard let year = number(4), take("-"), let month = number(2), take("-"),
            let day = number(2), (1...9999).contains(year), (1...12).contains(month),
            day >= 1, day <= Calendar.length(ofMonth: month, year)
        else { return nil }
        var whole = (Calendar.days(year, month, day) - Calendar.referenceDay) * 86_400
        var fraction: [UInt8] = []
        if !bytes.isEmpty {
            guard take("T") || take("t") || take(" "), let time = time(&fraction) else {
                return nil
            }
            whole += time
            guard let zone = zone(), bytes.isEmpty else { return nil }
            whole -= zone
        }
        while fraction.last == UInt8(ascii: "0") { fraction.removeLast() }
        guard !fraction.isEmpty else { return (whole, nil) }
        // More digits than a double near zero has would only cost time.
        guard fraction.count <= Self.mostDigits else { return nil }
        let scale = fraction.reduce(Int128(1)) { power, _ in power * 10 }
        let part = fraction.reduce(Int128(0)) { $0 * 10 + Int128($1 - 48) }
        return (whole, "\(Int128(whole) * scale + part)e-\(fraction.count)")
    }

    private mutating func time(_ fraction: inout [UInt8]) -> Int64? {
        guard let hour = number(2), take(":"), let minute = number(2), hour < 24, minute < 60 else {
            return nil
        }
        var second: Int64 = 0
        if take(":") {
            guard let value = number(2), value < 60 else { return nil }
            second = value
            if take(".") || take(",") {
                while let byte = bytes.first, byte >= 48, byte <= 57 {
                    fraction.append(byte)
                    bytes.removeFirst()
                }
                guard !fraction.isEmpty else { return nil }
            }
        }
        return hour * 3600 + minute * 60 + second
    }

    /// Seconds east of Greenwich.
    private mutating func zone() -> Int64? {
        if bytes.isEmpty || take("Z") || take("z") { return 0 }
        let isWest = bytes.first == UInt8(ascii: "-")
        guard take("+") || take("-"), let hours = number(2), hours < 24 else { return nil }
        var minutes: Int64 = 0
        if !bytes.isEmpty {
            _ = take(":")
            guard let value = number(2), value < 60 else { return nil }
            minutes = value
        }
        let seconds = hours * 3600 + minutes * 60
        return isWest ? -seconds : seconds
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: character) else { return false }
        bytes.removeFirst()
        return true
    }

    /// A number of exactly that many digits.
    private mutating func number(_ digits: Int) -> Int64? {
        guard bytes.count >= digits else { return nil }
        var value: Int64 = 0
        for byte in bytes.prefix(digits) {
            guard byte >= 48, byte <= 57 else { return nil }
            value = value * 10 + Int64(byte - 48)
        }
        bytes.removeFirst(digits)
        return value
    }
}
