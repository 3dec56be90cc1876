// A small store whose blocks have columns in every packed encoding, made step by step: the same steps give the same bytes.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

enum PackedSample {
    static func options(on disk: any FileSystem) -> LogStoreOptions {
        var options = SampleStore.options(on: disk)
        options.sizes.rowsPerBlock = 128
        options.sizes.largeValueBytes = 300
        options.sizes.askedCompactionFloor = 1
        options.sizes.checkpointBytes = .max
        return options
    }

    /// A number that looks random.
    private static func mixed(_ number: Int) -> UInt64 {
        let mixed = UInt64(number) &* 0x9e37_79b9_7f4a_7c15
        return (mixed ^ mixed >> 29) &* 0xbf58_476d_1ce4_e5b9
    }

    private static func row(_ number: Int) -> [String: Any] {
        let bits = mixed(number)
        let words = ["runway", "terminal", "tower", "gate", "apron", "taxiway", "hangar", "radar"]
        var row: [String: Any] = [
            "code": String(bits | 1 << 63, radix: 36),
            "small": Int(bits & 0x3FF), "elevation": 400 + number * 3,
            // Some lie far above the others.
            "big": number % 40 == 7 ? Int.max - number : Int(bits >> 40),
            "fee": Decimal(bits >> 50) / 4, "latitude": Double(bits >> 46) / 1000,
            "factor": Float(bits >> 56) / 8, "open": bits >> 63 == 1,
            "since": Date(
                timeIntervalSinceReferenceDate: number % 50 == 9
                    ? -6e10 : 7e8 + Double(bits >> 44) / 16),
            "plan": withUnsafeBytes(of: bits) {
                Data(repeating: UInt8(number & 255), count: number % 31 == 5 ? 400 : 0)
                    + $0.prefix(Int(bits >> 61))
            },
            "key": UUID(
                uuid: withUnsafeBytes(of: (bits, mixed(number + 1000))) {
                    $0.load(as: uuid_t.self)
                }),
            "link": URL(string: "https://example.org/\(bits >> 62)") as Any,
        ]
        row["note"] = (0..<4).map { words[Int(bits >> UInt64($0 * 3) & 7)] }.joined(separator: " ")
        for (place, name) in ["small", "big", "latitude", "since", "note", "key"].enumerated()
        where (number + place) % 17 == 3 {
            row[name] = nil
        }
        return row
    }

    private static func insert(_ store: LogStore, _ numbers: Range<Int>) throws {
        _ = try store.execute(
            BatchInsertRequest(entityName: "Airport", objects: numbers.map { row($0) }))
    }

    static func fill(_ store: LogStore) throws {
        try insert(store, 0..<300)
        try store.engine.rollSegment()
        try insert(store, 300..<400)
        // Patches of blocks of both segments.
        try PatchedSample.update(
            store, ["latitude": try PatchedSample.expression("latitude + 1")])
        try PatchedSample.delete(store, (0..<90).map { row($0)["code"] as? String ?? "" })
        try store.engine.rollSegment()
        let first = try #require(store.engine.registry.published().segments.mains.first?.number)
        let run = try CompactionRun(store.engine, victims: [first])
        while case .moved = try run.step() {}
        run.end()
        try PatchedSample.update(store, ["small": 7], where: "open == YES")
    }

    static func image() throws -> DiskImage {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "\(DiskImage.folder)", schema: try SampleStore.schema(),
            options: options(on: disk))
        try fill(store)
        try store.close()
        return try DiskImage(of: disk)
    }

    /// A bit in the middle of the block of a side segment that takes most.
    static func harm(_ image: inout DiskImage) {
        let name = image.segments.first { image.files[$0]![12] == 2 }!
        let blocks = FrameMap(image.files[name]!).frames.filter { $0.header.kind == .block }
        let range = blocks.map(\.range).max { $0.count < $1.count }!
        image.files[name]![range.lowerBound + range.count / 2] ^= 0x10
    }
}
