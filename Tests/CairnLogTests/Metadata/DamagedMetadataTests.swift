// Metadata frames that are damaged, or say what they may not.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Metadata that are damaged")
struct DamagedMetadataTests {
    private static func store() throws -> DiskImage {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try store.setMetadata(["token": .string("abc")])
        try SampleStore.firstObjects(store)
        try store.close()
        return try DiskImage(of: disk)
    }

    @Test("A flipped bit is damage with its place; salvage keeps the objects")
    func flipped() throws {
        var image = try Self.store()
        let name = image.segments.last!
        let at = image.files[name]!.firstRange(of: Array("{\"string\":\"abc\"}".utf8))!.lowerBound
        image.files[name]![at + 12] ^= 1
        let disk = try image.disk()
        let error = #expect(throws: StoreError.self) {
            _ = try LogStore.metadata(forStoreAt: "/store", on: disk)
        }
        #expect(error?.code == .damaged && error?.context.segment != nil)
        var options = FollowingStores.reading(disk)
        options.isReadOnly = true
        #expect(try !LogStore.check(at: "/store", options: options).findings.isEmpty)
        var salvage = SalvageOptions()
        salvage.store = CompactionTests.options(on: disk)
        _ = try LogStore.salvage(at: "/store", to: "/other", options: salvage)
        #expect(try LogStore.metadata(forStoreAt: "/other", on: disk).values.isEmpty)
    }

    @Test(
        "F-751, F-752: bytes that are no metadata are refused",
        arguments: [
            (0, "{\"format\":1,\"values\":{}}", "F-751"), (1, "", "F-751"), (1, "{", "F-752"),
            (1, "[]", "F-752"), (1, "{\"format\":1}", "F-752"),
            (1, "{\"format\":2,\"values\":{}}", "F-752"),
            (1, "{\"format\":1,\"identifier\":\"x\",\"values\":{}}", "F-752"),
            (1, "{\"format\":1,\"values\":{\"a\":{}}}", "F-752"),
            (1, "{\"format\":1,\"values\":{\"a\":{\"list\":[]}}}", "F-752"),
            (1, "{\"format\":1,\"values\":{\"a\":{\"integer\":\"1\"}}}", "F-752"),
            (1, "{\"format\":1,\"values\":{\"a\":{\"uuid\":\"1\"}}}", "F-752"),
            (1, "{\"format\":1,\"values\":{\"a\":1}}", "F-752"),
        ])
    func refused(revision: UInt64, document: String, rule: String) {
        var payload = withUnsafeBytes(of: revision.littleEndian) { Array($0) }
        payload += Array(document.utf8)
        let error = #expect(throws: FormatError.self) {
            _ = try payload.withUnsafeBytes { try StoredMetadata($0, at: .none) }
        }
        #expect(error?.rule == rule)
    }

    @Test("Keys that nobody knows are passed over, and an identifier may be null")
    func unknownKeys() throws {
        let document =
            "{\"later\":[1],\"format\":1,\"identifier\":null,\"values\":{\"a\":{\"integer\":-1}}}"
        var payload = withUnsafeBytes(of: UInt64(3).littleEndian) { Array($0) }
        payload += Array(document.utf8)
        let metadata = try payload.withUnsafeBytes { try StoredMetadata($0, at: .none) }
        #expect(metadata.values == ["a": .integer(-1)] && metadata.identifier == nil)
        #expect(metadata.revision == 3)
    }

    @Test("F-753: of two with one revision the one in the later segment is in force")
    func newer() {
        func made(_ revision: UInt64, _ segment: UInt32) -> StoredMetadata {
            StoredMetadata(
                place: Place(segment: segment, offset8: 600), revision: revision, identifier: nil,
                values: [:])
        }
        #expect(made(2, 1).newer(than: made(1, 9)).revision == 2)
        #expect(made(1, 9).newer(than: made(2, 1)).revision == 2)
        #expect(made(1, 9).newer(than: made(1, 2)).place.segment == 9)
        #expect(made(1, 2).newer(than: made(1, 9)).place.segment == 9)
        #expect(made(1, 2).newer(than: nil).place.segment == 2)
    }
}
