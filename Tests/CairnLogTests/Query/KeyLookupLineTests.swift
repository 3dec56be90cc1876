// Lookups of many keys by several threads: the same rows in the same order, whoever finds them.

import CairnFileSystem
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import Testing

@testable import CairnLog

@Suite("Many keys by several threads")
struct KeyLookupLineTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Page",
            attributes: [.init("key", .integer64, optional: false), .init("text", .string)],
            uniquenessConstraints: [["key"]])
    ])
    private static let count = 6000

    /// Some texts are so long that the rows of an item do not fit into one batch if it has many of them.
    private static func text(_ key: Int) -> String {
        key < 100 ? String(repeating: "page \(key) ", count: 8000) : "page \(key)"
    }

    private static func open(threads: Int, cacheBytes: Int? = nil) throws -> LogStore {
        var options = SampleStore.options(on: MemoryFileSystem(), durability: .relaxed)
        options.scanThreads = threads
        options.cacheBytes = cacheBytes
        let store = try LogStore.open(at: "/store", schema: Schema(model), options: options)
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Page",
                objects: (0..<count).map { ["key": $0, "text": text($0)] }))
        return store
    }

    private struct Stop: Error {}

    /// Looks up keys; calls the body with the position, the key and the text of each row.
    private static func lookUp(
        _ keys: [Int64], in snapshot: any StoreSnapshot,
        _ body: (Int, Int, String?) throws -> Void
    ) throws {
        let entity = snapshot.schema.entities[0]
        let key = try entity.column("key", as: Int64.self)
        let text = try entity.column("text", as: String?.self)
        try snapshot.lookUp(StoreLookup(entity, by: ColumnSet(key)), key, keys) { row in
            try body(row.position, Int(row[key]), row[text])
        }
    }

    @Test(
        "In the order of the keys, of which some occur twice and some nowhere",
        arguments: [1, 2, 4])
    func order(_ threads: Int) throws {
        try Rounds.run("keys by several threads", everyDay: 1, whole: 30) { random in
            let store = try Self.open(threads: threads, cacheBytes: random.oneIn(2) ? 0 : nil)
            let snapshot = try store.snapshot()
            for count in [0, 1, 1024, 1025, 1280, 1535, 1536, 1537, 5000] {
                let long = [2, 300, 1_000_000].randomElement(using: &random)!
                let keys = (0..<count).map { _ in
                    random.oneIn(long)
                        ? Int64.random(in: 0..<100, using: &random)
                        : Int64.random(in: -200..<Int64(Self.count) + 200, using: &random)
                }
                let wanted = keys.indices.filter { 0..<Int64(Self.count) ~= keys[$0] }
                var positions: [Int] = []
                try Self.lookUp(keys, in: snapshot) { position, key, text in
                    #expect(Int(keys[position]) == key)
                    #expect(text == Self.text(key), "seed \(random.seed)")
                    positions.append(position)
                }
                #expect(positions == wanted, "\(count) keys, seed \(random.seed)")
            }
            try store.close()
        }
    }

    @Test("It ends where the reader ends it, and the next one begins anew", arguments: [1, 2, 4])
    func ended(_ threads: Int) throws {
        let store = try Self.open(threads: threads)
        let snapshot = try store.snapshot()
        let keys = (0..<Int64(Self.count)).map { $0 * 7 % Int64(Self.count) }
        for end in [0, 1, 1023, 1024, 1500, 2047, 3000, 5999] {
            var positions: [Int] = []
            #expect(throws: Stop.self) {
                try Self.lookUp(keys, in: snapshot) { position, _, _ in
                    positions.append(position)
                    if position == end { throw Stop() }
                }
            }
            #expect(positions == Array(0...end))
        }
        try store.close()
    }

    @Test("Lookups within a lookup, and in other threads at the same time")
    func together() throws {
        let store = try Self.open(threads: 3)
        let wrong = Atomic(0)
        DispatchQueue.concurrentPerform(iterations: 4) { number in
            do {
                let snapshot = try store.snapshot()
                let keys = (0..<3000).map { Int64(($0 * (number + 3)) % Self.count) }
                var found = 0
                try Self.lookUp(keys, in: snapshot) { position, key, text in
                    if position != found || text != Self.text(key) {
                        wrong.wrappingAdd(1, ordering: .relaxed)
                    }
                    found += 1
                    guard position % 1000 == 999 else { return }
                    var inner = 0
                    try Self.lookUp(Array(keys[..<2000]), in: snapshot) { _, key, text in
                        if key != Int(keys[inner]) { wrong.wrappingAdd(1, ordering: .relaxed) }
                        inner += 1
                    }
                    if inner != 2000 { wrong.wrappingAdd(1, ordering: .relaxed) }
                }
                if found != keys.count { wrong.wrappingAdd(1, ordering: .relaxed) }
            } catch {
                wrong.wrappingAdd(1000, ordering: .relaxed)
            }
        }
        #expect(wrong.load(ordering: .relaxed) == 0)
        try store.close()
    }
}
