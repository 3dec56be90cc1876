// Spans of one length that a picture of time is divided into.
//
//   1. The length is the least of those that people count in for which there are few enough spans: seconds to hours, days,
//      weeks from Monday on, and multiples of weeks after that.
//   2. Spans begin at multiples of their length, in UTC: 2001 began with a Monday.
//
// Threads: a value.

import CairnInspection

/// The spans that a picture of time is divided into.
struct TimeBins {
    /// The lengths, and what they are called.
    private static let lengths: [(seconds: Double, name: String)] = [
        (1, "a second"), (5, "5 seconds"), (15, "15 seconds"), (60, "a minute"),
        (300, "5 minutes"), (900, "15 minutes"), (3600, "an hour"), (10_800, "3 hours"),
        (21_600, "6 hours"), (43_200, "12 hours"), (86_400, "a day"), (604_800, "a week"),
        (2_419_200, "4 weeks"), (7_862_400, "13 weeks"), (31_449_600, "52 weeks"),
    ]

    /// How long a span is.
    let length: Double
    /// The same in words.
    let name: String
    /// When the first begins, in seconds since 2001.
    let start: Double
    /// How many there are, 1 or more.
    let count: Int

    /// - Parameters:
    ///   - first: the first moment, in seconds since 2001.
    ///   - most: how many spans there may be, 2 or more: of any length there are two on both sides of the beginning of 2001.
    init(first: Double, last: Double, most: Int) {
        precondition(most >= 2, "one span is not enough")
        func count(_ length: Double) -> Double {
            (last / length).rounded(.down) - (first / length).rounded(.down) + 1
        }
        let known = Self.lengths.first { count($0.seconds) <= Double(most) }
        var length = known?.seconds ?? 31_449_600
        while count(length) > Double(most) { length *= 2 }
        self.length = length
        name = known?.name ?? "\(PlainText.number(Int(clamping: Int64(length / 604_800)))) weeks"
        start = (first / length).rounded(.down) * length
        self.count = max(1, min(most, Int(exactly: count(length)) ?? 1))
    }

    /// The span that a moment is in.
    func index(of time: Double) -> Int {
        Int(exactly: ((time - start) / length).rounded(.down)).map { min(max($0, 0), count - 1) }
            ?? 0
    }

    /// When a span begins.
    func start(of index: Int) -> Double { start + Double(index) * length }

    /// When a span begins, as a label: the day, or on one day the time.
    func label(of index: Int) -> String {
        let text = Self.text(start(of: index))
        let isOneDay = Self.text(start).prefix(10) == Self.text(start(of: count - 1)).prefix(10)
        if length >= 86_400 { return String(text.prefix(10)) }
        let time = text.dropFirst(11).prefix(length < 60 ? 8 : 5)
        return isOneDay ? String(time) : "\(text.dropFirst(5).prefix(5)) \(time)"
    }

    /// A moment to the second.
    static func text(_ time: Double) -> String {
        String(JSONValue.date(time.rounded(.down)).line.drop { $0 == "\"" }.prefix { $0 != "\"" })
    }
}
