// Doubles among rows that are mostly unique: what goes through a sieve is grouped as everything else.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Doubles among what is mostly unique")
struct GroupSieveTests {
    /// More than it takes to see that rows are scattered.
    private static let rows = 40_000

    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Item",
            attributes: [
                .init("name", .string), .init("size", .double), .init("mark", .uuid),
                .init("plan", .binary), .init("weight", .float),
            ])
    ])

    /// A value that few rows share: most numbers are of one row.
    private static func shared(_ index: Int, _ random: inout RandomSource) -> Int {
        random.oneIn(20) ? Int(random.next() % UInt64(index + 1)) : index
    }

    private static func row(_ index: Int, _ random: inout RandomSource) -> [String: Any] {
        let size = shared(index, &random)
        let mark = UInt64(shared(index, &random))
        let bytes = withUnsafeBytes(of: mark) { Array($0) } + [UInt8](repeating: 7, count: 8)
        var row: [String: Any] = [
            "name": "an item whose name is long \(shared(index, &random))",
            "size": size % 100 == 0 ? (size % 200 == 0 ? -0.0 : 0) : Double(size) / 4,
            "mark": bytes.withUnsafeBytes { UUID(uuid: $0.loadUnaligned(as: uuid_t.self)) },
            // A few have a frame of their own.
            "plan": Data(bytes + (index % 10_000 == 5_000 ? random.bytes(70_000) : [])),
        ]
        if random.oneIn(30) { row["name"] = nil }
        if random.oneIn(30) { row["size"] = Double.nan }
        row["weight"] = random.oneIn(30) ? nil : Float(shared(index, &random))
        return row
    }

    @Test(
        "Groups of two or more are the same as in memory, whoever helps", arguments: [1, 5])
    func groups(threads: Int) throws {
        var random = RandomSource()
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.scanThreads = threads
        // More blocks than are listed at once.
        options.sizes.rowsPerBlock = 128
        options.sizes.hashBits = [3, 32].randomElement(using: &random) ?? 32
        let store = try LogStore.open(
            at: "/store", schema: Schema(Self.model), options: options)
        var rows: [[String: Any]] = []
        for index in 0..<Self.rows {
            let copied = random.oneIn(30) ? rows.randomElement(using: &random) : nil
            rows.append(copied ?? Self.row(index, &random))
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Item", objects: rows))
        let snapshot = try store.snapshot()
        for keys in Campaign.sample(Self.keys, oneIn: 4, using: &random) {
            try Self.compare(snapshot, by: keys, &random)
        }
    }

    /// What rows are grouped by.
    private static let keys = [
        ["name"], ["size"], ["mark"], ["weight"], ["plan"], ["name", "size"],
        ["weight", "mark", "name"],
    ]

    private static func compare(
        _ snapshot: any StoreSnapshot, by keys: [String], _ random: inout RandomSource
    ) throws {
        let count = ExpressionNode.function(.count, [.evaluatedObject])
        var terms = TableTerms(
            columns: keys.map { .init($0) } + [
                .init("count", count), .init("most", try ExpressionNode(format: "max:(size)")),
                .init("first", try ExpressionNode(format: "min:(name)")),
                .init("sizes", try ExpressionNode(format: "count:(size)")),
                .init("plans", try ExpressionNode(format: "count:(plan)")),
            ])
        terms.groupBy = keys.map { .keyPath($0) }
        terms.having = .compare(count, .greater, .constant(.integer(1)))
        var table = StoreTableFetch(StoreFetch(entity: 0), terms)
        table.fetch.offset = 3
        if random.oneIn(2) {
            table.fetch.predicate = .compare("weight", .less, .float(Float(rows - 2000)))
        }
        let found = try snapshot.table(table).rows
        #expect(found.count > 20, "by \(keys)")
        let known = try PlainSnapshot(snapshot).table(table).rows
        #expect(found == known, "by \(keys), seed \(random.seed)")
    }

    @Test("Parts get nearly as much each", arguments: [1, 2, 3, 8, 64])
    func parts(_ parts: Int) {
        var random = RandomSource()
        var counts = [Int](repeating: 0, count: parts)
        for _ in 0..<parts * 1000 { counts[GroupSifting.part(random.next(), of: parts)] += 1 }
        #expect(counts.allSatisfy { $0 > 700 && $0 < 1300 })
    }

    @Test("Two sieves made one know what one knows that met all")
    func together() {
        var random = RandomSource()
        let hashes = (0..<3000).map { _ in random.next() % 2000 &* 0x9E37_79B9_7F4A_7C15 }
        let (all, first, second) = (
            GroupSieve(rows: 1000), GroupSieve(rows: 1000), GroupSieve(rows: 1000)
        )
        hashes.withUnsafeBufferPointer { hashes in
            all.note(hashes)
            first.note(UnsafeBufferPointer(rebasing: hashes[..<1300]))
            second.note(UnsafeBufferPointer(rebasing: hashes[1300...]))
        }
        first.note(second)
        #expect(first.again == all.again && first.again > 0)
        func kept(_ sieve: GroupSieve) -> [UInt16] {
            var slots = (0..<3000).map { UInt16($0) }
            var copy = hashes
            let count = slots.withUnsafeMutableBufferPointer { slots in
                copy.withUnsafeMutableBufferPointer { hashes in
                    hashes.baseAddress.map { sieve.reduce(slots, $0) } ?? 0
                }
            }
            return Array(slots[..<count])
        }
        let again = Dictionary(grouping: hashes.indices, by: { hashes[$0] }).values
            .filter { $0.count > 1 }.joined()
        #expect(kept(first) == kept(all))
        #expect(Set(again.map { UInt16($0) }).isSubset(of: kept(all)))
        #expect(kept(all).count < 3000)
    }
}
