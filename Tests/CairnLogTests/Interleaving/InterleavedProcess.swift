// One of several simulated processes: opens the store, works, looks, dies, and begins anew.
//
// It has one thread. What a real one does on threads of its own, looks at the lease, syncs of groups, zeros ahead, checkpoints,
// compaction, following, is done by that thread between its own steps, one task at a time.
//
// Nothing waits for a time: who does not get the lease at once is told so, and comes again.
//
// Threads: one.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import SystemPackage

@testable import CairnLog

final class InterleavedProcess {
    private enum Step: CaseIterable {
        case work, tasks, synchronize, checkpoint, compact, trimHistory, purgePast, reopen, refresh,
            look, giveBack
    }

    private let number: Int
    private let world: InterleavedWorld
    private var random: RandomSource
    private var disk: InterleavedDisk
    private var scheduler = ManualScheduler()
    /// Its own, as a process has it.
    private var registry = EngineRegistry()
    private var store: LogStore?
    /// The newest commit that it has seen since it opened the store.
    private var commit: UInt64 = 0
    /// Whether it had the lease after its last step.
    private var hadLease = false

    /// Up to where the store was read when nobody wrote to it.
    private var lastUnsure: UInt64 = 0

    /// What a look is to find that begins now, if nobody dies before it ends: he may be writing the mark.
    private struct Told {
        let commit: UInt64
        let ends: Int

        init(_ world: InterleavedWorld) {
            commit = world.oracle.told
            ends = world.deaths + world.cuts
        }

        func problem(_ store: LogStore, _ world: InterleavedWorld) -> String? {
            guard store.lastCommit < commit, ends == world.deaths + world.cuts else { return nil }
            return "it is at commit \(store.lastCommit), and does not find \(commit)"
        }
    }

    init(_ number: Int, _ world: InterleavedWorld, seed: UInt64) {
        self.number = number
        self.world = world
        random = RandomSource(seed: seed)
        disk = world.begin(number)
    }

    /// Does so many steps, and closes the store.
    func run(steps: Int) {
        for _ in 0..<steps where world.problems.isEmpty {
            attempt { try step() }
        }
        var attempts = 0
        while store != nil, attempts < 3, world.problems.isEmpty {
            disk.spare()
            attempt { try close() }
            attempts += 1
        }
        // What is left is left to its end.
        if store != nil { bury(isEnd: true) }
    }

    /// Makes the store with a few objects in it, before anybody else comes.
    func populate() throws {
        try open(mayOnlyRead: false)
        guard let store else { return }
        for _ in 0..<3 { try work(store) }
        try close()
    }

    /// What the store holds in the end, for whoever has it alone.
    func finish() throws {
        try open(mayOnlyRead: false)
        guard let store else { return world.find("nobody can open the store in the end") }
        try alone(store) { _ in }
        try note(hasCommitted: false, looks: true)
        let findings = try store.check().findings
        if !findings.isEmpty { world.find("\(findings)") }
        try close()
    }

    // MARK: Steps

    /// Does something; whoever dies of it begins anew, and who is refused lets others go on.
    private func attempt(_ body: () throws -> Void) {
        do {
            try body()
        } catch {
            if !disk.isDead {
                guard let error = error as? StoreError, error.code == .storeInUse else {
                    return world.find("process \(number): \(error)")
                }
                world.tell("\(number) is refused: \(error.message)")
                world.noteRefusal()
                world.oracle.forget(number)
                world.interleaving.rest(number)
            }
        }
        if disk.isDead { bury() }
    }

    private func step() throws {
        if random.oneIn(18) {
            disk.kill(
                afterMutations: Int.random(in: 1...14, using: &random),
                writing: random.oneIn(2) ? 0 : Int.random(in: 1...600, using: &random))
        } else if random.oneIn(30) {
            disk.kill(afterCalls: Int.random(in: 0...60, using: &random))
        }
        guard let store else { return try open() }
        let step = nextStep(store)
        if step != .work { world.tell("\(number): \(step)") }
        switch step {
        case .work: return try work(store)
        case .tasks: return try runTasks()
        case .synchronize: try store.synchronize()
        case .checkpoint: try store.engine.takeCheckpoint()
        case .compact: _ = try store.compact()
        case .trimHistory: try StoreOperation.trimHistory.perform(store, scheduler, step: 0)
        case .purgePast: try StoreOperation.purgePast.perform(store, scheduler, step: 0)
        case .reopen:
            try close()
            return try open()
        case .refresh:
            let told = Told(world)
            _ = try store.refresh()
            check(told.problem(store, world))
        case .look: return try look(store)
        case .giveBack: giveBack(store)
        }
        if disk.isDead { return }
        if step == .synchronize || step == .checkpoint { world.oracle.assure(store.lastCommit) }
        try note(hasCommitted: false, looks: random.oneIn(3))
    }

    private func nextStep(_ store: LogStore) -> Step {
        if store.isReadOnly {
            return [.tasks, .refresh, .look, .look, .reopen].randomElement(using: &random)!
        }
        switch random.next() % 20 {
        case 0...8: return .work
        case 9...13: return .tasks
        default: return Step.allCases.randomElement(using: &random)!
        }
    }

