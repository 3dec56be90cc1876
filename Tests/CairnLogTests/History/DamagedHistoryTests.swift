// Changes for the history that are damaged, or say what they may not.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A history that is damaged")
struct DamagedHistoryTests {
    /// A store whose first transaction lies behind a checkpoint.
    private static func store() throws -> (image: DiskImage, place: Place) {
        let disk = MemoryFileSystem()
        let store = try HistoryTests.open(disk)
        try SampleStore.firstObjects(store)
        try SampleStore.manyRows(store)
        try store.engine.takeCheckpoint()
        let place = try #require(
            store.engine.registry.read { $0.history.next(after: 0)?.frame.place })
        try store.close()
        return (try DiskImage(of: disk), place)
    }

    private static func broken() throws -> (image: DiskImage, place: Place) {
        var (image, place) = try store()
        image.files[SegmentName.name(of: place.segment)]![
            place.byteOffset + FrameHeader.size + 44] ^= 1
        return (image, place)
    }

    @Test("A flipped bit is damage with its place when it is read; objects are there all the same")
    func flipped() throws {
        let (image, place) = try Self.broken()
        let disk = try image.disk()
        let store = try HistoryTests.open(disk)
        #expect(store.recovery.checkpoint != nil)
        let error = #expect(throws: StoreError.self) {
            _ = try store.execute(.fetchHistory(after: nil))
        }
        #expect(error?.code == .damaged)
        #expect(error?.context.segment == place.segment)
        #expect(error?.context.offset == UInt64(place.byteOffset))
        #expect(try SampleStore.text(store).contains("LOWW"))
        #expect(try !store.check().findings.isEmpty)
        // What comes behind it can be read, and written.
        let bounds = try #require(try store.historyBounds())
        try SampleStore.changedRows(store)
        let token = PersistentHistoryToken(store: store.identity.identifier, number: bounds.last)
        #expect(try store.execute(.fetchHistory(after: token)).transactions.count == 1)
        try store.close()
    }

    @Test("Salvage keeps the objects, and begins without a history")
    func salvaged() throws {
        let disk = try Self.broken().image.disk()
        var salvage = SalvageOptions()
        salvage.store = CompactionTests.options(on: disk)
        _ = try LogStore.salvage(at: "/store", to: "/other", options: salvage)
        var options = HistoryTests.options(on: disk, tracks: nil)
        options.isReadOnly = true
        let other = try LogStore.open(at: "/other", options: options)
        #expect(try SampleStore.text(other).contains("LOWW"))
        #expect(other.historyTracking == .off)
        try other.close()
    }

    @Test("F-774: parts that do not follow each other are refused; F-775: so are later commits")
    func parts() throws {
        func head(_ commit: UInt64, _ part: UInt32, isLast: Bool) -> ChangesPayload.Head {
            .init(commit: commit, time: 0, process: 1, part: part, isLast: isLast)
        }
        var parts: [LoggedChanges] = []
        func take(_ head: ChangesPayload.Head, _ offset: Int, segment: UInt32 = 1) -> String? {
            do throws(FormatError) {
                try parts.take(
                    head, at: Place(segment: segment, byteOffset: offset), length: 96, limit: 9)
                return nil
            } catch {
                return error.rule
            }
        }
        #expect(take(head(10, 0, isLast: true), 4096) == "F-775")
        #expect(take(head(9, 1, isLast: true), 4096) == "F-774")
        #expect(take(head(8, 0, isLast: false), 4096) == nil)
        #expect(throws: FormatError.self) { try parts.checkEnd() }
        #expect(take(head(8, 0, isLast: true), 4192) == "F-774")
        #expect(take(head(8, 1, isLast: true), 4200) == "F-774")
        #expect(take(head(8, 1, isLast: true), 4192, segment: 2) == "F-774")
        #expect(take(head(7, 1, isLast: true), 4192) == "F-774")
        #expect(take(head(8, 1, isLast: true), 4192) == nil)
        #expect(take(head(8, 2, isLast: true), 4288) == "F-774")
        #expect(parts.map(\.length) == [192] && parts.map(\.parts) == [2])
        #expect(throws: Never.self) { try parts.checkEnd() }
    }

    @Test(
        "F-778: settings that are none are refused",
        arguments: [
            ("{}", "F-752"), ("{\"tracking\":1,\"horizon\":0}", "F-752"),
            ("{\"tracking\":true,\"horizon\":-1}", "F-752"),
            ("{\"tracking\":true,\"horizon\":4611686018427387904}", "F-778"),
            (
                "{\"tracking\":true,\"horizon\":0,\"consumers\":{\"a\":4611686018427387904}}",
                "F-778"
            ),
            ("{\"tracking\":true,\"horizon\":0,\"consumers\":[]}", "F-752"),
        ])
    func settings(history: String, rule: String) {
        let document = "{\"format\":1,\"values\":{},\"history\":\(history)}"
        let payload = withUnsafeBytes(of: UInt64(1).littleEndian) { Array($0) } + document.utf8
        let error = #expect(throws: FormatError.self) {
            _ = try payload.withUnsafeBytes { try StoredMetadata($0, at: .none) }
        }
        #expect(error?.rule == rule)
    }

    @Test("A checkpoint whose history cannot be is passed over (F-861)")
    func checkpoint() throws {
        let (image, place) = try Self.store()
        let disk = try image.disk()
        let name = try #require(image.files.keys.first { $0.hasPrefix("checkpoint") })
        #expect(place.segment > 0)
        var broken = image
        broken.files[name]![broken.files[name]!.count - 3] ^= 1
        let whole = try HistoryTests.open(disk)
        let lines = try HistoryText.numbered(whole)
        try whole.close()
        let store = try HistoryTests.open(try broken.disk())
        #expect(try HistoryText.numbered(store) == lines)
        try store.close()
    }
}
