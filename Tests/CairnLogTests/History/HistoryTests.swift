// The history of a store, through everything that may happen to it.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("The history of a store")
struct HistoryTests {
    static func options(on disk: any FileSystem, tracks: Bool? = true) -> LogStoreOptions {
        var options = CompactionTests.options(on: disk)
        options.persistentHistoryTracking = tracks
        options.historyProcess = (7, "sample")
        return options
    }

    /// The sample's model; the history keeps the code and the elevation of what is deleted.
    static func schema() throws -> Schema {
        var model = SampleStore.model
        for index in model.entities[0].attributes.indices
        where ["code", "elevation", "note"].contains(model.entities[0].attributes[index].name) {
            model.entities[0].attributes[index].preservesValueInHistoryOnDeletion = true
        }
        return try Schema(model)
    }

    static func open(
        _ disk: any FileSystem, tracks: Bool? = true, isReadOnly: Bool = false
    ) throws -> LogStore {
        var options = options(on: disk, tracks: tracks)
        options.isReadOnly = isReadOnly
        options.followsWriter = false
        return try LogStore.open(
            at: "/store", schema: isReadOnly ? nil : try SampleStore.schema(), options: options)
    }

    /// Says of each commit that is told to observers what its transaction should say.
    private final class Teller: Sendable {
        private let told = Mutex<[String]>([])
        private let observation = Mutex<ChangeObservation?>(nil)

        init(_ store: LogStore) {
            let observation = store.observeChanges { [weak self] set in
                guard let entities = try? set.entities(), !entities.isEmpty else { return }
                let line = entities.map { changes in
                    "\(changes.entity) \(changes.inserted.runs) \(changes.updated.runs) "
                        + "\(changes.deleted.runs)"
                }
                self?.told.withLock {
                    $0.append("\(set.commit) \(set.author ?? "-") \(line.joined(separator: "; "))")
                }
            }
            self.observation.withLock { $0 = observation }
        }

        var lines: [String] { told.withLock { $0 } }
    }

    /// The same of what the history has.
    private static func told(_ store: LogStore) throws -> [String] {
        try store.execute(.fetchHistory(after: nil)).transactions.map { transaction in
            let groups = transaction.changes?.groups ?? []
            let entities = Set(groups.map(\.entity)).sorted().map { entity in
                func numbers(_ type: PersistentHistoryChangeType) -> ObjectNumbers {
                    var all = ObjectNumbers()
                    for group in groups where group.entity == entity && group.type == type {
                        all.formUnion(group.numbers)
                    }
                    return all
                }
                return "\(entity) \(numbers(.insert).runs) \(numbers(.update).runs) "
                    + "\(numbers(.delete).runs)"
            }
            return
                "\(transaction.transactionNumber) \(transaction.author ?? "-") \(entities.joined(separator: "; "))"
        }
    }

    @Test("Each commit that changes objects is one transaction, of what observers are told")
    func recorded() throws {
        let store = try Self.open(MemoryFileSystem())
        let teller = Teller(store)
        try CompactionTests.fill(store)
        #expect(teller.lines.count == 22)
        #expect(try Self.told(store) == teller.lines)
        // Handing out numbers, metadata and compaction change no object.
        _ = try store.obtainPermanentIDs(forEntities: [0, 1])
        try store.setMetadata(["a": .boolean(true)])
        try store.writeMetadata()
        _ = try store.compact()
        #expect(try Self.told(store) == teller.lines)
        #expect(try store.check().findings.isEmpty)
        let first = try #require(try store.execute(.fetchHistory(after: nil)).transactions.first)
        #expect(first.author == "Sample" && first.processID == 7 && first.bundleID == "sample")
        #expect(first.storeID == store.identity.identifier)
        #expect(first.timestamp == Date(timeIntervalSinceReferenceDate: 800_000_000))
        try store.close()
    }

