// Events as lines for people.
//
//   cairn: fetch Recipe sorted by title: 200 objects in 0.412 ms
//   cairn: [list] fault Type 3: 1 row in 0.015 ms
//
// Threads: any; each event is one call of whoever takes the lines.

import CairnModel

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Logs what contexts do, one line per event.
///
/// ```swift
/// container.instruments = [TraceInstrument(level: .requests)]
/// ```
///
/// Containers that are created while the environment variable `CAIRN_DEBUG` is 1, 2 or 3 start with one of that level,
/// which writes to standard error.
public struct TraceInstrument: Instrument {
    /// How much to log.
    public enum Level: Int, Sendable, Hashable, CaseIterable, Comparable {
        /// Requests, saves and advice, with times and numbers of rows. No values of objects.
        case requests = 1
        /// Also the values that predicates compare with, whole error messages, and faults that queried the store.
        case values = 2
        /// Also query plans: estimated and examined rows, blocks read and skipped. Each plan executes the fetch again,
        /// which takes as long as the fetch itself.
        case plans = 3

        /// Whether the left level logs less.
        public static func < (left: Level, right: Level) -> Bool { left.rawValue < right.rawValue }
    }

    /// How much to log.
    public let level: Level
    private let take: @Sendable (String) -> Void

    /// Creates a trace.
    ///
    /// - Parameter take: receives the lines of an event, joined by line feeds, without a trailing one; called on any
    ///   thread. Nil: they are written to standard error.
    public init(level: Level = .requests, to take: (@Sendable (String) -> Void)? = nil) {
        self.level = level
        self.take = take ?? Self.writeToStandardError
    }

    /// Creates the trace that the environment variable `CAIRN_DEBUG` requests; nil if it requests none. Numbers above 3
    /// mean 3.
    public init?(
        environment: [String: String], to take: (@Sendable (String) -> Void)? = nil
    ) {
        guard let number = environment["CAIRN_DEBUG"].flatMap({ Int($0) }), number > 0,
            let level = Level(rawValue: min(number, 3))
        else { return nil }
        self.init(level: level, to: take)
    }

    /// What the environment of the process asks for. The whole of it takes longer to read than many a fetch.
    package static let ofEnvironment: [any Instrument] = {
        guard let value = getenv("CAIRN_DEBUG") else { return [] }
        return TraceInstrument(environment: ["CAIRN_DEBUG": String(cString: value)]).map { [$0] }
            ?? []
    }()

    private static let writeToStandardError: @Sendable (String) -> Void = { lines in
        var text = lines + "\n"
        // One call, so that what other threads write does not come between. Nobody can be told if it fails.
        _ = text.withUTF8 { write(STDERR_FILENO, $0.baseAddress, $0.count) }
    }

    /// Faults only if they are logged; advice always.
    public var interests: StoreEventKinds {
        let always: StoreEventKinds = [.fetches, .saves, .batches, .refreshes, .advice]
        return level >= .values ? always.union(.faultMisses) : always
    }

    /// Logs an event.
    public func receive(_ event: StoreEvent) { take(text(of: event)) }

    // MARK: Lines

    /// The lines of an event.
    func text(of event: StoreEvent) -> String {
        switch event {
        case .fetch(let event): fetch(event)
        case .fault(let event): fault(event)
        case .save(let event): save(event)
        case .batch(let event): batch(event)
        case .refresh(let event):
            line(
                event.contextName, "refresh", count(event.count, "object", "objects"),
                event.duration, nil)
        case .advice(let advice): "\(start(advice.contextName))advice: \(advice.sentence)"
        }
    }

