// Several processes that write one store, at random: each commits, dies, gives the lease back and looks when chance wants it.
//
// Beside them the same work is done to a store that one process alone has open, step by step: after each commit both have the
// same content.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Several writers of one store, at random")
struct RandomSharingTests {
    @Test("They commit what one of them would have committed, whoever of them dies (LE1, LE2)")
    func random() throws {
        try Rounds.run("sharing writers", everyDay: 12, whole: 20_000) { random in
            let run = try SharingRun(&random)
            try run.carryOut(steps: 40)
            #expect(run.problems == [], "seed \(random.seed)")
        }
    }
}

/// Some processes and what they do.
private final class SharingRun {
    private final class Process {
        var disk: FaultInjectingFileSystem
        var scheduler = ManualScheduler()
        var store: LogStore?
        var commit: UInt64 = 0

        init(_ base: MemoryFileSystem) { disk = FaultInjectingFileSystem(over: base) }
    }

    private let base = MemoryFileSystem()
    private let workload: Workload
    private var random: RandomSource
    private var processes: [Process] = []
    /// The store that nobody shares, and its disk.
    private var shadow: LogStore?
    private var shadowDisk = MemoryFileSystem()
    private let shadowScheduler = ManualScheduler()
    /// The contents by their last commits.
    private var texts: [UInt64: String] = [:]
    private(set) var problems: [String] = []
    private var log: [String] = []

    init(_ random: inout RandomSource) throws {
        workload = Workload([], &random)
        self.random = RandomSource(seed: random.next())
        let count = Int.random(in: 2...4, using: &self.random)
        processes = (0..<count).map { _ in Process(base) }
    }

    private func options(_ disk: any FileSystem, _ scheduler: ManualScheduler, _ process: Int)
        -> LogStoreOptions
    {
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.durability = workload.durability
        options.sizes = workload.sizes
        options.makeScheduler = { scheduler }
        options.process = process
        options.timeout = 0
        options.storeIdentifier = StoreOperation.identifier
        return options
    }

    func carryOut(steps: Int) throws {
        shadow = try LogStore.open(
            at: "/shadow", schema: StoreOperation.schema,
            options: options(shadowDisk, shadowScheduler, 0))
        try open(0)
        for step in 0..<steps {
            let number = Int.random(in: 0..<processes.count, using: &random)
            do {
                try self.step(number, step)
            } catch {
                problems.append("step \(step), process \(number): \(error)")
            }
            if !problems.isEmpty {
                problems += log + ["\(workload)"]
                return
            }
        }
        for (number, process) in processes.enumerated() where process.store != nil {
            process.disk.clearFaults()
            try process.store?.close()
            process.store = nil
            log.append("\(number) closes")
        }
        processes[0] = Process(base)
        try open(0)
        try look(0)
        let findings = try processes[0].store?.check().findings ?? []
        if !findings.isEmpty { problems.append("\(findings)") }
        try processes[0].store?.close()
        try shadow?.close()
        if !problems.isEmpty { problems += log }
    }

    private func open(_ number: Int) throws {
        let process = processes[number]
        process.scheduler = ManualScheduler()
        process.store = try LogStore.open(
            at: "/store", schema: StoreOperation.schema,
            options: options(process.disk, process.scheduler, number))
        process.commit = 0
        log.append("\(number) opens")
        try look(number)
    }

    private func step(_ number: Int, _ step: Int) throws {
        let process = processes[number]
        guard let store = process.store else { return try open(number) }
        if random.oneIn(12) {
            process.disk.crash(
                atMutation: process.disk.mutationCount + Int.random(in: 1...14, using: &random))
        }
        let operation = StoreOperation.allCases.randomElement(using: &random)!
        log.append("\(number) \(operation)")
        do {
            switch operation {
            // Numbers that a failed commit used up are known to its process alone: both stores would name objects otherwise.
            case .rejected, .trimHistory, .purgePast:
                _ = try store.refresh()
                try look(number)
            case .reopen:
                try store.close()
                try open(number)
            default:
                try giveBack(except: number)
                // What is read first is to be of the newest state.
                _ = try store.refresh()
                try operation.perform(store, process.scheduler, step: step)
                if let shadow { try operation.perform(shadow, shadowScheduler, step: step) }
                try note(number)
            }
        } catch let error as StoreError where operation == .compact && error.code == .storeInUse {
            // Another process is in the middle of it, in the background.
            log.append("\(number) is refused")
        } catch {
            guard process.disk.hasCrashed else { throw error }
        }
        if process.disk.hasCrashed { try bury(number, operation, step) }
        if random.oneIn(3) { processes[number].scheduler.runOnce() }
        if processes[number].disk.hasCrashed { try bury(number, nil, step) }
        if random.oneIn(4) { try look(number) }
    }

    /// Lets whoever has the lease see that it is wanted, as a look of its own would.
    private func giveBack(except number: Int) throws {
        for (other, process) in processes.enumerated() where other != number {
            guard let store = process.store, !process.disk.hasCrashed else { continue }
            letGo(store)
            if process.disk.hasCrashed { try bury(other, nil, 0) }
        }
    }

    private func letGo(_ store: LogStore) {
        let engine = store.engine
        engine.withTurnAnyway { turn in
            if engine.lease.isHeld { engine.giveLeaseBack(&turn) }
        }
    }

    /// A process has died; what it was doing is done or not.
    private func bury(_ number: Int, _ operation: StoreOperation?, _ step: Int) throws {
        defer { processes[number].store.map(letGo) }
        log.append("\(number) dies")
        try? processes[number].store?.close()
        processes[number] = Process(base)
        try giveBack(except: number)
        try open(number)
        guard let store = processes[number].store, let shadow else { return }
        // Without waiting for a commit of its own.
        try store.engine.withLease { _ in }
        let text = try SampleStore.text(store)
        if text == (try SampleStore.text(shadow)) { return try note(number) }
        if let operation, operation != .reopen {
            do {
                try operation.perform(shadow, shadowScheduler, step: step)
            } catch {
                problems.append("the shadow cannot do \(operation): \(error)")
            }
        }
        try note(number)
    }

    /// A commit is what it would have been in a store of its own.
    private func note(_ number: Int) throws {
        guard let store = processes[number].store, let shadow else { return }
        let text = try SampleStore.text(store)
        let commit = try store.snapshot().commit
        if text != (try SampleStore.text(shadow)) {
            problems.append("process \(number): commit \(commit) is not what it should be")
        }
        if let known = texts[commit], known != text {
            problems.append("process \(number): commit \(commit) has been another one")
        }
        texts[commit] = text
        processes[number].commit = commit
    }

    /// What a process sees is a state that somebody has made, and nothing that was seen vanishes.
    private func look(_ number: Int) throws {
        guard let store = processes[number].store else { return }
        let commit = try store.snapshot().commit
        if commit < processes[number].commit { problems.append("a commit has vanished") }
        processes[number].commit = commit
        let text = try SampleStore.text(store)
        if let known = texts[commit], known != text {
            problems.append("process \(number) sees commit \(commit) otherwise")
        }
    }
}
