// Order keys in a store: how many rows they cost, and that nothing loses them.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Order in a store")
struct OrderStorageTests {
    private func open(
        _ disk: any FileSystem, readOnly: Bool = false,
        _ change: (inout LogStoreOptions) -> Void = { _ in }
    ) throws -> LogStore {
        var options = SampleStore.options(on: disk)
        options.isReadOnly = readOnly
        change(&options)
        return try LogStore.open(
            at: "/store", schema: try OrderedSample.schema(), options: options)
    }

    /// The members of the first folder, tour and airport as numbers.
    private func numbers(_ store: LogStore) throws -> [[UInt64]] {
        try OrderedSample(store).all.map { list in
            try OrderedSample(store).members(list).map(\.reference)
        }
    }

    @Test("Moving one of a thousand writes one row; a new one at the end needs no key")
    func rows() throws {
        let store = try open(MemoryFileSystem())
        let sample = OrderedSample(store)
        let folder = try sample.makeFolder(1000)
        let before = try sample.members(folder)
        #expect(before.map(\.reference) == before.map(\.reference).sorted())
        var order = before
        order.insert(order.remove(at: 700), at: 3)
        let result = try sample.reorder(folder, order, from: before)
        #expect(result.rows.count == 1 && result.rows[before[700]]?.version == 2)
        #expect(try sample.members(folder) == order)
        #expect(try sample.rewritten() == 1)
        // The same once more is nothing.
        #expect(try sample.reorder(folder, order, from: order).commit == nil)
        let late = try sample.insertAirport(into: folder)
        #expect(try sample.members(folder) == order + [late])
        #expect(try sample.orderKeys(of: late) == [nil])
        try store.close()
    }

    @Test("Pairs have a key for each end that has an order")
    func pairs() throws {
        let store = try open(MemoryFileSystem())
        let sample = OrderedSample(store)
        try sample.fill()
        let tour = try #require(try sample.tours.first)
        let stops = try sample.members(.init(owner: tour, "stops"))
        let before = try sample.rewritten()
        let moved = Array(stops.dropFirst()) + [stops[0]]
        let result = try sample.reorder(.init(owner: tour, "stops"), moved, from: stops)
        #expect(result.rows.isEmpty, "pairs are nobody's row")
        #expect(try sample.members(.init(owner: tour, "stops")) == moved)
        #expect(try sample.rewritten() <= before + 1, "at most one pair was written for it")
        let lists = try stops.map { try sample.members(.init(owner: $0, "tours")) }
        try store.close()
        #expect(lists.allSatisfy { $0.contains(tour) })
    }

    @Test("Reopening, checkpoints, compaction and backups keep orders", arguments: [false, true])
    func kept(checkpointed: Bool) throws {
        let disk = MemoryFileSystem()
        func options(_ options: inout LogStoreOptions) {
            options.sizes.rowsPerBlock = 8
            options.sizes.mergedBlocks = 4
            options.sizes.segmentBytes = 6000
            options.sizes.askedCompactionFloor = 1
            options.sizes.closingCheckpointBytes = checkpointed ? 0 : .max
        }
        var store = try open(disk, options)
        try OrderedSample(store).fill()
        let wanted = try numbers(store)
        for round in 0..<4 {
            #expect(try numbers(store) == wanted, "round \(round)")
            #expect(try store.check().findings.isEmpty)
            if round == 1 { _ = try store.compact() }
            try store.close()
            store = try open(disk, options)
            if round == 2 {
                let copy = MemoryFileSystem()
                _ = try store.backup(to: "/store", on: copy)
                let other = try open(copy, readOnly: true)
                #expect(try numbers(other) == wanted)
                try other.close()
            }
        }
        // Rows that are written again keep their keys.
        try OrderedSample(store).renameAll()
        #expect(try numbers(store) == wanted)
        try store.close()
    }

