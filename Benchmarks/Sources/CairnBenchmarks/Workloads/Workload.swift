// What is measured: a name, what a run starts from, the work itself, and what is read off a run.

/// One piece of work that every peer does in the same way.
struct Workload: Sendable {
    /// What is there when a run starts.
    enum Start: Sendable {
        case nothing
        /// The rows, written ten thousand a transaction.
        case rows
        /// The same with keys that can be read in their order.
        case orderedRows
        /// The same with an index on the price and one on the time of the update.
        case indexedRows
        /// Parents with ten children each, as many children as there are rows.
        case families
    }

    enum Work: Sendable {
        case peer(@Sendable (Job) throws -> Outcome)
        /// What the machine can do at most with the same bytes.
        case machine(@Sendable (Job) throws -> Outcome)
    }

    let name: String
    let title: String
    var start = Start.rows
    /// The indexes that products have.
    var indexes = Indexes.keys
    /// Whether the run changes what it starts from, and so needs a copy.
    var changes = false
    /// The greatest number of rows at which it is run: what it is given has to fit into memory.
    var most = Int.max
    /// What is read off a run; the first is the figure that the workload is about.
    var metrics = [Metric.time("row")]
    let work: Work

    init(
        _ name: String, _ title: String, start: Start = .rows, changes: Bool = false,
        most: Int = .max, metrics: [Metric] = [.time("row")],
        work: @escaping @Sendable (Job) throws -> Outcome
    ) {
        self.most = most
        self.name = name
        self.title = title
        self.start = start
        indexes =
            switch start {
            case .orderedRows: .orderedKeys
            case .indexedRows: .columns
            default: .keys
            }
        self.changes = changes
        self.metrics = metrics
        self.work = .peer(work)
    }

    /// A limit of the machine.
    init(limit name: String, _ title: String, work: @escaping @Sendable (Job) throws -> Outcome) {
        self.name = name
        self.title = title
        start = .nothing
        self.work = .machine(work)
    }
}

/// A figure of a run; less is better in all of them.
struct Metric: Sendable {
    enum Unit: String, Sendable, Codable {
        case seconds, bytes, mebibytes, factor
    }

    /// Appended to the workload's title; empty for the first.
    let title: String
    let unit: Unit
    let value: @Sendable (Outcome) -> Double

    /// Seconds for each row, or whatever is counted.
    static func time(_ what: String) -> Metric {
        Metric(title: "per \(what)", unit: .seconds) { $0.seconds / Double(max(1, $0.operations)) }
    }

    static let size = Metric(title: "size of the closed store per row", unit: .bytes) {
        Double($0.diskBytes) / Double(max(1, $0.operations))
    }
    static let memory = peak("peak memory above the given rows'")
    static let readingMemory = peak("peak memory of reading the first time, mapped files included")

    private static func peak(_ title: String) -> Metric {
        Metric(title: title, unit: .mebibytes) { Double($0.peakKiB) / 1024 }
    }

    static let written = Metric(
        title: "bytes written per byte of data, with closing", unit: .factor
    ) {
        Double($0.writtenBytes) / Double(max(1, $0.dataBytes))
    }

    /// A figure that the workload told itself.
    static func extra(_ name: String, _ title: String, _ unit: Unit) -> Metric {
        Metric(title: title, unit: unit) { $0.extra[name] ?? 0 }
    }
}

/// What one run told.
struct Outcome: Codable, Sendable {
    var seconds = 0.0
    /// Rows, requests or commits that the seconds were for.
    var operations = 0
    /// What was found: the same for every peer.
    var check = ""
    /// Peak resident memory of the work, above what there was before it.
    var peakKiB = 0
    /// What the process had written to a disk since before the work, until after closing.
    var writtenBytes = 0
    /// What the rows had to say.
    var dataBytes = 0
    /// The files after closing.
    var diskBytes = 0
    var extra: [String: Double] = [:]
}

/// One run.
struct Job: Sendable {
    let peer: any Peer.Type
    let rows: Int
    let folder: String
    var indexes = Indexes.keys

    func open(_ durability: Durability = .relaxed) throws -> any Peer {
        try peer.init(at: folder, durability: durability, indexes: indexes)
    }

    /// Does the work under the clock; what it is for comes before and after.
    func measure(_ operations: Int, _ work: () throws -> Void) rethrows -> Outcome {
        var outcome = Outcome(operations: operations)
        let written = ProcessFigures.written
        ProcessFigures.resetPeak()
        let before = ProcessFigures.resident
        outcome.seconds = try seconds(work)
        outcome.peakKiB = max(0, ProcessFigures.peak - before)
        // Closing writes too: the run adds what there is at its end.
        outcome.writtenBytes = -written
        return outcome
    }

    /// Seconds that a closure takes.
    func seconds(_ work: () throws -> Void) rethrows -> Double {
        let start = ContinuousClock.now
        try work()
        return (ContinuousClock.now - start).seconds
    }
}

extension Outcome {
    /// Looks at everything that is stored, so that peers can be compared, and closes the store.
    mutating func finish(_ peer: any Peer, _ job: Job, writing rows: [Product] = []) throws {
        var tally = Tally()
        try peer.every { tally.addFully($0) }
        check += check.isEmpty ? tally.text : " \(tally.text)"
        try peer.close()
        dataBytes = rows.reduce(0) { $0 + $1.bytes }
    }
}

extension Duration {
    /// The same as a number of seconds.
    var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
