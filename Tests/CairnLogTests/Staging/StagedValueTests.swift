// Values that are in the store before a save refers to them.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog
@testable import CairnMoving

@Suite("Staged values")
struct StagedValueTests {
    private static let piece = StagingArea.pieceSize

    @Test(
        "The value is what was written, whatever its size, then and when the store is opened again",
        arguments: [1, 7, 4096, piece - 1, piece, piece + 1, 3 * piece, 3 * piece + 5])
    func whole(size: Int) throws {
        let disk = MemoryFileSystem()
        var store = try CompactionTests.open(disk)
        let value = patternedBytes(size)
        let id = try StagedStores.newID(store)
        let staged = try StagedStores.stage(store, value, for: id)
        #expect(staged.count == UInt64(size))
        #expect(try staged.data() == value)
        let result = try StagedStores.save(store, [("A", id, staged)])
        // Who saved it is not given all of it.
        #expect(result.rows[id] == nil && result.recomputed == [id])
        #expect(try StagedStores.plan(store, id) == value)
        #expect(try staged.data() == value)
        let text = try SampleStore.text(store)
        for _ in 0..<2 {
            #expect(try store.check().findings.isEmpty)
            try store.close()
            store = try CompactionTests.open(disk)
            #expect(store.recovery.wasClosed)
            #expect(try StagedStores.plan(store, id) == value)
            #expect(try SampleStore.text(store) == text)
        }
        // Compaction takes it along.
        for round in 0..<4 { try CompactionTests.update(store, 0..<60, round) }
        _ = try store.compact()
        #expect(try store.check().findings.isEmpty)
        #expect(try StagedStores.plan(store, id) == value)
        try store.close()
    }

