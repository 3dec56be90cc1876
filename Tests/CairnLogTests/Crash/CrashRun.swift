// A store on a simulated disk, used step by step, with what it promises kept beside every call.
//
//   texts      the content after each step, the first after opening
//   promise    which of them a crash may leave: before each call it is said anew
//
// Threads: one.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import SystemPackage

@testable import CairnLog

/// Which of a run's contents may be found after a crash. -1: none of this run's own is promised yet.
struct Promise: Sendable {
    /// The oldest one after a power cut: everything before it was durable.
    var durable = -1
    /// The oldest one after the end of the process: everything before it was published.
    var published = -1
    /// The newest one: it was begun.
    var begun = -1
}

/// What is to be done, and how large things are meanwhile.
struct Workload: Sendable, CustomStringConvertible {
    var operations: [StoreOperation]
    var durability = LogStoreOptions.Durability.full
    var sizes = StoreSizes()
    var cacheBytes = 1 << 20
    /// Whether the store keeps a history.
    var tracksHistory = false
    /// Whether the store keeps past states.
    var keepsPast = false
    /// Syncs that do nothing: tests of the tests.
    var lyingSites: Set<SyncSite> = []
    var checksOrder = true
    /// Told apart from other workloads' rows.
    var firstStep = 0

    var description: String {
        "\(operations.map(\.rawValue).joined(separator: ", ")) (\(durability), segments of \(sizes.segmentBytes), zeros \(sizes.fillBytes), blocks of \(sizes.rowsPerBlock), checkpoints every \(sizes.checkpointBytes) and \(sizes.closingCheckpointBytes) at close, buffer \(sizes.writeBufferBytes), hashes of \(sizes.hashBits) bits\(tracksHistory ? ", with a history" : "")\(keepsPast ? ", with past states" : ""))"
    }

    /// Operations on a store whose sizes and durability are chosen at random.
    init(_ operations: [StoreOperation], _ random: inout RandomSource) {
        self.operations = operations
        sizes = Self.sizes(&random)
        durability = LogStoreOptions.Durability.allCases.randomElement(using: &random)!
        cacheBytes = [0, 1 << 20].randomElement(using: &random)!
        tracksHistory = random.oneIn(2)
        keepsPast = random.oneIn(3)
    }

    init(operations: [StoreOperation]) { self.operations = operations }

    /// The operations of one of all workloads of three.
    static func triple(_ number: Int) -> [StoreOperation] {
        let all = StoreOperation.allCases
        return [
            all[number / (all.count * all.count)], all[number / all.count % all.count],
            all[number % all.count],
        ]
    }

    /// How many such workloads there are.
    static var tripleCount: Int {
        StoreOperation.allCases.count * StoreOperation.allCases.count
            * StoreOperation.allCases.count
    }

    /// Sizes so small that everything rare happens.
    static func sizes(_ random: inout RandomSource) -> StoreSizes {
        var sizes = StoreSizes()
        sizes.segmentBytes = [5200, 6500, 1 << 30].randomElement(using: &random)!
        sizes.fillBytes = [0, 700, 2000].randomElement(using: &random)!
        sizes.mostFillBytes = 4000
        sizes.rowsPerBlock = [4, 16].randomElement(using: &random)!
        sizes.mergedBlocks = [2, 4].randomElement(using: &random)!
        sizes.largeValueBytes = 100
        sizes.writeBufferBytes = [300, 4 << 20].randomElement(using: &random)!
        sizes.checkpointBytes = [500, 64 << 20].randomElement(using: &random)!
        sizes.closingCheckpointBytes = [1, 1 << 20].randomElement(using: &random)!
        sizes.compactionFloor = [600, 8 << 20].randomElement(using: &random)!
        sizes.askedCompactionFloor = 1
        sizes.compactionBlocks = [1, 32].randomElement(using: &random)!
        sizes.largestSegmentBytes = [20_000, 1 << 30].randomElement(using: &random)!
        sizes.hashBits = [4, 32].randomElement(using: &random)!
        return sizes
    }
}

final class CrashRun {
    let disk: SimulatedDisk
    private let workload: Workload
    private(set) var scheduler = ManualScheduler()
    private(set) var store: LogStore?
    private(set) var texts: [String] = []
    /// What it held after commits, if past states are kept.
    var pasts = PastContents()

    init(_ state: DiskState, _ workload: Workload, seed: UInt64) {
        disk = SimulatedDisk(state, seed: seed)
        self.workload = workload
        disk.with {
            $0.lyingSites = workload.lyingSites
            $0.checksOrder = workload.checksOrder
        }
    }

    // MARK: Steps

    /// Opens the store, and keeps what it holds as the newest content.
    func open() throws {
        scheduler = ManualScheduler()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.clock = ManualClock(800_000_000)
        options.storeIdentifier = StoreOperation.identifier
        options.durability = workload.durability
        options.sizes = workload.sizes
        options.cacheBytes = workload.cacheBytes
        options.historyProcess = (1, "campaign")
        if workload.tracksHistory { options.persistentHistoryTracking = true }
        if workload.keepsPast { options.pastStates = .all }
        let scheduler = scheduler
        options.makeScheduler = { scheduler }
        let store = try LogStore.open(
            at: "/store", schema: StoreOperation.schema, options: options)
        self.store = store
        try finish(isDurable: true)
    }

    /// Carries out one operation.
    func perform(_ operation: StoreOperation, step: Int) throws {
        if operation == .reopen {
            try close()
            try open()
            return
        }
        guard let store else { preconditionFailure("the store is open") }
        let next = texts.count
        disk.with { $0.promise.begun = next }
        try operation.perform(store, scheduler, step: step)
        // What runs beside the committers tells of its failures later.
        try finish(isDurable: operation.isDurable(workload.durability) && !isPoisoned)
    }

    func close() throws {
        guard let store else { return }
        self.store = nil
        try store.close()
        let last = texts.count - 1
        disk.with { $0.promise.durable = last }
    }

    /// What the store holds now.
    func text() throws -> String {
        guard let store else { preconditionFailure("the store is open") }
        disk.with { $0.isWatched = true }
        defer { disk.with { $0.isWatched = false } }
        return try SampleStore.text(store)
            + HistoryText.lines(store).joined(separator: "\n")
    }

    /// Whether a failure forbids writing.
    var isPoisoned: Bool { store?.engine.queue.cause != nil }

    /// What is wrong with the past states that are kept.
    func pastProblems(_ random: inout RandomSource) throws -> [String] {
        guard let store, workload.keepsPast else { return [] }
        disk.with { $0.isWatched = true }
        defer { disk.with { $0.isWatched = false } }
        pasts.cut(to: try store.snapshot().commit)
        return try pasts.problems(store, &random)
    }

    private func finish(isDurable: Bool) throws {
        texts.append(try text())
        if let store, workload.keepsPast {
            disk.with { $0.isWatched = true }
            defer { disk.with { $0.isWatched = false } }
            try pasts.note(store)
        }
        let last = texts.count - 1
        disk.with {
            $0.promise.published = last
            $0.promise.begun = last
            if isDurable { $0.promise.durable = last }
        }
    }
}
