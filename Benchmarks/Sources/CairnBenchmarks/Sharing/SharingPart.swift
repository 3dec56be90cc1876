// What one of several processes does to the store that they share, and what became of all of them.

import Foundation

/// The commits of one process.
struct SharingPart: Codable, Sendable {
    /// Microseconds of each commit.
    var microseconds: [Float] = []
    var seconds = 0.0

    /// Rows that all processes change, and those that are each one's own.
    private static let shared = 100
    private static let own = 1000

    static func rows(for processes: Int) -> Int { shared + own * processes }

    static func measure(_ store: any Peer, _ number: Int, start: Double, seconds: Double) throws
        -> SharingPart
    {
        var random = SplitMix64(state: UInt64(number + 1))
        let ownRows = Product.rows(shared + own * number..<shared + own * (number + 1))
        let sharedRows = Product.rows(0..<shared)
        // The first use of everything is not measured.
        try store.upsert(ownRows[..<1])
        while Date.now.timeIntervalSince1970 < start { usleep(100) }
        var part = SharingPart()
        let clock = ContinuousClock()
        let begin = clock.now
        let end = begin + .seconds(seconds)
        var last = begin
        while last < end {
            let isShared = random.next() % 4 == 0
            let rows = isShared ? sharedRows : ownRows
            let index = Int(random.next() % UInt64(rows.count))
            var row = rows[index]
            row.quantity = Int64(truncatingIfNeeded: random.next() >> 40)
            try store.upsert([row][...])
            let now = clock.now
            part.microseconds.append(Float((now - last).seconds * 1e6))
            last = now
        }
        part.seconds = (last - begin).seconds
        return part
    }
}

/// What all processes did together.
struct SharingFigures {
    let perSecond: Double
    let median: Float
    let slow: Float
    /// Commits of the most served process for each of the least served.
    let spread: Double

    init(_ parts: [SharingPart]) {
        let all = parts.flatMap(\.microseconds).sorted()
        perSecond = parts.reduce(0) { $0 + Double($1.microseconds.count) / $1.seconds }
        median = all.isEmpty ? 0 : all[all.count / 2]
        slow = all.isEmpty ? 0 : all[min(all.count - 1, all.count * 99 / 100)]
        let counts = parts.map { Double($0.microseconds.count) / $0.seconds }
        spread = (counts.max() ?? 0) / max(counts.min() ?? 0, 1e-9)
    }

    func line(_ peer: String, processes: Int, base: Double?) -> String {
        let ratio = base.map { String(format: "%6.2fx", perSecond / $0) } ?? ""
        return String(format: "  %2d processes  ", processes)
            + peer.padding(toLength: 14, withPad: " ", startingAt: 0)
            + String(
                format: "%10.0f /s %@  median %9.0f us  99 %% %9.0f us  most : least %5.2f",
                perSecond, ratio, median, slow, spread)
    }
}