    @Test("What nobody saves leaves nothing behind")
    func unsaved() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let id = try StagedStores.newID(store)
        let value = patternedBytes(2 * Self.piece)
        for round in 0..<3 {
            var staged: StagedValue? = try StagedStores.stage(store, value, for: id)
            #expect(try StagedStores.sides(disk).count == 1, "round \(round)")
            var standIn = staged?.standIn
            staged = nil
            // The bytes that stand for it keep it.
            #expect(try standIn.flatMap(StagedValue.find)?.data() == value)
            standIn = nil
            // Given up before it is whole, and not even given up.
            let writer = try #require(
                try store.beginValue(
                    column: StagedStores.column("plan"), of: id, entity: StagedStores.airport))
            try StagedStores.write(value, to: writer, chunk: 1 << 20)
            if round > 0 { writer.abandon() }
            #expect(throws: StoreError.self) {
                if round == 0 { writer.abandon() }
                try StagedStores.write(value, to: writer, chunk: 1)
            }
        }
        #expect(try StagedStores.sides(disk).count == 1)
        try store.engine.withTurn { _ in store.engine.tools.staging.trim() }
        #expect(try StagedStores.sides(disk).values.allSatisfy { $0 == 4096 })
        _ = try StagedStores.stage(store, value, for: id)
        try store.close()
        #expect(try StagedStores.sides(disk).isEmpty)
        let again = try CompactionTests.open(disk)
        #expect(again.recovery.wasClosed)
        #expect(try again.check().findings.isEmpty)
        try again.close()
    }

    @Test("Values share a segment; they may be saved in any order, or not at all")
    func shared() throws {
        var random = RandomSource()
        for round in 0..<Campaign.count(2, whole: 200) {
            let disk = MemoryFileSystem()
            var options = CompactionTests.options(on: disk)
            options.sizes.segmentBytes = 64 << 20
            let store = try LogStore.open(
                at: "/store", schema: SampleStore.schema(), options: options)
            var waiting: [(seed: Int, id: ObjectID, value: StagedValue)] = []
            var saved: [(seed: Int, id: ObjectID)] = []
            for step in 0..<14 {
                switch Int.random(in: 0..<5, using: &random) {
                case 0, 1:
                    let id = try StagedStores.newID(store)
                    let value = patternedBytes(5000 + step * 100, seed: step)
                    waiting.append((step, id, try StagedStores.stage(store, value, for: id)))
                case 2 where !waiting.isEmpty:
                    waiting.remove(at: Int.random(in: waiting.indices, using: &random))
                case 3:
                    _ = try store.compact()
                default:
                    waiting.shuffle(using: &random)
                    let some = waiting.prefix(Int.random(in: 0...2, using: &random))
                    waiting.removeFirst(some.count)
                    if some.isEmpty { continue }
                    try StagedStores.save(store, some.map { ("S\($0.seed)", $0.id, $0.value) })
                    saved += some.map { ($0.seed, $0.id) }
                }
                for one in waiting {
                    #expect(
                        try one.value.data()
                            == patternedBytes(5000 + one.seed * 100, seed: one.seed),
                        "round \(round), seed \(random.seed)")
                }
                for one in saved {
                    #expect(
                        try StagedStores.plan(store, one.id)
                            == patternedBytes(5000 + one.seed * 100, seed: one.seed),
                        "round \(round), seed \(random.seed)")
                }
            }
            #expect(
                try store.check().findings.isEmpty, "round \(round), seed \(random.seed)")
            waiting = []
            let text = try SampleStore.text(store)
            try store.close()
            #expect(
                try CompactionTests.text(DiskImage(of: disk)).text == text,
                "round \(round), seed \(random.seed)")
        }
    }

    @Test("A value that was adopted with one behind it is not written over when it is let go")
    func adoptedAlong() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let ids = try (0..<3).map { _ in try StagedStores.newID(store) }
        var first: StagedValue? = try StagedStores.stage(
            store, patternedBytes(6000, seed: 1), for: ids[0])
        let second = try StagedStores.stage(store, patternedBytes(6000, seed: 2), for: ids[1])
        try StagedStores.save(store, [("B", ids[1], second)])
        #expect(try first?.data() == patternedBytes(6000, seed: 1))
        first = nil
        let third = try StagedStores.stage(store, patternedBytes(6000, seed: 3), for: ids[2])
        try StagedStores.save(store, [("C", ids[2], third)])
        #expect(try StagedStores.plan(store, ids[1]) == patternedBytes(6000, seed: 2))
        #expect(try StagedStores.plan(store, ids[2]) == patternedBytes(6000, seed: 3))
        #expect(try store.check().findings.isEmpty)
        try store.close()
        _ = try CompactionTests.text(DiskImage(of: disk))
    }

    @Test("A segment with a value that waits is left alone by compaction")
    func compacted() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let ids = try (0..<2).map { _ in try StagedStores.newID(store) }
        let first = try StagedStores.stage(store, patternedBytes(9000, seed: 1), for: ids[0])
        try StagedStores.save(store, [("A", ids[0], first)])
        let second = try StagedStores.stage(store, patternedBytes(9000, seed: 2), for: ids[1])
        // What the segment has in the store is dead.
        _ = try store.execute(
            BatchDeleteRequest(.ids([ids[0]], entity: StagedStores.airport)))
        _ = try store.compact()
        try StagedStores.save(store, [("B", ids[1], second)])
        #expect(try StagedStores.plan(store, ids[1]) == patternedBytes(9000, seed: 2))
        #expect(try store.check().findings.isEmpty)
        // Now it may be had, and another one is taken for the next value.
        for round in 0..<3 { try CompactionTests.update(store, 0..<60, round) }
        _ = try store.compact()
        #expect(try StagedStores.plan(store, ids[1]) == patternedBytes(9000, seed: 2))
        let id = try StagedStores.newID(store)
        let third = try StagedStores.stage(store, patternedBytes(9000, seed: 3), for: id)
        try StagedStores.save(store, [("C", id, third)])
        #expect(try store.check().findings.isEmpty)
        try store.close()
        _ = try CompactionTests.text(DiskImage(of: disk))
    }

    @Test("Another object, a second save and another store get the value, too")
    func elsewhere() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let value = patternedBytes(2 * Self.piece + 100)
        let ids = try (0..<3).map { _ in try StagedStores.newID(store) }
        let staged = try StagedStores.stage(store, value, for: ids[0])
        // For another one, and for both at once.
        try StagedStores.save(store, [("A", ids[1], staged), ("B", ids[0], staged)])
        // Once more, after it was used and moved.
        for round in 0..<3 { try CompactionTests.update(store, 0..<60, round) }
        _ = try store.compact()
        try StagedStores.save(store, [("C", ids[2], staged)])
        for id in ids { #expect(try StagedStores.plan(store, id) == value) }
        #expect(try store.check().findings.isEmpty)
        let other = try LogStore.inMemory(schema: SampleStore.schema())
        let id = try StagedStores.newID(other)
        try StagedStores.save(other, [("A", id, staged)])
        #expect(try StagedStores.plan(other, id) == value)
        try other.close()
        try store.close()
        _ = try CompactionTests.text(DiskImage(of: disk))
    }

    @Test("A save that fails leaves the value waiting")
    func failing() throws {
        let disk = MemoryFileSystem()
        let faulty = FaultInjectingFileSystem(over: disk)
        let store = try CompactionTests.open(faulty)
        let ids = try (0..<2).map { _ in try StagedStores.newID(store) }
        let value = patternedBytes(5000)
        try StagedStores.save(
            store, [("A", ids[0], try StagedStores.stage(store, value, for: ids[0]))])
        let staged = try StagedStores.stage(store, value, for: ids[1])
        #expect(throws: StoreError.self) {
            try StagedStores.save(store, [("A", ids[1], staged)])
        }
        #expect(try staged.data() == value)
        try StagedStores.save(store, [("B", ids[1], staged)])
        #expect(try StagedStores.plan(store, ids[1]) == value)
        // Not each write of a save is one that it fails for.
        var failures = 0
        for number in 1...4 {
            let id = try StagedStores.newID(store)
            let staged = try StagedStores.stage(store, value, for: id)
            faulty.fail(.write, number: number, with: .noSpace)
            let isSaved = (try? StagedStores.save(store, [("C\(number)", id, staged)])) != nil
            faulty.clearFaults()
            if !isSaved {
                failures += 1
                #expect(try staged.data() == value)
                try StagedStores.save(store, [("C\(number)", id, staged)])
            }
            #expect(try StagedStores.plan(store, id) == value)
        }
        #expect(failures > 0)
        #expect(try store.check().findings.isEmpty)
        try store.close()
        _ = try CompactionTests.text(DiskImage(of: disk))
    }

    @Test("A disk that is full while it is written costs the value alone")
    func full() throws {
        let disk = MemoryFileSystem()
        let faulty = FaultInjectingFileSystem(over: disk)
        let store = try CompactionTests.open(faulty)
        let id = try StagedStores.newID(store)
        let value = patternedBytes(2 * Self.piece + 100)
        for operation in [FileSystemError.Operation.write, .synchronize] {
            var number = 1
            while true {
                let before = faulty.count(operation)
                faulty.fail(operation, number: number, with: .noSpace)
                let staged = try? StagedStores.stage(store, value, for: id, chunk: 1 << 20)
                let isOver = faulty.count(operation) < before + number
                faulty.clearFaults()
                if let staged { #expect(try staged.data() == value) }
                try CompactionTests.update(store, 0..<3, number)
                if isOver { break }
                number += 1
            }
            #expect(number > 1)
        }
        let staged = try StagedStores.stage(store, value, for: id)
        try StagedStores.save(store, [("A", id, staged)])
        #expect(try StagedStores.plan(store, id) == value)
        try store.close()
        _ = try CompactionTests.text(DiskImage(of: disk))
    }

    @Test("A damaged piece is told of, before and after the save")
    func damaged() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let id = try StagedStores.newID(store)
        let staged = try StagedStores.stage(store, patternedBytes(2 * Self.piece), for: id)
        let part = try #require(staged.bytes as? StagedPart)
        try part.segment.file.write([0, 1, 2, 3].span.bytes, at: part.start.offset + 1_500_000)
        let error = #expect(throws: StoreError.self) { _ = try staged.data() }
        #expect(error?.code == .damaged && error?.context.segment == part.segment.number)
        try StagedStores.save(store, [("A", id, staged)])
        #expect(throws: StoreError.self) { _ = try StagedStores.plan(store, id) }
        #expect(try !store.check().findings.isEmpty)
        try store.close()
    }

    @Test("Values whose bytes are compared are put together in memory")
    func compared() throws {
        let store = try LogStore.inMemory(schema: SampleStore.indexedSchema())
        defer { try? store.close() }
        let id = try StagedStores.newID(store)
        // An index goes over the plan, and a constraint over the code.
        for name in ["plan", "code"] {
            #expect(
                try store.beginValue(
                    column: StagedStores.column(name), of: id, entity: StagedStores.airport)
                    == nil)
        }
    }

    @Test(
        "So are those whose bytes a constraint's predicate asks for, but not if it asks for nil",
        arguments: [
            (format: "plan == CAST('AQID', 'NSData')", isStaged: false),
            (format: "plan != nil", isStaged: true),
        ])
    func asked(format: String, isStaged: Bool) throws {
        var model = SampleStore.model
        model.entities[StagedStores.airport].uniquenessRules = [
            UniquenessRule(["code"], format: format)
        ]
        let store = try LogStore.inMemory(schema: Schema(model))
        defer { try? store.close() }
        let id = try StagedStores.newID(store)
        let writer = try store.beginValue(
            column: StagedStores.column("plan"), of: id, entity: StagedStores.airport)
        #expect((writer != nil) == isStaged)
    }

    @Test("Backups, copies and readers beside have what is saved, and nothing else")
    func copied() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        let ids = try (0..<2).map { _ in try StagedStores.newID(store) }
        let value = patternedBytes(Self.piece + 10)
        let staged = try ids.map { try StagedStores.stage(store, value, for: $0) }
        try StagedStores.save(store, [("A", ids[0], staged[0])])
        let other = MemoryFileSystem()
        try store.copy(to: "/store", on: other)
        let copy = try CompactionTests.open(other)
        let id = try #require(copy.identity.id(movedFrom: ids[0]))
        #expect(try StagedStores.plan(copy, id) == value)
        #expect(try copy.check().findings.isEmpty)
        try copy.close()
        try StagedStores.save(store, [("B", ids[1], staged[1])])
        #expect(try StagedStores.plan(store, ids[1]) == value)
        try store.close()
    }
}
