// Random work of a writer that crashes now and then, and readers that refresh at random moments.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Following a writer, at random")
struct RandomFollowingTests {
    @Test("At each commit a reader has what the writer had, and snapshots stay (FR1, FR3)")
    func random() throws {
        try Rounds.run("followed writers", everyDay: 8, whole: 20_000) { random in
            var run = FollowingRun(&random)
            try run.carryOut(steps: 30)
            #expect(run.problems == [], "seed \(random.seed)")
        }
    }
}

/// A writer and its readers for some steps.
private struct FollowingRun {
    private struct Follower {
        let store: LogStore
        var held: [(snapshot: LogSnapshot, text: String)] = []
        var commit: UInt64 = 0
    }

    private let base = MemoryFileSystem()
    private var disk: FaultInjectingFileSystem
    private let workload: Workload
    private var random: RandomSource
    private var scheduler = ManualScheduler()
    private var writer: LogStore?
    private var followers: [Follower] = []
    /// What the writer held after a step, by its last commit: commits within a step change nothing, but for the
    /// first or last of them.
    private var texts: [(commit: UInt64, text: String)] = []
    private(set) var problems: [String] = []

    init(_ random: inout RandomSource) {
        workload = Workload([], &random)
        self.random = RandomSource(seed: random.next())
        disk = FaultInjectingFileSystem(over: base)
    }

    mutating func carryOut(steps: Int) throws {
        try open()
        for step in 0..<steps {
            if random.oneIn(12) {
                disk.crash(atMutation: disk.mutationCount + Int(random.next() % 12))
            }
            do {
                try perform(step)
            } catch {
                guard disk.hasCrashed else { throw error }
            }
            if disk.hasCrashed { try crash() }
            try refreshSome(step)
            if !problems.isEmpty { return }
        }
        disk.clearFaults()
        try writer?.close()
        for index in followers.indices {
            try refresh(index)
            guard let last = texts.last else { return }
            if followers[index].commit != last.commit { problems.append("a reader lags behind") }
            let findings = try followers[index].store.check().findings
            if !findings.isEmpty { problems.append("\(findings)") }
            problems += followers[index].store.engine.registry._checkInvariants()
            try followers[index].store.close()
        }
    }

    // MARK: The writer

    private mutating func open() throws {
        scheduler = ManualScheduler()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.durability = workload.durability
        options.sizes = workload.sizes
        let scheduler = scheduler
        options.makeScheduler = { scheduler }
        let store = try LogStore.open(
            at: "/store", schema: StoreOperation.schema, options: options)
        writer = store
        try note()
        if texts.count == 1 {
            try StoreOperation.insert(store, ["a0": 100, "a1": 1])
            try note()
        }
    }

    private mutating func note() throws {
        guard let writer else { return }
        texts.append((try writer.snapshot().commit, try SampleStore.text(writer)))
    }

    private mutating func perform(_ step: Int) throws {
        guard let store = writer else { return }
        let operation = StoreOperation.allCases.randomElement(using: &random)!
        if operation == .reopen {
            try store.close()
            try open()
        } else {
            try operation.perform(store, scheduler, step: step)
            try note()
        }
    }

    private mutating func crash() throws {
        try? writer?.close()
        writer = nil
        disk = FaultInjectingFileSystem(over: base)
        try open()
    }

    // MARK: Readers

    private mutating func refreshSome(_ step: Int) throws {
        if followers.count < 3, random.oneIn(4) {
            let options = FollowingStores.reading(
                followers.count == 1 ? FaultInjectingFileSystem(over: base) : base)
            // Those on the same disk share an engine, and one that is closed begins anew.
            followers.append(Follower(store: try LogStore.open(at: "/store", options: options)))
            try look(followers.count - 1)
        }
        for index in followers.indices where random.oneIn(3) {
            try refresh(index)
            switch random.next() % 8 {
            case 0:
                let store = followers[index].store
                guard let snapshot = try store.snapshot() as? LogSnapshot else { break }
                followers[index].held.append(
                    (snapshot, try FollowingStores.text(snapshot, of: store)))
            case 1 where !followers[index].held.isEmpty: followers[index].held.removeFirst()
            default: break
            }
        }
    }

    private mutating func refresh(_ index: Int) throws {
        _ = try followers[index].store.refresh()
        try look(index)
        for (snapshot, text) in followers[index].held
        where try FollowingStores.text(snapshot, of: followers[index].store) != text {
            problems.append("the snapshot of commit \(snapshot.commit) has changed")
        }
    }

    private mutating func look(_ index: Int) throws {
        let store = followers[index].store
        let commit = try store.snapshot().commit
        if commit < followers[index].commit { problems.append("a commit has vanished") }
        followers[index].commit = commit
        guard let expected = texts.first(where: { $0.commit >= commit }) else {
            problems.append("commit \(commit), which nobody made")
            return
        }
        if try SampleStore.text(store) != expected.text {
            problems.append("commit \(commit) is not what the writer had")
        }
    }
}
