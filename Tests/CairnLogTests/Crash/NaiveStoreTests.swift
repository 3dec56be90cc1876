import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("A store beside dictionaries")
struct NaiveStoreTests {
    /// One kind of size.
    struct Sizes: Sendable, CustomTestStringConvertible {
        var segmentBytes: UInt64
        var rowsPerBlock: Int
        var checkpointBytes: UInt64
        var fillBytes: UInt64
        var testDescription: String {
            "segments \(segmentBytes), blocks \(rowsPerBlock), checkpoints \(checkpointBytes), zeros \(fillBytes)"
        }
    }

    private static let matrix: [Sizes] = [5200, 20_000, 1 << 30].flatMap { segment in
        [2, 8, 1024].flatMap { rows in
            [UInt64(400), 64 << 20].map { checkpoint in
                Sizes(
                    segmentBytes: segment, rowsPerBlock: rows, checkpointBytes: checkpoint,
                    fillBytes: rows == 8 ? 3000 : 0)
            }
        }
    }

    @Test("Long random runs with crashes hold what dictionaries hold", arguments: matrix)
    func random(sizes: Sizes) throws {
        var random = RandomSource()
        var durabilities = LogStoreOptions.Durability.allCases
        if !Campaign.isLong { durabilities = [durabilities.randomElement(using: &random)!] }
        for durability in durabilities {
            for _ in 0..<Campaign.count(1, whole: 20) {
                var workload = Workload(operations: [])
                workload.durability = durability
                workload.sizes = Workload.sizes(&random)
                workload.sizes.segmentBytes = sizes.segmentBytes
                workload.sizes.rowsPerBlock = sizes.rowsPerBlock
                workload.sizes.checkpointBytes = sizes.checkpointBytes
                workload.sizes.fillBytes = sizes.fillBytes
                workload.cacheBytes = [0, 4000, 1 << 20].randomElement(using: &random)!
                var run = NaiveRun(workload, &random)
                try run.carryOut(steps: Campaign.isLong ? 400 : 12)
                #expect(run.problems == [], "seed \(random.seed)")
            }
        }
    }
}

/// A long run of random work on one store, beside the model.
private struct NaiveRun {
    private let workload: Workload
    private var random: RandomSource
    private var run: CrashRun
    /// What the store held after each step since it was durable last, the newest at the end.
    private var history = [NaiveStore()]
    private(set) var problems: [String] = []

    init(_ workload: Workload, _ random: inout RandomSource) {
        self.workload = workload
        self.random = RandomSource(seed: random.next())
        run = CrashRun(DiskState(), workload, seed: random.next())
    }

    mutating func carryOut(steps: Int) throws {
        try run.open()
        for step in 0..<steps {
            try self.step(step)
            guard let store = run.store, problems.isEmpty else { return }
            let found = try NaiveStore(store)
            if let expected = history.last, found != expected {
                problems.append("step \(step): \(found.difference(to: expected))")
            }
        }
        if let findings = try run.store?.check().findings, !findings.isEmpty {
            problems.append("\(findings)")
        }
        try run.close()
        problems += run.disk.with { $0.checker.problems }
    }

    private mutating func step(_ step: Int) throws {
        guard let store = run.store, var next = history.last else { return }
        switch random.next() % 16 {
        case 0: return try crash(step)
        case 1:
            try run.close()
            try run.open()
            history = [next]
            return
        case 2:
            try store.synchronize()
            history = [next]
            return
        // Once: a compaction that was begun goes on between the next steps.
        case 3: random.oneIn(2) ? run.scheduler.run() : run.scheduler.runOnce()
        case 4: try store.engine.takeCheckpoint()
        case 10: _ = try store.compact()
        case 5...8: try upsert(store, &next)
        case 9: try delete(store, &next)
        default: try save(store, &next)
        }
        history.append(next)
        if workload.durability == .full { history.removeFirst(history.count - 1) }
    }

