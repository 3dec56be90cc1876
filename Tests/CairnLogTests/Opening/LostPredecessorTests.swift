import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A segment whose successor outlived a part of it")
struct LostPredecessorTests {
    /// Relaxed commits in one segment and, behind them, a successor that claims nothing to be durable.
    private func make() throws -> (contents: [String], ends: [Int], image: DiskImage) {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(),
            options: SampleStore.options(on: disk, durability: .relaxed))
        var contents = [try SampleStore.text(store)]
        var ends = [Int(store.engine.registry.published().end.offset)]
        for step in SampleStore.steps[..<3] {
            try step(store)
            contents.append(try SampleStore.text(store))
            ends.append(Int(store.engine.registry.published().end.offset))
        }
        let state = store.engine.registry.published()
        let files = StoreFiles(
            folder: DiskImage.folder, fileSystem: disk, lock: store.engine.files.lock)
        _ = try files.makeSegment(
            number: state.end.segment + 1, after: state.end, live: state.segments,
            storeID: store.engine.storeID, time: 0,
            commit: state.commit, durable: 0,
            counters: state.catalog.trees.indices.map {
                TreeCounter(tree: state.catalog.trees[$0].id, next: state.nextNumbers[$0])
            }, schema: state.catalog.place, schemaVersion: state.catalog.version)
        let image = try DiskImage(of: disk)
        try store.close()
        return (contents, ends, image)
    }

    @Test("What nothing vouched for is left behind with the successor, and writing goes on")
    func torn() throws {
        let (contents, ends, image) = try make()
        let first = "0000000001.segment"
        let second = "0000000002.segment"
        #expect(try image.content().text == contents[3])
        for length in stride(from: ends[0], to: ends[3], by: Campaign.step(97)) {
            var cut = image
            cut.files[first]!.removeSubrange(length...)
            let whole = ends.lastIndex { $0 <= length }!
            let found = try cut.content()
            #expect(found.text == contents[whole])
            #expect(!found.recovery.wasClosed)
            #expect(found.recovery.bytesLeftBehind > 4096)
            let disk = try cut.disk()
            let store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
            #expect(try SampleStore.text(store) == contents[whole])
            try SampleStore.secondRows(store)
            let text = try SampleStore.text(store)
            try store.close()
            let after = try DiskImage(of: disk)
            #expect(after.files[first] == cut.files[first])
            #expect(after.files[second] != cut.files[second])
            #expect(try after.content().text == text)
        }
    }

    @Test("A mark above the loss makes it damage")
    func vouched() throws {
        let (_, ends, image) = try make()
        var cut = image
        cut.files["0000000001.segment"]!.removeSubrange((ends[2] + 8)...)
        let mark = MarkRecord(
            store: StoreID(SampleStore.identifier), commit: 4, lsn: UInt64(ends[3]), chain: 0,
            segment: 1)
        var writer = ByteWriter(capacity: MarkRecord.size)
        mark.encode(to: &writer)
        cut.files["lock"] = Array(writer.bytes)
        let error = #expect(throws: StoreError.self) { try cut.content() }
        #expect(error?.code == .damaged)
        #expect(error?.context.segment == 1)
        #expect(error?.context.offset == UInt64(ends[2]))
        // One of another store says nothing about this one.
        var other = ByteWriter(capacity: MarkRecord.size)
        var foreign = mark
        foreign.store = StoreID(UUID())
        foreign.encode(to: &other)
        cut.files["lock"] = Array(other.bytes)
        #expect(try !cut.content().recovery.wasClosed)
    }

    @Test("Relaxed commits whose sync failed stay readable, and none is made after them")
    func relaxedSync() throws {
        let base = MemoryFileSystem()
        let disk = FaultInjectingFileSystem(over: base)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(),
            options: SampleStore.options(on: disk, segmentBytes: 11_000, durability: .relaxed))
        disk.fail(.synchronize, with: .ioError)
        var text = try SampleStore.text(store)
        var failures: [StoreError.Code] = []
        for step in SampleStore.steps {
            do {
                try step(store)
                text = try SampleStore.text(store)
            } catch let error as StoreError {
                failures.append(error.code)
                #expect(try SampleStore.text(store) == text)
            }
        }
        #expect(failures.first == .inputOutput)
        #expect(failures.count > 2 && failures.dropFirst().allSatisfy { $0 == .unusable })
        // They were to be durable by now, and may not be.
        #expect(throws: StoreError.self) { try store.close() }
        #expect(try DiskImage(of: base).content().text == text)
    }

    @Test("A close without room for its frame makes the commits durable all the same")
    func closeWithoutRoom() throws {
        let disk = PowerLossDisk()
        let faulty = FaultInjectingFileSystem(over: disk)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(),
            options: SampleStore.options(on: faulty, durability: .relaxed))
        for step in SampleStore.steps { try step(store) }
        let text = try SampleStore.text(store)
        faulty.fail(.write, of: "segment", with: .noSpace, afterWriting: 20)
        #expect(throws: StoreError.self) { try store.close() }
        var random = RandomSource()
        for _ in 0..<20 {
            let image = try #require(disk.image(after: disk.changeCount, &random))
            #expect(try image.content().text == text)
        }
    }
}