    @Test("After a crash the order is that of a commit")
    func crash() throws {
        for seed in 0..<12 as Range<UInt64> {
            let disk = MemoryFileSystem()
            let faulty = FaultInjectingFileSystem(over: disk)
            let store = try open(faulty)
            let sample = OrderedSample(store)
            let folder = try sample.makeFolder(20)
            var orders = [try sample.members(folder).map(\.reference)]
            faulty.crash(atMutation: Int(seed) + 1, afterWriting: Int(seed) * 37)
            for step in 1..<10 {
                let now = try sample.members(folder)
                var order = now
                order.insert(order.remove(at: step * 7 % 20), at: step * 3 % 20)
                orders.append(order.map(\.reference))
                do {
                    _ = try sample.reorder(folder, order, from: now)
                } catch { break }
            }
            try? store.close()
            let again = try open(disk)
            let found = try OrderedSample(again).members(folder).map(\.reference)
            #expect(orders.contains(found))
            #expect(try again.check().findings.isEmpty)
            try again.close()
        }
    }

    @Test(
        "A store without keys is read in the order of the numbers, and gets keys when it is written"
    )
    func earlier() throws {
        let disk = MemoryFileSystem()
        var store = try open(disk) { $0.sizes.keepsOrder = false }
        let sample = OrderedSample(store)
        try sample.fillPlain()
        let plain = try numbers(store)
        #expect(plain.contains { $0.count > 2 })
        for folder in try sample.folders {
            for key in ["airports", "children"] {
                let members = try sample.members(.init(owner: folder, key)).map(\.reference)
                #expect(members == members.sorted())
            }
        }
        #expect(!store.engine.registry.published().catalog.keepsOrder)
        try store.close()
        let reader = try open(disk, readOnly: true)
        #expect(try numbers(reader) == plain)
        #expect(reader.engine.registry.published().catalog.version == 1)
        try reader.close()

        for round in 0..<3 {
            store = try open(disk)
            let catalog = store.engine.registry.published().catalog
            #expect(catalog.keepsOrder && catalog.version == 2)
            let sample = OrderedSample(store)
            if round == 0 { #expect(try numbers(store) == plain) }
            for list in try sample.all {
                let now = try sample.members(list)
                let order = Array(now.dropFirst()) + now.prefix(1)
                _ = try sample.reorder(list, order, from: now)
                #expect(try sample.members(list) == order)
            }
            let wanted = try numbers(store)
            #expect(try store.check().findings.isEmpty)
            if round == 1 { _ = try store.compact() }
            try store.close()
            let again = try open(disk, readOnly: true)
            #expect(try numbers(again) == wanted)
            try again.close()
        }
    }

    @Test("Batches put new members at the end and leave others where they are")
    func batches() throws {
        let store = try open(MemoryFileSystem())
        let sample = OrderedSample(store)
        let folder = try sample.makeFolder(6)
        let before = try sample.members(folder)
        let order = Array(before.reversed())
        _ = try sample.reorder(folder, order, from: before)
        var update = BatchInsertRequest(
            entityName: "Airport",
            objects: (0..<12).map { ["code": "A\($0 % 6)", "name": "new \($0)"] })
        update.mergePolicy = .mergeByPropertyObjectTrump
        #expect(try store.execute(update).updatedCount == 12, "each of them twice")
        #expect(try sample.members(folder) == order)
        #expect(
            try store.execute(
                BatchDeleteRequest(
                    .ids(
                        [before[3]],
                        entity: try #require(store.schema.entity(named: "Airport")).index))
            ).deletedCount == 1)
        #expect(try sample.members(folder) == order.filter { $0 != before[3] })
        try store.close()
    }

    @Test("Order keys are no columns of the model, and are in the canonical export")
    func hidden() throws {
        let store = try open(MemoryFileSystem())
        let sample = OrderedSample(store)
        try sample.fill()
        for entity in store.schema.entities {
            #expect(!entity.columns.contains { $0.name.contains("order") })
            #expect(entity.columnIndex(named: "folder.order") == nil)
        }
        let text = try SampleStore.text(store)
        #expect(text.contains("\"folder.order\":") && text.contains("\"source.order\":"))
        let row = try #require(
            try store.snapshot().rows([try sample.airports[0]])[0])
        #expect(row.entity == store.schema.entity(named: "Airport")?.index)
        try store.close()
    }
}