    /// Ends the process or the power, and goes on with what is there.
    private mutating func crash(_ step: Int) throws {
        var state = run.disk.with { $0.state }
        let isPowerCut = random.oneIn(2)
        if isPowerCut { state = state.afterPowerCut(.some, &random) }
        problems += run.disk.with { $0.checker.problems }
        try run.close()
        run = CrashRun(state, workload, seed: random.next())
        try run.open()
        guard let store = run.store else { return }
        let found = try NaiveStore(store)
        let isPromised = isPowerCut ? history.contains(found) : history.last == found
        if !isPromised { problems.append("step \(step): a crash lost something") }
        let findings = try store.check().findings
        if !findings.isEmpty { problems.append("step \(step): \(findings)") }
        history = [found]
    }

    // MARK: Work

    private mutating func key() -> String { "key \(random.next() % 25)" }

    private mutating func note() -> String {
        random.oneIn(5)
            ? String(repeating: "long \(random.next() % 9) ", count: 40)
            : "note \(random.next() % 9)"
    }

    private mutating func upsert(_ store: LogStore, _ next: inout NaiveStore) throws {
        var rows: [String: [String: Any]] = [:]
        for _ in 0..<(1 + random.next() % 9) {
            let key = key()
            let value = Int(random.next() % 20)
            rows[key, default: ["key": key]]["value"] = value
            if next.items[key] == nil { next.items[key] = NaiveStore.Item() }
            next.items[key]?.value = Int64(value)
            if random.oneIn(2) {
                let note = note()
                rows[key]?["note"] = note
                next.items[key]?.note = note
            }
        }
        var request = BatchInsertRequest(
            entityName: "Item", objects: rows.sorted { $0.key < $1.key }.map(\.value))
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = true
        _ = try store.execute(request)
    }

    private mutating func delete(_ store: LogStore, _ next: inout NaiveStore) throws {
        if random.oneIn(3), let box = next.boxes.sorted().randomElement(using: &random) {
            let predicate = PredicateNode.compare("name", .equal, .string(box))
            _ = try store.execute(
                BatchDeleteRequest(
                    .fetch(StoreFetch(entity: StoreOperation.box, predicate: predicate))))
            next.remove(box: box)
        } else {
            let value = Int64(random.next() % 20)
            let predicate = PredicateNode.compare("value", .equal, .integer(value))
            _ = try store.execute(
                BatchDeleteRequest(
                    .fetch(StoreFetch(entity: StoreOperation.item, predicate: predicate))))
            for (key, item) in next.items where item.value == value { next.remove(item: key) }
        }
    }

    /// A save that inserts a box, and inserts, changes and deletes items.
    private mutating func save(_ store: LogStore, _ next: inout NaiveStore) throws {
        var fetch = StoreFetch(entity: StoreOperation.item)
        fetch.includesRows = true
        let schema = StoreOperation.schema
        let rows = try store.snapshot().fetch(fetch).rows
        var request = SaveRequest()
        let box = StoreOperation.temporary(1, StoreOperation.box, store)
        let name = "box \(random.next() % 1_000_000)"
        request.inserted.append(
            StoreOperation.inserted(box, StoreOperation.box, [StoreOperation.name: .string(name)]))
        next.boxes.insert(name)
        for row in rows where random.oneIn(6) {
            guard
                case .string(let key) = row.cells.value(
                    StoreOperation.key, of: schema.entities[0], in: store.identity)
            else { continue }
            if random.oneIn(3) {
                request.deleted.append(
                    .init(id: row.id, entity: StoreOperation.item, version: row.version))
                next.remove(item: key)
                continue
            }
            let note = note()
            request.updated.append(
                .init(
                    id: row.id, entity: StoreOperation.item, base: row,
                    changes: [
                        (column: StoreOperation.note, value: .string(note)),
                        (column: StoreOperation.boxOfItem, value: .objectID(box)),
                    ]))
            next.items[key]?.note = note
            next.items[key]?.box = name
            if random.oneIn(2) {
                request.pairChanges.append(
                    .init(pairs: 0, source: row.id, destination: box, isAddition: true))
                next.tags.insert(.init(item: key, box: name))
            }
        }
        let new = "new \(random.next())"
        request.inserted.append(
            StoreOperation.inserted(
                StoreOperation.temporary(2, StoreOperation.item, store), StoreOperation.item,
                [
                    StoreOperation.key: .string(new), StoreOperation.value: .integer(3),
                    StoreOperation.boxOfItem: .objectID(box),
                ]))
        next.items[new] = .init(value: 3, box: name)
        _ = try store.save(request)
    }
}
