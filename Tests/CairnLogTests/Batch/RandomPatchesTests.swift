// Batch updates of many rows of many blocks, beside a store in which the same rows are updated one by one.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Patches beside rows that are written one by one")
struct RandomPatchesTests {
    private static func open(_ disk: MemoryFileSystem) throws -> LogStore {
        var options = PatchedSample.options(on: disk)
        options.persistentHistoryTracking = true
        options.sizes.largeValueBytes = 60
        let isNew = try !disk.exists("/store")
        return try LogStore.open(
            at: "/store", schema: isNew ? try SampleStore.schema() : nil, options: options)
    }

    /// Airports and heliports, with some values and without others.
    private static func insert(
        _ stores: [LogStore], _ numbers: Range<Int>, _ random: inout RandomSource
    )
        throws
    {
        let objects = numbers.map { number -> [String: Any] in
            var row: [String: Any] = ["code": "A\(number)", "elevation": number]
            if !random.oneIn(3) { row["latitude"] = Double(number) / 7 }
            if !random.oneIn(3) { row["factor"] = Float(number % 5) }
            if !random.oneIn(4) { row["note"] = "note \(number)" }
            if random.oneIn(40) { row["note"] = String(repeating: "long \(number) ", count: 20) }
            if !random.oneIn(4) {
                row["since"] = Date(timeIntervalSinceReferenceDate: Double(number))
            }
            if !random.oneIn(4) {
                row["key"] = UUID(
                    uuid: (
                        1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15,
                        UInt8(truncatingIfNeeded: number)
                    ))
            }
            if !random.oneIn(4) { row["fee"] = Decimal(number) / 100 }
            if !random.oneIn(4) { row["open"] = number % 3 == 0 }
            if !random.oneIn(4) { row["big"] = number * 1_000_003 }
            return row
        }
        let entity = random.oneIn(4) ? "Heliport" : "Airport"
        for store in stores {
            _ = try store.execute(BatchInsertRequest(entityName: entity, objects: objects))
        }
    }

    private static func value(_ random: inout RandomSource) throws -> (String, UpdatedValue) {
        let number = Int.random(in: 0...5, using: &random)
        if random.oneIn(6) {
            let names = [
                "small", "big", "fee", "latitude", "factor", "open", "since", "key", "note",
            ]
            return (names[Int.random(in: 0...8, using: &random)], nil)
        }
        switch Int.random(in: 0...9, using: &random) {
        case 0: return ("small", .value(.integer(Int64(number))))
        case 1: return ("big", try PatchedSample.expression("big * \(number + 1)"))
        case 2: return ("fee", .value(.decimal(Decimal(number) / 10)))
        case 3: return ("latitude", try PatchedSample.expression("latitude / \(number + 1)"))
        case 4: return ("factor", .value(.float(Float(number))))
        case 5: return ("open", .value(.boolean(number > 2)))
        case 6:
            return ("since", .value(.date(Date(timeIntervalSinceReferenceDate: Double(number)))))
        case 7:
            return (
                "key",
                .value(
                    .uuid(UUID(uuid: (UInt8(number), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 9))))
            )
        case 8:
            return (
                "note", .value(.string(String(repeating: "x\(number)", count: number * number * 2)))
            )
        default: return ("elevation", try PatchedSample.expression("elevation + \(number)"))
        }
    }

    private static func predicate(_ count: Int, _ random: inout RandomSource) throws
        -> PredicateNode?
    {
        let from = Int.random(in: 0...count, using: &random)
        let formats = [
            "elevation >= \(from)", "elevation < \(from)", "small == 3 OR small == nil",
            "open == YES",
            "elevation >= \(from) AND elevation < \(from + 30)", "note != nil", "factor > 1",
        ]
        return random.oneIn(3)
            ? nil
            : try PredicateNode(
                format: formats[Int.random(in: 0...formats.count - 1, using: &random)])
    }

    @Test("Content, versions, history and what is told are the same")
    func agree() throws {
        var (patches, partial) = (0, 0)
        try Rounds.run("patches beside rows", everyDay: 6, whole: 2000) { random in
            let disks = [MemoryFileSystem(), MemoryFileSystem()]
            var stores = try disks.map { try Self.open($0) }
            var count = 0
            for _ in 0..<Int.random(in: 4...14, using: &random) {
                if count == 0 || random.oneIn(5) {
                    let more = Int.random(in: 10...70, using: &random)
                    try Self.insert(stores, count..<count + more, &random)
                    count += more
                }
                var request = BatchUpdateRequest(entityName: "Airport")
                for _ in 0..<Int.random(in: 1...3, using: &random) {
                    let (name, value) = try Self.value(&random)
                    request.propertiesToUpdate[name] = value
                }
                request.predicate = try Self.predicate(count, &random)
                request.resultType = .objectIDs
                let result = try stores[0].execute(request)
                request.fetchLimit = 1_000_000
                let expected = try stores[1].execute(request)
                #expect(result.updatedCount == expected.updatedCount)
                #expect(result.unchangedCount == expected.unchangedCount)
                #expect(result.objectIDs == expected.objectIDs)
                let (found, _) = PatchedSample.blocks(stores[0])
                patches += found.count
                partial += found.count { $0.live != $0.rows }
                if random.oneIn(3) {
                    let code = "A\(Int.random(in: 0...count, using: &random))"
                    for store in stores { try PatchedSample.delete(store, [code]) }
                }
                switch Int.random(in: 0...9, using: &random) {
                case 0: try stores[0].engine.rollSegment()
                case 1: _ = try stores[0].compact()
                case 2: try stores[0].engine.takeCheckpoint()
                case 3:
                    try stores[0].close()
                    stores[0] = try Self.open(disks[0])
                case 4:
                    let other = MemoryFileSystem()
                    try DiskImage(of: disks[0]).write(to: other, "/copy")
                    var options = PatchedSample.options(on: other)
                    options.isReadOnly = true
                    let copy = try LogStore.open(at: "/copy", options: options)
                    #expect(try SampleStore.text(copy) == SampleStore.text(stores[0]))
                    try copy.close()
                default: break
                }
                #expect(try SampleStore.text(stores[0]) == SampleStore.text(stores[1]))
            }
            let told = try stores.map { store in
                try store.execute(.fetchHistory(after: nil)).transactions.filter {
                    !$0.updatedObjectIDs.isEmpty
                }.map { Set($0.updatedObjectIDs) }
            }
            #expect(told[0] == told[1])
            for store in stores {
                let findings = try store.check().findings
                #expect(findings.isEmpty, "\(findings)")
                try store.close()
            }
        }
        #expect(patches > 0 && partial > 0)
    }
}
