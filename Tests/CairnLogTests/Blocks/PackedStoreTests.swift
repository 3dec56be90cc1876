// Stores whose blocks have packed columns: what is read of them, what is kept in memory, and how older stores come to them.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("Stores with packed columns")
struct PackedStoreTests {
    private static let model = ManagedObjectModel(entities: [
        EntityDescription(
            "Note",
            attributes: [
                .init("key", .string, optional: false), .init("text", .string),
                .init("number", .integer64), .init("price", .double),
            ], uniquenessConstraints: [["key"]])
    ])

    private static func options(
        on disk: any FileSystem, cacheBytes: Int? = nil, packs: Bool = true
    ) -> LogStoreOptions {
        var options = SampleStore.options(on: disk)
        options.cacheBytes = cacheBytes
        options.sizes.packsColumns = packs
        options.sizes.askedCompactionFloor = 1
        return options
    }

    private static func key(_ number: Int) -> String {
        String(UInt32(truncatingIfNeeded: number &* 2_654_435_761), radix: 36)
    }

    private static func text(_ number: Int) -> String {
        let words = ["red", "green", "blue", "yellow", "black", "white"]
        return "\(words[number % 6]) \(words[number / 6 % 6]) \(words[number / 36 % 6]) \(number)"
    }

    private static func insert(_ store: LogStore, _ numbers: Range<Int>) throws {
        let rows = numbers.map { number -> [String: Any] in
            [
                "key": key(number), "number": number * number % 5000,
                "price": Double(number % 700) / 100, "text": text(number),
            ]
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Note", objects: rows))
    }

    private struct Note: Equatable {
        let key: String
        let text: String?
        let number: Int64?
        let price: Double?

        static func made(_ number: Int) -> Note {
            Note(
                key: PackedStoreTests.key(number), text: PackedStoreTests.text(number),
                number: Int64(number * number % 5000), price: Double(number % 700) / 100)
        }
    }

    private static func lookUp(_ store: LogStore, _ number: Int) throws -> Note? {
        let entity = store.schema.entities[0]
        let key = try entity.column("key", as: String.self)
        let text = try entity.column("text", as: String?.self)
        let count = try entity.column("number", as: Int64?.self)
        let price = try entity.column("price", as: Double?.self)
        var found: Note?
        try store.snapshot().lookUp(
            StoreLookup(entity, by: ColumnSet(key)), key, [Self.key(number)]
        ) { row in
            found = Note(key: row[key], text: row[text], number: row[count], price: row[price])
        }
        return found
    }

    /// Whether the blocks that are alive are packed, in the order of the log.
    private static func packed(_ store: LogStore) throws -> [Bool] {
        let state = store.engine.registry.published()
        return try state.blocks.all(ofEntity: 0).map { handle in
            try store.engine.reader.passingBlock(state.blocks.entry(handle), in: state).head
                .isPacked
        }
    }

    @Test("An object by its key is read from the bytes as they are stored: nothing is decoded")
    func pointReads() throws {
        let store = try LogStore.open(
            at: "/store", schema: try Schema(Self.model),
            options: Self.options(on: MemoryFileSystem()))
        try Self.insert(store, 0..<5000)
        let state = store.engine.registry.published()
        for number in stride(from: 0, to: 5000, by: 77) {
            #expect(try Self.lookUp(store, number) == Note.made(number))
        }
        #expect(try Self.lookUp(store, 5000) == nil)
        for handle in state.blocks.all(ofEntity: 0) {
            let block = try store.engine.reader.block(state.blocks.entry(handle), in: state)
            #expect(block.head.isPacked && !block.hasDecoded)
        }
        // A scan decodes what it asks for, once.
        let bytes = store.blockCache.bytes
        let fetch = StoreFetch(entity: 0, predicate: .compare("number", .less, .integer(10)))
        let count = try store.snapshot().count(fetch)
        #expect(store.blockCache.bytes > bytes)
        let decoded = store.blockCache.bytes
        #expect(try store.snapshot().count(fetch) == count)
        #expect(store.blockCache.bytes == decoded)
        try store.close()
    }

    @Test("A scan of more than the cache holds empties it of nothing, and the budget holds")
    func scans() throws {
        let disk = MemoryFileSystem()
        let whole = try LogStore.open(
            at: "/store", schema: try Schema(Self.model), options: Self.options(on: disk))
        try Self.insert(whole, 0..<20_000)
        try whole.close()
        let budget = 120_000
        let store = try LogStore.open(
            at: "/store", options: Self.options(on: disk, cacheBytes: budget))
        // Some blocks are asked for again and again.
        let numbers = stride(from: 0, to: 2000, by: 50)
        for number in numbers { #expect(try Self.lookUp(store, number) == Note.made(number)) }
        for number in numbers { _ = try Self.lookUp(store, number) }
        let fetch = StoreFetch(entity: 0, predicate: .compare("number", .less, .integer(10)))
        for _ in 0..<3 { #expect(try store.snapshot().count(fetch) > 0) }
        let before = store.blockCache
        #expect(before.bytes <= budget)
        for number in numbers { #expect(try Self.lookUp(store, number) == Note.made(number)) }
        #expect(store.blockCache.misses == before.misses)
        // All keys, in an order of their own: what is kept never exceeds the budget by more than what is noted of a block that was
        // read last.
        for number in stride(from: 0, to: 20_000, by: 37) {
            let number = number * 7919 % 20_000
            #expect(try Self.lookUp(store, number) == Note.made(number))
            #expect(store.blockCache.bytes <= budget + 4096)
        }
        try store.close()
    }

    @Test(
        "Many keys in one request are found in more blocks than there is room for, and most blocks stay"
    )
    func manyKeys() throws {
        let disk = MemoryFileSystem()
        let whole = try LogStore.open(
            at: "/store", schema: try Schema(Self.model), options: Self.options(on: disk))
        for part in 0..<100 { try Self.insert(whole, part * 200..<(part + 1) * 200) }
        let numbers = (0..<20_000).map { $0 * 7919 % 20_000 }
        func lookUp(_ store: LogStore) throws {
            let entity = store.schema.entities[0]
            let (key, number) = (
                try entity.column("key", as: String.self),
                try entity.column("number", as: Int64?.self)
            )
            var found = 0
            try store.snapshot().lookUp(
                StoreLookup(entity, by: ColumnSet(key)), key, numbers.map { Self.key($0) }
            ) { row in
                let wanted = Note.made(numbers[row.position])
                #expect(row[key] == wanted.key && row[number] == wanted.number)
                found += 1
            }
            #expect(found == numbers.count)
        }
        try lookUp(whole)
        let bytes = whole.blockCache.bytes
        #expect(whole.blockCache.blocks >= 16)
        try whole.close()
        var options = Self.options(on: disk, cacheBytes: bytes * 7 / 8)
        // Several threads share the room.
        options.scanThreads = 1
        let store = try LogStore.open(at: "/store", options: options)
        try lookUp(store)
        // A reading asks the cache for a block that it does not know. If it dropped all it knew whenever there were too many, it
        // would ask for one for nearly every second key.
        #expect(store.blockCache.hits + store.blockCache.misses < numbers.count / 3)
        try store.close()
    }

    @Test("A store of before stays as it is until it is compacted, and is packed then")
    func older() throws {
        let disk = MemoryFileSystem()
        let old = try LogStore.open(
            at: "/store", schema: try Schema(Self.model),
            options: Self.options(on: disk, packs: false))
        try Self.insert(old, 0..<3000)
        #expect(try Self.packed(old).allSatisfy { !$0 })
        try old.close()

        let store = try LogStore.open(at: "/store", options: Self.options(on: disk))
        try Self.insert(store, 3000..<4000)
        let text = try SampleStore.text(store)
        // Its segment does not say that it may have them.
        #expect(try Self.packed(store).allSatisfy { !$0 })
        #expect(
            store.engine.registry.read { state in
                state.segments.all.allSatisfy { !$0.header.flags.allowsPackedColumns }
            })
        _ = try store.compact()
        #expect(try Self.packed(store).allSatisfy { $0 })
        #expect(try SampleStore.text(store) == text)
        #expect(try store.check().findings.isEmpty)
        _ = try store.compact()
        #expect(try SampleStore.text(store) == text)
        try store.close()
        let again = try LogStore.open(at: "/store", options: Self.options(on: disk))
        #expect(try SampleStore.text(again) == text)
        try again.close()
    }

    @Test("A packed block in a segment that does not say so is found by check (F-570)")
    func unmarked() throws {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "\(DiskImage.folder)", schema: try Schema(Self.model),
            options: Self.options(on: disk))
        try Self.insert(store, 0..<100)
        try store.close()
        var image = try DiskImage(of: disk)
        let name = image.segments[0]
        image.files[name]![80] = 0
        image.sealHeader(name)
        let report = try LogStore.check(
            at: "\(DiskImage.folder)", options: Self.options(on: try image.disk()))
        #expect(report.findings.contains { $0.message.contains("F-570") })
    }
}
