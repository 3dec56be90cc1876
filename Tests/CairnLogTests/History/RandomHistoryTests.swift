// Random work on a store with a history, held against a list of transactions that is kept beside.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("The history of a store, at random")
struct RandomHistoryTests {
    @Test("It is what was committed and not deleted, whatever is done meanwhile (HY1, HY2)")
    func random() throws {
        try Rounds.run("histories", everyDay: 10, whole: 20_000) { random in
            var run = HistoryRun(&random)
            try run.carryOut(steps: 25)
            #expect(run.problems == [], "seed \(random.seed)")
        }
    }
}

/// A store for some steps, and what its history should be.
private struct HistoryRun {
    private let disk = MemoryFileSystem()
    private let workload: Workload
    private var random: RandomSource
    private var scheduler = ManualScheduler()
    private var store: LogStore?
    /// What observers were told, by commit.
    private var expected: [(commit: UInt64, line: String)] = []
    private var consumers: [String: UInt64] = [:]
    private var horizon: UInt64 = 0
    private var told: Told?
    private(set) var problems: [String] = []

    /// What one store tells.
    private final class Told: @unchecked Sendable {
        // Everything here is committed by one thread, which is told of it.
        var lines: [(commit: UInt64, line: String)] = []
        var observation: ChangeObservation?

        init(_ store: LogStore) {
            observation = store.observeChanges { [weak self] set in
                guard let entities = try? set.entities(), !entities.isEmpty else { return }
                self?.lines.append(
                    (
                        set.commit,
                        entities.map {
                            "\($0.entity) \($0.inserted.runs) \($0.updated.runs) \($0.deleted.runs)"
                        }.joined(separator: "; ")
                    ))
            }
        }
    }

    init(_ random: inout RandomSource) {
        workload = Workload([], &random)
        self.random = RandomSource(seed: random.next())
    }

    mutating func carryOut(steps: Int) throws {
        try open()
        try StoreOperation.insert(try #require(store), ["a0": 100, "a1": 1])
        take()
        for step in 0..<steps {
            try perform(step)
            try compare(step)
            if !problems.isEmpty { return }
        }
        try store?.close()
        for name in try disk.list("/store") where name.hasPrefix("checkpoint") {
            try disk.unlink(FilePath("/store").appending(name))
        }
        try open()
        try compare(steps)
        try store?.close()
    }

    private mutating func open() throws {
        scheduler = ManualScheduler()
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.durability = workload.durability
        options.sizes = workload.sizes
        options.persistentHistoryTracking = random.oneIn(2) || expected.isEmpty ? true : nil
        let scheduler = scheduler
        options.makeScheduler = { scheduler }
        let store = try LogStore.open(
            at: "/store", schema: StoreOperation.schema, options: options)
        self.store = store
        told = Told(store)
    }

    private mutating func perform(_ step: Int) throws {
        guard let store else { return }
        switch random.next() % 12 {
        case 0:
            guard let one = expected.randomElement(using: &random) else { return }
            let limit = min(one.commit - 1, consumers.values.min() ?? .max)
            let token = PersistentHistoryToken(
                store: store.identity.identifier, number: one.commit)
            let gone = expected.filter { $0.commit <= limit }.count
            let deleted = try store.execute(.deleteHistory(before: token)).deletedTransactionCount
            if deleted != gone { problems.append("\(deleted) were deleted instead of \(gone)") }
            expected.removeAll { $0.commit <= limit }
            horizon = max(horizon, limit)
        case 1:
            let name = ["x", "y"].randomElement(using: &random)!
            if consumers[name] != nil, random.oneIn(3) {
                try store.removeHistoryConsumer(name)
                consumers[name] = nil
            } else if let last = expected.last, random.oneIn(2) {
                try store.setHistoryConsumer(name, seen: last.commit, mustExist: false)
                consumers[name] = max(consumers[name] ?? 0, last.commit)
            } else {
                try store.registerHistoryConsumer(name)
                consumers[name] = try store.historyConsumerNumbers()[name]
            }
        default:
            let operation = StoreOperation.allCases.randomElement(using: &random)!
            if operation == .reopen {
                take()
                try store.close()
                try open()
            } else if operation == .trimHistory {
                return
            } else {
                try operation.perform(store, scheduler, step: step)
            }
        }
        take()
    }

    private mutating func take() {
        expected += told?.lines ?? []
        told?.lines = []
    }

    private mutating func compare(_ step: Int) throws {
        guard let store else { return }
        let found = try store.execute(.fetchHistory(after: nil)).transactions
        let lines = found.map { transaction in
            let groups = transaction.changes?.groups ?? []
            return Set(groups.map(\.entity)).sorted().map { entity in
                func runs(_ type: PersistentHistoryChangeType) -> [ClosedRange<UInt64>] {
                    var all = ObjectNumbers()
                    for group in groups where group.entity == entity && group.type == type {
                        all.formUnion(group.numbers)
                    }
                    return all.runs
                }
                return "\(entity) \(runs(.insert)) \(runs(.update)) \(runs(.delete))"
            }.joined(separator: "; ")
        }
        if found.map(\.transactionNumber) != expected.map(\.commit)
            || lines != expected.map(\.line)
        {
            problems.append("step \(step): \(lines) for \(expected)")
        }
        let findings = try store.check().findings
        if !findings.isEmpty { problems.append("step \(step): \(findings)") }
        // From anywhere in it.
        if let one = expected.randomElement(using: &random) {
            let token = PersistentHistoryToken(
                store: store.identity.identifier, number: one.commit)
            let after = try store.execute(.fetchHistory(after: token)).transactions
            if after.map(\.transactionNumber) != expected.map(\.commit).filter({ $0 > one.commit })
            {
                problems.append("step \(step): what is behind commit \(one.commit) is wrong")
            }
        }
        if horizon > 0 {
            let token = PersistentHistoryToken(
                store: store.identity.identifier, number: horizon - 1)
            if (try? store.fetchHistory(.fetchHistory(after: token))) != nil {
                problems.append("step \(step): commit \(horizon) should have expired")
            }
        }
    }
}