    @Test("Without tracking nothing is written that was not before")
    func off() throws {
        let (tracked, plain) = (MemoryFileSystem(), MemoryFileSystem())
        for (disk, tracks) in [(tracked, true), (plain, nil)] as [(MemoryFileSystem, Bool?)] {
            let store = try Self.open(disk, tracks: tracks)
            for step in SampleStore.steps { try step(store) }
            #expect(store.historyTracking == (tracks == true ? .on : .off))
            #expect(try (store.historyBounds() == nil) == (tracks == nil))
            if tracks == nil {
                #expect(throws: StoreError.self) {
                    _ = try store.fetchHistory(.fetchHistory(after: nil))
                }
                #expect(throws: StoreError.self) { try store.registerHistoryConsumer("a") }
            }
            try store.close()
        }
        let sample = MemoryFileSystem()
        let store = try CompactionTests.open(sample)
        for step in SampleStore.steps { try step(store) }
        try store.close()
        #expect(try DiskImage(of: plain) == DiskImage(of: sample))
        #expect(try DiskImage(of: tracked).segments.count > DiskImage(of: plain).segments.count)
        for (disk, bit) in [(tracked, UInt8(4)), (plain, 0)] {
            let image = try DiskImage(of: disk)
            #expect(image.files[image.segments.last!]![72] & 4 == bit)
        }
    }

    @Test("Updates name the properties that changed, relationships at both ends among them")
    func properties() throws {
        let store = try LogStore.inMemory(schema: StoreOperation.schema, options: Self.memory())
        try StoreOperation.populate(store)
        try StoreOperation.insert(store, ["a0": 5, "a2": 2])
        let rows = try Self.rows(store, StoreOperation.item)
        let boxes = try Self.rows(store, StoreOperation.box)
        let tagged = try #require(rows.last)
        var request = SaveRequest()
        request.updated = [
            .init(
                id: tagged.id, entity: StoreOperation.item, base: tagged,
                changes: [(column: StoreOperation.note, value: .string("x"))])
        ]
        request.pairChanges = [
            .init(pairs: 0, source: rows[0].id, destination: boxes[0].id, isAddition: true)
        ]
        _ = try store.save(request)
        // The box goes, and with it what leads to it.
        _ = try store.execute(BatchDeleteRequest(.ids([boxes[0].id], entity: StoreOperation.box)))
        let found = try HistoryText.lines(store).dropFirst(2)
        #expect(
            Array(found) == [
                "-/-: update Item 1-1 [\"value\"] [] []",
                "-/-: update Item 1-1 [\"tags\"] [] []; update Item 6-6 [\"note\"] [] []; "
                    + "update Box 1-1 [] [] []",
                "-/-: update Item 1-1 [\"tags\"] [] []; update Item 5-6 [\"box\", \"tags\"] [] []; "
                    + "delete Box 1-1 [] [] []",
            ])
    }

    private static func memory() -> LogStoreOptions {
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        return options
    }

    private static func rows(_ store: LogStore, _ entity: Int) throws -> [Row] {
        var fetch = StoreFetch(entity: entity)
        fetch.includesRows = true
        return try store.snapshot().fetch(fetch).rows.sorted {
            $0.id.reference < $1.id.reference
        }
    }

    @Test("It is the same after closing, with and without checkpoint, and to who only reads")
    func reopened() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk)
        try CompactionTests.fill(store)
        let lines = try HistoryText.numbered(store)
        #expect(lines.count == 22)
        try store.engine.takeCheckpoint()
        try store.close()
        for isReadOnly in [false, true, false] {
            store = try Self.open(disk, isReadOnly: isReadOnly)
            #expect(store.recovery.checkpoint != nil)
            #expect(try HistoryText.numbered(store) == lines)
            #expect(try store.check().findings.isEmpty)
            try store.close()
        }
        // Behind the checkpoint more is written.
        store = try Self.open(disk)
        try SampleStore.secondRows(store)
        try CompactionTests.update(store, 0..<3, 77)
        let more = try HistoryText.numbered(store)
        #expect(more.count == 24 && Array(more.prefix(22)) == lines)
        let image = try DiskImage(of: disk)
        try store.close()
        for keepsCheckpoint in [true, false] {
            var image = image
            if !keepsCheckpoint {
                image.files = image.files.filter { !$0.key.hasPrefix("checkpoint") }
            }
            let left = try image.disk()
            let store = try Self.open(left)
            #expect((store.recovery.checkpoint != nil) == keepsCheckpoint)
            #expect(try HistoryText.numbered(store) == more)
            try store.close()
        }
    }

    @Test("B139: who opens a store without a word of its history is told that it is kept on")
    func keptOn() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk, tracks: nil)
        try SampleStore.firstObjects(store)
        #expect(store.historyTracking == .off)
        try store.close()
        store = try Self.open(disk)
        #expect(store.historyTracking == .on)
        #expect(try HistoryText.lines(store).isEmpty)
        try SampleStore.manyRows(store)
        let token = try #require(try store.currentHistoryToken())
        try store.close()
        store = try Self.open(disk, tracks: nil)
        #expect(store.historyTracking == .keptOn)
        try SampleStore.changedRows(store)
        #expect(try HistoryText.lines(store).count == 2)
        #expect(try store.execute(.fetchHistory(after: token)).transactions.count == 1)
        try store.close()
        // Who only reads leaves no gap, whatever he wants.
        for tracks in [nil, true, false] {
            store = try Self.open(disk, tracks: tracks, isReadOnly: true)
            #expect(store.historyTracking == (tracks == true ? .on : .keptOn))
            #expect(try HistoryText.lines(store).count == 2)
            #expect(throws: StoreError.self) { try store.execute(.deleteHistory(before: token)) }
            try store.close()
        }
        // What is switched off would have a gap, so it is gone.
        store = try Self.open(disk, tracks: false)
        #expect(store.historyTracking == .off)
        #expect(try store.historyBounds() == nil)
        #expect(store.historyUse.transactions == 0)
        try SampleStore.deletedRows(store)
        try store.close()
        store = try Self.open(disk)
        #expect(try HistoryText.lines(store).isEmpty)
        let error = #expect(throws: StoreError.self) {
            _ = try store.execute(.fetchHistory(after: token))
        }
        #expect(error?.code == .historyTokenExpired)
        try SampleStore.secondRows(store)
        #expect(try HistoryText.lines(store).count == 1)
        #expect(try store.check().findings.isEmpty)
        try store.close()
    }

    @Test("A store that is open already begins its history when somebody opens it with one")
    func shared() throws {
        let disk = MemoryFileSystem()
        let first = try Self.open(disk, tracks: nil)
        let second = try Self.open(disk)
        #expect(first.historyTracking == .keptOn && second.historyTracking == .on)
        try SampleStore.firstObjects(first)
        #expect(try HistoryText.lines(second).count == 1)
        try first.close()
        try second.close()
    }

    @Test("Compaction carries what is retained over, and drops what was deleted")
    func compacted() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk)
        try CompactionTests.fill(store, rounds: 8)
        let lines = try HistoryText.numbered(store)
        let result = try store.compact()
        #expect(result.retiredSegments > 2)
        #expect(try HistoryText.numbered(store) == lines)
        let use = store.historyUse
        #expect(use.transactions == lines.count)
        // What compaction has carried over is alive, so that it is not carried over again and again.
        let again = try store.compact()
        #expect(again.bytesWritten < result.bytesWritten / 2, "\(again)")
        try store.close()
        store = try Self.open(disk)
        #expect(try HistoryText.numbered(store) == lines)
        #expect(try store.check().findings.isEmpty)
        let token = try #require(try store.currentHistoryToken())
        #expect(try store.execute(.deleteHistory(before: token)).deletedTransactionCount > 0)
        #expect(store.historyUse.transactions == 0)
        _ = try store.compact()
        #expect(try store.check().findings.isEmpty)
        try CompactionTests.update(store, 0..<9, 90)
        let rest = try HistoryText.numbered(store)
        #expect(rest.count == 1)
        try store.close()
        for name in try disk.list("/store") where name.hasPrefix("checkpoint") {
            try disk.unlink(FilePath("/store").appending(name))
        }
        store = try Self.open(disk)
        #expect(try HistoryText.numbered(store) == rest)
        try store.close()
    }

    @Test("A purge in the middle of a compaction stays, and so does a reader's transaction")
    func purgedMeanwhile() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try CompactionTests.fill(store)
        try store.engine.rollSegment()
        try CompactionTests.update(store, 0..<9, 90)
        let numbers = try store.execute(.fetchHistory(after: nil)).transactions
        let stream = try store.fetchHistory(.fetchHistory(after: nil))
        #expect(try stream.next() != nil)
        let state = store.engine.registry.published()
        let run = try CompactionRun(
            store.engine, victims: Set(state.segments.mains.dropLast().map(\.number)))
        // The deaths and the history are carried over, and not adopted yet.
        for _ in 0..<run.victims.count + 2 { _ = try run.step() }
        #expect(
            try store.execute(.deleteHistory(before: numbers[9])).deletedTransactionCount == 9)
        while case .moved = try run.step() {}
        #expect(try HistoryText.numbered(store).count == numbers.count - 9)
        store.engine.sweepRetired()
        // Whoever reads goes on with the state that he began with.
        var count = 1
        while try stream.next() != nil { count += 1 }
        #expect(count == numbers.count)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        let again = try Self.open(disk)
        #expect(try HistoryText.numbered(again).count == numbers.count - 9)
        try again.close()
    }

    @Test("A consumer is remembered, and nothing that it has not seen is deleted")
    func consumers() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        let token = try #require(try store.currentHistoryToken())
        try store.registerHistoryConsumer("search")
        try store.advance("search", to: token)
        try store.close()
        for round in 1...2 {
            store = try Self.open(disk, tracks: nil)
            #expect(try store.historyConsumers() == ["search": token])
            try CompactionTests.update(store, 0..<30, round)
            let now = try #require(try store.currentHistoryToken())
            try store.execute(.deleteHistory(before: now))
            _ = try store.compact()
            try store.engine.takeCheckpoint()
            try store.close()
        }
        store = try Self.open(disk)
        #expect(try store.execute(.fetchHistory(after: token)).transactions.count == 2)
        #expect(throws: StoreError.self) {
            try store.setHistoryConsumer(
                String(repeating: "x", count: 5000), seen: 1, mustExist: false)
        }
        try store.close()
    }

    @Test("A reading process sees the history of a writer as it grows and shrinks")
    func followed() throws {
        let disk = MemoryFileSystem()
        let writer = try Self.open(disk)
        var options = FollowingStores.reading(disk)
        options.isReadOnly = true
        let reader = try LogStore.open(at: "/store", options: options)
        for (number, step) in SampleStore.steps.enumerated() {
            try step(writer)
            if number == 4 {
                let token = try #require(try writer.currentHistoryToken())
                try writer.execute(.deleteHistory(before: token))
            }
            if number % 3 == 2 { _ = try writer.compact() }
            _ = try reader.refresh()
            #expect(try HistoryText.numbered(reader) == HistoryText.numbered(writer), "\(number)")
        }
        try reader.close()
        try writer.close()
    }

    @Test("A commit that is torn takes its transaction with it")
    func torn() throws {
        let disk = MemoryFileSystem()
        let store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        try SampleStore.manyRows(store)
        let lines = try HistoryText.numbered(store)
        let before = try DiskImage(of: disk)
        try SampleStore.changedRows(store)
        let after = try DiskImage(of: disk)
        try store.close()
        let name = before.segments.last!
        let (start, end) = (before.files[name]!.count, after.files[name]!.count)
        for length in stride(from: start + 1, to: end, by: 7) {
            var image = after
            image.files["lock"] = before.files["lock"]
            image.files[name] = Array(after.files[name]![..<length])
            let store = try Self.open(try image.disk())
            #expect(try HistoryText.numbered(store) == lines, "\(length)")
            try store.close()
        }
    }

    @Test("A history that was written once stays readable")
    func golden() throws {
        let golden = try #require(GoldenStore.all.first { $0.name == "history" })
        let image = try DiskImage(
            of: POSIXFileSystem(), FilePath(GoldenStore.folder.path).appending("history.cairn"))
        for image in [image, try golden.make()] {
            _ = try image.content { store in
                let lines = try HistoryText.numbered(store)
                #expect(lines.count == 7)
                #expect(lines[0].contains("insert Airport 5-64"), "\(lines[0])")
                #expect(lines[2].contains("[\"code\", \"elevation\", \"note\"]"), "\(lines[2])")
                #expect(try store.historyConsumers().keys.sorted() == ["search"])
            }
        }
    }

    @Test("A change of a few objects takes few bytes, and a batch of thousands not many more")
    func size() throws {
        let store = try LogStore.inMemory(schema: StoreOperation.schema, options: Self.memory())
        func cost(_ body: () throws -> Void) rethrows -> UInt64 {
            let before = store.historyUse.bytes
            try body()
            return store.historyUse.bytes - before
        }
        let one = try cost { try StoreOperation.insert(store, ["a": 1]) }
        #expect(one <= 160, "\(one)")
        let rows = Dictionary(uniqueKeysWithValues: (0..<5000).map { ("k\($0)", $0) })
        let many = try cost { try StoreOperation.insert(store, rows) }
        #expect(many <= 160, "\(many)")
        let changed = try cost { try StoreOperation.insert(store, rows.mapValues { $0 + 1 }) }
        #expect(changed <= 168, "\(changed)")
        // Every seventh: a number is a byte or two.
        let some = rows.filter { $0.value % 7 == 0 }.mapValues { $0 + 2 }
        let scattered = try cost { try StoreOperation.insert(store, some) }
        #expect(scattered <= 168 + 3 * UInt64(some.count), "\(scattered)")
    }
}
