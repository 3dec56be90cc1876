// Reading the history: what can be read is given, and what is kept for it is let go.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Reading the history of a store")
struct HistoryReadingTests {
    /// A store with three transactions, of which the second one cannot be read.
    private static func broken() throws -> (store: LogStore, numbers: [UInt64]) {
        let disk = MemoryFileSystem()
        let store = try HistoryTests.open(disk)
        for step in SampleStore.steps.prefix(3) { try step(store) }
        try store.engine.takeCheckpoint()
        let numbers = store.engine.registry.read { $0.history.changes.keys.sorted() }
        let place = try #require(
            store.engine.registry.read { $0.history[numbers[1]]?.place })
        try store.close()
        var image = try DiskImage(of: disk)
        image.files[SegmentName.name(of: place.segment)]![
            place.byteOffset + FrameHeader.size + 44] ^= 1
        return (try HistoryTests.open(try image.disk()), numbers)
    }

    @Test("What comes before a transaction that cannot be read is given, and what comes behind it")
    func damaged() throws {
        let (store, numbers) = try Self.broken()
        let stream = try store.fetchHistory(.fetchHistory(after: nil))
        #expect(try stream.next()?.transactionNumber == numbers[0])
        let error = #expect(throws: StoreError.self) { _ = try stream.next() }
        #expect(error?.code == .damaged)
        #expect(try stream.next()?.transactionNumber == numbers[2])
        #expect(try stream.next() == nil)
        #expect(try stream.next() == nil)
        // What is deleted by its date need not be readable.
        let all = Date(timeIntervalSinceReferenceDate: 800_000_001)
        let last = try store.historyTransaction(before: all)
        #expect(last == numbers[2])
        _ = try store.deleteHistory(through: numbers[1])
        #expect(try HistoryText.lines(store).count == 1)
        try store.close()
    }

    @Test("A token of a transaction that cannot be read is one all the same")
    func damagedToken() throws {
        let (store, numbers) = try Self.broken()
        let token = PersistentHistoryToken(
            store: store.identity.identifier, number: numbers[1],
            mark: .init(transaction: numbers[1], time: 800_000_000))
        #expect(try store.execute(.fetchHistory(after: token)).transactions.count == 1)
        _ = try store.deleteHistory(through: numbers[0])
        #expect(try store.historyToken(behind: numbers[1]).marks.isEmpty)
        try store.close()
    }

    @Test("Several stores tell what they can, each in its order, though one cannot be read")
    func damagedOne() throws {
        let (broken, numbers) = try Self.broken()
        var options = HistoryTests.options(on: MemoryFileSystem())
        options.storeIdentifier = UUID()
        let other = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps.prefix(3) { try step(other) }
        for stores in [[broken, other], [other, broken]] {
            let request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
            let stream = PersistentHistoryStream(
                try stores.map { try $0.fetchHistory(request) }, request)
            var told: [UUID: [UInt64]] = [:]
            var failures = 0
            while true {
                do {
                    guard let transaction = try stream.next() else { break }
                    told[transaction.storeID, default: []].append(transaction.transactionNumber)
                } catch {
                    #expect(error.code == .damaged)
                    failures += 1
                    try #require(failures < 9)
                }
            }
            #expect(failures == 1)
            #expect(told[broken.identity.identifier] == [numbers[0], numbers[2]])
            #expect(told[other.identity.identifier]?.count == 3)
        }
        try broken.close()
        try other.close()
    }

    @Test("Nothing is kept for a stream that was read to its end, or whose limit was reached")
    func released() throws {
        let store = try HistoryTests.open(MemoryFileSystem())
        for step in SampleStore.steps { try step(store) }
        var request = PersistentHistoryChangeRequest.fetchHistory(after: nil)
        for limit in [0, 2] {
            request.fetchLimit = limit
            let stream = try store.fetchHistory(request)
            #expect(store.engine.snapshots.all.count == 1)
            while try stream.next() != nil { #expect(store.engine.snapshots.all.count == 1) }
            #expect(store.engine.snapshots.all.isEmpty)
            #expect(try stream.next() == nil)
        }
        do {
            let stream = try store.fetchHistory(request)
            #expect(try stream.next() != nil)
        }
        #expect(store.engine.snapshots.all.isEmpty)
        try store.close()
    }

    @Test("A stream keeps no more space than snapshots may, and says so; its last token leads on")
    func expired() throws {
        let disk = MemoryFileSystem()
        var options = HistoryTests.options(on: disk)
        options.snapshotLimit = 0
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        try CompactionTests.fill(store, rounds: 2)
        let all = try HistoryText.numbered(store)
        let stream = try store.fetchHistory(.fetchHistory(after: nil))
        let first = try #require(try stream.next())
        try CompactionTests.update(store, 0..<180, 77)
        _ = try store.compact()
        for _ in 0..<2 {
            let error = #expect(throws: StoreError.self) { _ = try stream.next() }
            #expect(error?.code == .snapshotExpired)
        }
        #expect(try store.statistics().segments.count == DiskImage(of: disk).segments.count)
        let rest = try store.execute(.fetchHistory(after: first.token)).transactions
        #expect(rest.count == all.count)
        try store.close()
    }

    @Test("Objects that were changed in turns, each in its way, are told in their order")
    func turns() throws {
        var options = LogStoreOptions()
        options.persistentHistoryTracking = true
        let store = try LogStore.inMemory(schema: StoreOperation.schema, options: options)
        let count = 5000
        func write(_ body: (Int) -> [String: Any]) throws {
            var request = BatchInsertRequest(
                entityName: "Item",
                objects: (0..<count).map { index in
                    body(index).merging(["key": String(index + 10_000)]) { $1 }
                })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.setOnly = true
            _ = try store.execute(request)
        }
        try write { ["value": $0] }
        try write { $0 % 2 == 0 ? ["value": $0 + 1] : ["note": "n"] }
        let changes = try #require(
            try store.execute(.fetchHistory(after: nil)).transactions.last?.changes)
        #expect(changes.groups.count == 2)
        for group in changes.groups {
            #expect(group.type == .update && group.numbers.count == count / 2)
            #expect(group.numbers.runs.count == count / 2)
            let isValue = group.updatedProperties == ["value"]
            #expect(isValue || group.updatedProperties == ["note"])
            #expect(group.numbers.runs.first?.lowerBound == (isValue ? 1 : 2))
        }
    }

    @Test("Deleted objects whose values are kept come in parts, none of them large")
    func parts() throws {
        let disk = MemoryFileSystem()
        var options = HistoryTests.options(on: disk)
        options.sizes.segmentBytes = 256 << 20
        let store = try LogStore.open(
            at: "/store", schema: try HistoryTests.schema(), options: options)
        let count = 6000
        let note = String(repeating: "note ", count: 400)
        var request = BatchInsertRequest(
            entityName: "Airport",
            objects: (0..<count).map { ["code": "A\($0)", "note": "\($0) \(note)"] })
        request.mergePolicy = .mergeByPropertyObjectTrump
        _ = try store.execute(request)
        let before = store.historyUse.bytes
        let ids = try store.snapshot().fetch(try CompactionTests.all(store)).ids
        #expect(ids.count == count)
        _ = try store.execute(
            BatchDeleteRequest(.ids(ids, entity: try CompactionTests.all(store).entity)))
        #expect(store.historyUse.bytes - before > 12_000_000)
        let number = try #require(try store.historyBounds()).last
        let frame = try #require(store.engine.registry.read { $0.history[number] })
        let segment = try #require(
            store.engine.registry.published().segments[frame.place.segment])
        var offset = UInt64(frame.place.byteOffset)
        var heads: [ChangesPayload.Head] = []
        while offset < UInt64(frame.place.byteOffset) + frame.length {
            let (header, payload) = try segment.frame(
                at: offset, storeTag: store.engine.storeID.tag)
            heads.append(try ChangesPayload.head(of: payload.bytes))
            #expect(header.frameLength < ChangesEncoder.partBytes + (2 << 20))
            offset += UInt64(header.frameLength)
        }
        #expect(heads.count >= 3 && heads.map(\.part) == Array(0..<UInt32(heads.count)))
        #expect(heads.map(\.isLast) == heads.indices.map { $0 == heads.count - 1 })
        let last = try #require(
            try store.execute(.fetchHistory(after: nil)).transactions.last?.changes)
        #expect(last.count == count)
        #expect(last[count - 1].tombstone?["note"] == .string("\(count - 1) \(note)"))
        #expect(last[0].tombstone?["code"] == .string("A0"))
        try store.close()
    }

    @Test("Salvage loses no row by changes that say what they may not")
    func salvaged() throws {
        let disk = MemoryFileSystem()
        let store = try HistoryTests.open(disk)
        for step in SampleStore.steps.prefix(3) { try step(store) }
        let text = try SampleStore.text(store)
        try store.close()
        var image = try DiskImage(of: disk)
        var sealed = try SealedStore(image, image.segments)
        for index in sealed.frames.indices where sealed.frames[index].header.kind == .changes {
            // More entries than there can be.
            sealed.frames[index].payload[38] = 0xFF
            sealed.frames[index].isChanged = true
        }
        #expect(sealed.frames.contains { $0.isChanged })
        image.files.merge(try sealed.sealed()) { $1 }
        image.files["lock"] = []
        let salvaged = try SalvagedStore(image)
        #expect(salvaged.text == text)
        #expect(salvaged.report.rowsLost == 0 && salvaged.report.isWhole, "\(salvaged.report)")
    }
}