    private func work(_ store: LogStore) throws {
        let isAlone = random.oneIn(3)
        let before = store.engine.writes.total(compacted: 0).commits
        func perform() throws {
            let work = try SharedWork(
                world.nextStamp(), number, store, isAlone: isAlone, using: &random)
            world.tell("\(work)")
            world.oracle.begin(work)
            try work.perform(store, scheduler)
        }
        let hadLease = store.engine.lease.isHeld
        if isAlone { try alone(store) { _ in try perform() } } else { try perform() }
        // A call that failed may have been one whose failure costs nothing.
        if disk.isDead { return }
        let hasCommitted = store.engine.writes.total(compacted: 0).commits != before
        if hasCommitted {
            if let problem = world.oracle.end(number, at: store.lastCommit) { world.find(problem) }
            // What the lease was taken with is on the disk.
            if !hadLease, store.lastCommit > 0 { world.oracle.assure(store.lastCommit - 1) }
        } else {
            world.oracle.forget(number)
        }
        try note(hasCommitted: hasCommitted, looks: random.oneIn(2))
    }

    /// Does something that nobody else commits before the end of.
    private func alone(_ store: LogStore, _ body: (LogStore) throws -> Void) throws {
        try store.whileAloneInWriting { try body(store) }
    }

    private func runTasks() throws {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            guard scheduler.runAny(using: &random), !disk.isDead else { return }
            try note(hasCommitted: false, looks: random.oneIn(6))
        }
    }

    /// Reads all that it sees, while the others go on.
    private func look(_ store: LogStore) throws {
        let (commit, lease) = (store.lastCommit, store.engine.lease.isHeld)
        let text = try text(store)
        let content = try NaiveStore(store)
        if disk.isDead { return }
        check(world.oracle.look(at: commit, content, text, hasLease: lease))
    }

    /// Lets others append, as its own looks would.
    private func giveBack(_ store: LogStore) {
        let engine = store.engine
        engine.withTurnAnyway { turn in
            if engine.lease.isHeld { engine.giveLeaseBack(&turn) }
        }
    }

    // MARK: Opening and closing

    private func open(mayOnlyRead: Bool = true) throws {
        var options = LogStoreOptions()
        options.isReadOnly = mayOnlyRead && random.oneIn(8)
        options.fileSystem = disk
        options.clock = ManualClock(800_000_000)
        options.storeIdentifier = StoreOperation.identifier
        options.durability = LogStoreOptions.Durability.allCases.randomElement(using: &random)!
        options.sizes = world.workload.sizes
        options.cacheBytes = world.workload.cacheBytes
        options.historyProcess = (UInt32(number), "campaign")
        options.process = number
        options.timeout = 0
        options.scanThreads = 1
        scheduler = ManualScheduler()
        registry = EngineRegistry()
        let scheduler = scheduler
        options.makeScheduler = { scheduler }
        let told = Told(world)
        hadLease = false
        world.tell("\(number) opens, \(options.isReadOnly ? "to read" : "\(options.durability)")")
        let isMade = world.oracle.newest > 0
        let engine: Engine
        do {
            engine = try registry.open(
                "/store", schema: StoreOperation.schema, options: options)
        } catch {
            // Who only reads needs a store that is there.
            guard options.isReadOnly, error.code == .openFailed, !isMade else {
                throw error
            }
            return
        }
        let store = LogStore(borrowing: engine)
        self.store = store
        commit = 0
        if disk.isDead { return }
        world.tell("\(number) has opened at \(store.lastCommit), lease: \(engine.lease.isHeld)")
        check(told.problem(store, world))
        // What is found at opening is on the disk, but for what a reader finds when nobody writes.
        if options.isReadOnly { lastUnsure = store.lastCommit } else { lastUnsure = 0 }
        if !options.isReadOnly { world.oracle.assure(store.lastCommit) }
        try note(hasCommitted: false, looks: true)
        if options.isReadOnly { return }
        if world.workload.tracksHistory { try engine.setHistoryTracking(true) }
        if world.workload.keepsPast { try engine.setPastStates(.all) }
        if disk.isDead { return }
        try note(hasCommitted: false, looks: random.oneIn(4))
    }

    private func close() throws {
        guard let store else { return }
        world.tell("\(number) closes")
        let last = store.lastCommit
        try registry.close(store.engine)
        if disk.isDead { return }
        store.giveBack()
        self.store = nil
        if store.isReadOnly { return }
        world.oracle.assure(last)
        world.oracle.tell(last)
    }

    /// The process has ended.
    private func bury(isEnd: Bool = false) {
        world.tell("\(number) is dead")
        if !disk.isDead { disk.kill() }
        world.oracle.die(number)
        if let store {
            try? registry.close(store.engine)
            store.giveBack()
        }
        store = nil
        world.noteEnd(number)
        if !isEnd { disk = world.begin(number) }
    }

    // MARK: What is seen

    /// The objects and the history.
    private func text(_ store: LogStore) throws -> String {
        try SampleStore.text(store) + HistoryText.numbered(store).joined(separator: "\n")
    }

    private func check(_ problem: String?) {
        if let problem { world.find("process \(number): \(problem)") }
    }

    /// What the process sees after a step of its own, at once.
    private func note(hasCommitted: Bool, looks: Bool) throws {
        guard let store, !disk.isDead else { return }
        let engine = store.engine
        let last = store.lastCommit
        let hasLease = engine.lease.isHeld
        if last < commit { world.find("process \(number) goes from commit \(commit) to \(last)") }
        let isNew = last != commit
        commit = last
        check(world.oracle.see(last, hasLease: hasLease))
        // Of commits of its own nobody else knows before they are on the disk.
        if engine.durability == .full && hasLease || !hasLease && last > lastUnsure {
            world.oracle.assure(last)
        }
        if hasLease && !hadLease { world.noteLease() }
        if hadLease && !hasLease || hasCommitted && engine.durability == .full {
            world.oracle.tell(last)
        }
        hadLease = hasLease
        guard looks || world.oracle.isEndOpen && (hasLease || isNew) else { return }
        try world.quietly {
            let text = try text(store)
            let content = try NaiveStore(store)
            check(world.oracle.look(at: last, content, text, hasLease: hasLease))
        }
    }
}
