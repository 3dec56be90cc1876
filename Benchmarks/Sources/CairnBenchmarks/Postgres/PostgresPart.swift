// What is measured of stores in a PostgreSQL database, and of whom.

import ArgumentParser
import Foundation

enum PostgresPeer: String, CaseIterable, ExpressibleByArgument {
    case hand, cairn, orm

    var settings: String {
        switch self {
        case .hand:
            """
            libpq by hand: COPY (binary) into a temporary table and INSERT … ON CONFLICT DO UPDATE; prepared statements with \
            binary results into structs; a save of many is UPDATE … FROM unnest, a small one UPDATE with a check of the version
            """
        case .cairn:
            """
            CairnPostgres, default options: a batch insert by typed columns; objects of typed classes in a context, every \
            attribute touched; saves of a context
            """
        case .orm:
            """
            SQLAlchemy's ORM over psycopg: bulk inserts of 10,000 rows in one transaction, with ON CONFLICT DO UPDATE for the \
            second; objects of a session, every attribute touched; commits of a session
            """
        }
    }
}

enum PostgresPart: String, CaseIterable, ExpressibleByArgument {
    case load, reload, fetch, saves, single

    /// How many objects a save of many changes.
    static let changed = 1000
    /// How many saves there are, of many objects and of one.
    static let manySaves = 20
    static let singleSaves = 1000

    func title(rows: Int, objects: Int) -> String {
        switch self {
        case .load: "import of \(TextReport.grouped(rows)) rows with a unique key, all new"
        case .reload: "the same rows again with other values: all of them are updated"
        case .fetch: "\(TextReport.grouped(objects)) objects fetched, every attribute read"
        case .saves: "saves of \(Self.changed) changed objects each: time per save"
        case .single: "saves of one changed object each: time per save"
        }
    }
}

/// A part, where and of how much.
struct PostgresTask {
    let url: String
    let part: PostgresPart
    let rows: Int
    let objects: Int
    let round: Int

    /// The rows that are imported: others in each round, the second time.
    func product(_ row: Product) -> Product {
        guard part == .reload else { return row }
        var row = row.changed
        row.quantity += Int64(round)
        return row
    }
}

/// What a part took.
struct PostgresFigures: Codable {
    var seconds = 0.0
    /// What was done so many times.
    var count = 0
    /// Peak resident memory, above what there was before.
    var peakKiB = 0

    /// Measures a closure.
    static func measure(count: Int, _ body: () throws -> Void) rethrows -> PostgresFigures {
        let before = ProcessFigures.resident
        ProcessFigures.resetPeak()
        let start = ContinuousClock.now
        try body()
        let seconds = (ContinuousClock.now - start).seconds
        return PostgresFigures(
            seconds: seconds, count: count, peakKiB: max(0, ProcessFigures.peak - before))
    }

    static func median(_ figures: [PostgresFigures]) -> PostgresFigures? {
        let sorted = figures.sorted { $0.seconds < $1.seconds }
        return sorted.isEmpty ? nil : sorted[sorted.count / 2]
    }

    /// - Parameter base: what the time is held against.
    func line(_ peer: PostgresPeer, _ part: PostgresPart, base: PostgresFigures?) -> String {
        let each = seconds / Double(max(1, count))
        let rate = String(format: "%10.0f /s", 1 / max(each, 1e-12))
        let time =
            part == .saves || part == .single
            ? TextReport.text(each, .seconds) : TextReport.text(seconds, .seconds)
        let memory = "\(peakKiB / 1024) MiB"
        let ratio = base.map {
            "   " + String(format: "%.2f", $0.seconds / $0.countedOnce / (seconds / countedOnce))
                + " x as fast as hand-written libpq"
        }
        return "  " + peer.rawValue.padding(toLength: 6, withPad: " ", startingAt: 0)
            + String(repeating: " ", count: max(0, 10 - time.count)) + time + rate
            + String(repeating: " ", count: max(0, 10 - memory.count)) + memory + (ratio ?? "")
    }

    private var countedOnce: Double { Double(max(1, count)) }
}