    private func fetch(_ event: FetchEvent) -> String {
        let request = event.request.text(showsValues: level >= .values)
        let (verb, found) =
            switch event.kind {
            case .objects: ("fetch \(request)", count(event.count, "object", "objects"))
            case .objectIDs: ("fetch ids of \(request)", count(event.count, "id", "ids"))
            case .count: ("count \(request)", "\(event.count)")
            case .values: ("fetch \(request)", count(event.count, "row", "rows"))
            case .batch:
                ("fetch a batch of \(event.request.entity)", count(event.count, "row", "rows"))
            case .prefetch:
                (
                    "prefetch \(event.request.entity).\(event.keyPath ?? "")",
                    count(event.count, "row", "rows")
                )
            }
        let beside = event.isAsynchronous ? " in the background" : ""
        let line = line(
            event.contextName, verb + beside, found, event.duration, event.error)
        guard level >= .plans, let plan = plan(event) else { return line }
        return line + "\n" + plan
    }

    /// The plan, indented.
    private func plan(_ event: FetchEvent) -> String? {
        let plan: QueryPlan
        do throws(StoreError) {
            guard let found = try event.plan() else { return nil }
            plan = found
        } catch {
            return "  no plan: \(error)"
        }
        let lines = [
            plan.steps,
            "estimated \(plan.estimatedRows) of \(plan.allRows) rows; \(plan.rowsLooked) examined",
            "\(plan.blocksRead) blocks read, \(plan.blocksSkipped) skipped",
        ]
        return lines.joined(separator: "\n").split(separator: "\n").map { "  \($0)" }
            .joined(separator: "\n")
    }

    private func fault(_ event: FaultEvent) -> String {
        let number = event.objectID.reference
        if let relationship = event.relationship {
            return line(
                event.contextName, "fault \(event.entity).\(relationship) of \(number)",
                count(event.count, "member", "members"), event.duration, event.error)
        }
        return line(
            event.contextName, "fault \(event.entity) \(number)", count(event.count, "row", "rows"),
            event.duration, event.error)
    }

    private func save(_ event: SaveEvent) -> String {
        var parts = [
            "\(event.inserted) inserted", "\(event.updated) updated", "\(event.deleted) deleted",
        ]
        if event.memberChanges > 0 { parts.append("\(event.memberChanges) members changed") }
        if event.absorbed > 0 { parts.append("\(event.absorbed) absorbed") }
        if event.conflicts > 0 { parts.append("\(event.conflicts) conflicts") }
        return line(
            event.contextName, "save", parts.joined(separator: ", "), event.duration, event.error)
    }

    private func batch(_ event: BatchEvent) -> String {
        let done =
            switch event.kind {
            case .insert:
                "\(event.inserted) inserted, \(event.updated) updated, \(event.deleted) deleted"
            case .update: "\(event.updated) updated"
            case .delete: "\(event.deleted) deleted"
            }
        return line(
            event.contextName, "batch \(event.kind.rawValue) \(event.entity)", done, event.duration,
            event.error)
    }

    private func start(_ contextName: String?) -> String {
        contextName.map { "cairn: [\($0)] " } ?? "cairn: "
    }

    private func line(
        _ contextName: String?, _ verb: String, _ found: String, _ duration: Duration,
        _ error: (any Error)?
    ) -> String {
        let what = error.map { "failed, \(words($0))" } ?? found
        return "\(start(contextName))\(verb): \(what) in \(duration.milliseconds) ms"
    }

    /// An error, on one line; all that is known of it has values in it.
    private func words(_ error: any Error) -> String {
        if level >= .values {
            let text = (error as? StoreError)?.fullDescription ?? "\(error)"
            return text.split(separator: "\n").map { $0.drop { $0 == " " } }
                .joined(separator: "; ")
        }
        return (error as? StoreError).map { "error \($0.code)" } ?? "\(type(of: error))"
    }

    private func count(_ count: Int, _ one: String, _ many: String) -> String {
        "\(count) \(count == 1 ? one : many)"
    }
}

extension Duration {
    /// Milliseconds with three digits behind the point.
    package var milliseconds: String {
        let microseconds = nanoseconds / 1000
        return "\(microseconds / 1000).\(String(1000 + microseconds % 1000).dropFirst())"
    }

    /// Whole nanoseconds.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
