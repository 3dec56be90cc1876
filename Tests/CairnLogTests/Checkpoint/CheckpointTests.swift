// Checkpoints: opening with the newest, an older one, a wrong one or none gives the same state.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Synchronization
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Checkpoints")
struct CheckpointTests {
    static func open(_ disk: any FileSystem, closing: UInt64 = .max, segmentBytes: UInt64 = 1 << 30)
        throws -> LogStore
    {
        var options = SampleStore.options(on: disk, segmentBytes: segmentBytes)
        options.sizes.closingCheckpointBytes = closing
        // Small blocks and merges, so that there is something to restore.
        options.sizes.rowsPerBlock = 64
        options.sizes.mergedBlocks = 3
        return try LogStore.open(at: "/store", schema: try SampleStore.schema(), options: options)
    }

    /// What can be known of a store: its export, and that everything in it fits together.
    static func text(_ image: DiskImage) throws -> (text: String, recovery: RecoveryReport) {
        let store = try open(try image.disk())
        defer { try? store.close() }
        #expect(try store.check().findings.isEmpty)
        return (try SampleStore.text(store), store.recovery)
    }

    /// The checkpoint of the state after each step, and the store after all of them.
    static func history(segmentBytes: UInt64 = 1 << 30) throws -> (
        checkpoints: [(name: String, bytes: [UInt8])], image: DiskImage, text: String
    ) {
        let disk = MemoryFileSystem()
        let store = try open(disk, segmentBytes: segmentBytes)
        var checkpoints: [(String, [UInt8])] = []
        for step in SampleStore.steps + SampleStore.steps.suffix(1) {
            try step(store)
            try store.engine.takeCheckpoint()
            let image = try DiskImage(of: disk)
            let name = try #require(image.files.keys.first { $0.hasPrefix("checkpoint") })
            #expect(image.files.keys.count { $0.hasPrefix("checkpoint") } == 1)
            checkpoints.append((name, image.files[name] ?? []))
        }
        let text = try SampleStore.text(store)
        try store.close()
        var image = try DiskImage(of: disk)
        for checkpoint in checkpoints { image.files[checkpoint.0] = nil }
        return (checkpoints, image, text)
    }

    @Test(
        "The newest, an older one and none give the same state (CK3)",
        arguments: [1 << 30, 5000] as [UInt64])
    func anyOne(segmentBytes: UInt64) throws {
        let (checkpoints, image, expected) = try Self.history(segmentBytes: segmentBytes)
        let (without, report) = try Self.text(image)
        #expect(without == expected)
        #expect(report.checkpoint == nil)
        var all = image
        for (name, bytes) in checkpoints {
            var one = image
            one.files[name] = bytes
            all.files[name] = bytes
            let (text, report) = try Self.text(one)
            #expect(text == expected, "\(name)")
            #expect(report.checkpoint == CheckpointName.commit(in: name))
        }
        let newest = checkpoints.compactMap { CheckpointName.commit(in: $0.name) }.max()
        #expect(try Self.text(all).recovery.checkpoint == newest)
    }

    @Test("Work goes on where a checkpoint was opened, and the next checkpoint holds all of it")
    func goingOn() throws {
        let (checkpoints, image, _) = try Self.history()
        for (name, bytes) in checkpoints {
            var one = image
            one.files[name] = bytes
            var texts: [String] = []
            for start in [one, image] {
                let disk = try start.disk()
                var store = try Self.open(disk, closing: 0)
                for _ in 0..<3 { try SampleStore.changedRows(store) }
                try SampleStore.deletedRows(store)
                #expect(try store.check().findings.isEmpty)
                texts.append(try SampleStore.text(store))
                try store.close()
                store = try Self.open(disk)
                #expect(store.recovery.checkpoint != nil)
                #expect(store.recovery.commits == 0)
                #expect(store.recovery.wasClosed)
                #expect(try SampleStore.text(store) == texts[texts.count - 1])
                #expect(try store.check().findings.isEmpty)
                try store.close()
            }
            #expect(texts[0] == texts[1], "\(name)")
        }
    }

    @Test(
        "A store too large for a checkpoint has none, gives its space back, and is opened from its log",
        arguments: [false, true], [false, true])
    func tooLarge(hasOlder: Bool, isKnownBefore: Bool) throws {
        let disk = MemoryFileSystem()
        func open(contents: Int, closing: UInt64 = 0) throws -> LogStore {
            var options = CompactionTests.options(on: disk)
            options.sizes.closingCheckpointBytes = closing
            options.sizes.checkpointContentsBytes = contents
            return try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
        }
        func checkpoints() throws -> [String] {
            try DiskImage(of: disk).files.keys.filter { $0.hasPrefix("checkpoint") }.sorted()
        }
        var store = try open(contents: CheckpointUnit.maximumLength, closing: .max)
        try CompactionTests.fill(store)
        if hasOlder { try store.engine.takeCheckpoint() }
        let fewest = CheckpointWriter.fewestContents(store.engine.registry.pin().state)
        try store.close()
        #expect(try checkpoints().count == (hasOlder ? 1 : 0))

        // Known by the number of its indexes' partitions, or only once the parts are written.
        store = try open(contents: isKnownBefore ? fewest - 1 : fewest)
        for round in 0..<4 { try CompactionTests.update(store, 0..<180, round) }
        try store.engine.takeCheckpoint()
        #expect(store.engine.checkpoint.withLock { $0.isTooLarge && $0.bytes == 0 })
        #expect(try checkpoints() == [])
        // What is retired from now on is kept for no checkpoint.
        #expect(try store.compact().retiredSegments > 0)
        store.engine.sweepRetired()
        #expect(store.engine.unheldRetired.isEmpty)
        // Nothing is tried again.
        try SampleStore.changedRows(store)
        try store.engine.takeCheckpoint()
        let text = try SampleStore.text(store)
        try store.close()
        #expect(try checkpoints() == [])

        store = try open(contents: CheckpointUnit.maximumLength)
        #expect(store.recovery.checkpoint == nil)
        #expect(try SampleStore.text(store) == text)
        #expect(try store.check().findings.isEmpty)
        // One that fits is taken again.
        try SampleStore.changedRows(store)
        try store.engine.takeCheckpoint()
        try store.close()
        #expect(try checkpoints().count == 1)
    }

    @Test("No damage to a checkpoint changes anything (CK1)")
    func damage() throws {
        var random = RandomSource()
        let (checkpoints, image, expected) = try Self.history()
        let (name, bytes) = try #require(checkpoints.dropLast().last)
        func check(_ damaged: [UInt8], _ what: Comment) throws {
            var one = image
            one.files[name] = damaged
            #expect(try Self.text(one).text == expected, what)
        }
        let share = Campaign.isLong ? 1 : 120
        for position in bytes.indices where random.oneIn(share) {
            var damaged = bytes
            damaged[position] ^= 1 << UInt8(random.next() % 8)
            try check(damaged, "a bit of byte \(position)")
        }
        for _ in 0..<Campaign.count(12, whole: 40) {
            try check(
                Array(bytes.prefix(Int(random.next() % UInt64(bytes.count)))), "the end is missing")
            var damaged = bytes
            let start = Int(random.next() % UInt64(bytes.count))
            for position in start..<min(start + 64, bytes.count) { damaged[position] = 0 }
            try check(damaged, "zeros from \(start)")
        }
    }

    @Test("A checkpoint with right checksums and wrong numbers is passed over, and never traps")
    func hostile() throws {
        var random = RandomSource()
        let (checkpoints, image, expected) = try Self.history()
        let (name, bytes) = try #require(checkpoints.last)
        for _ in 0..<(Campaign.isLong ? 20_000 : 80) {
            var one = image
            one.files[name] = try Self.changed(bytes, &random)
            let store = try Self.open(try one.disk())
            // What a part says under a right checksum is believed where it fits the rest.
            if store.recovery.checkpoint == nil {
                #expect(try SampleStore.text(store) == expected)
            } else {
                _ = try? SampleStore.text(store)
                _ = try? store.check()
            }
            try? store.close()
        }
    }

    /// A byte of a part or of the table of contents changed, with all checksums made right again.
    private static func changed(_ bytes: [UInt8], _ random: inout RandomSource) throws
        -> [UInt8]
    {
        func raw(_ unit: CheckpointUnit) throws -> [UInt8] {
            var raw = [UInt8](repeating: 0, count: Int(unit.rawLength))
            let stored = bytes[Int(unit.offset)..<Int(unit.offset) + Int(unit.storedLength)]
            try raw.withUnsafeMutableBytes { target in
                try Array(stored).withUnsafeBytes { try unit.expand($0, into: target) }
            }
            return raw
        }
        /// Parts may be anywhere in the file, so the changed one goes to its end.
        var file = ByteWriter()
        bytes.withUnsafeBytes { file.append($0) }
        func put(_ raw: [UInt8]) -> CheckpointUnit {
            raw.withUnsafeBytes { CheckpointUnit.append($0, to: &file, startingAt: 0) }
        }
        func change(_ unit: inout CheckpointUnit) throws {
            var raw = try raw(unit)
            for _ in 0...random.next() % 3 {
                raw[Int(random.next() % UInt64(raw.count))] = UInt8(
                    truncatingIfNeeded: random.next() >> 8)
            }
            unit = put(raw)
        }
        var header = try bytes.withUnsafeBytes {
            try CheckpointHeader(decoding: $0, fileLength: UInt64($0.count))
        }
        var contents = try raw(header.contents).withUnsafeBytes {
            try CheckpointContents(decoding: $0, fileLength: UInt64(bytes.count))
        }
        switch random.next() % 6 {
        case 0:
            let index = Int(random.next() % UInt64(contents.trees.count))
            if !contents.trees[index].cells.isEmpty {
                try change(&contents.trees[index].cells[0].unit)
            }
        case 1:
            let index = Int(random.next() % UInt64(contents.uniques.count))
            if !contents.uniques[index].partitions.isEmpty {
                try change(&contents.uniques[index].partitions[0].unit)
            }
        case 2:
            let index = Int(random.next() % UInt64(contents.inverses.count))
            if !contents.inverses[index].heads.isEmpty {
                try change(&contents.inverses[index].heads[0].unit)
            }
        case 3:
            let index = Int(random.next() % UInt64(contents.inverses.count))
            if !contents.inverses[index].links.isEmpty {
                try change(&contents.inverses[index].links[0].unit)
            }
        case 4: try change(&contents.blocks[0])
        default:
            try change(&header.contents)
            contents.trees = []
        }
        if !contents.trees.isEmpty {
            var table = ByteWriter()
            contents.encode(to: &table)
            header.contents = put(Array(table.bytes))
        }
        var head = ByteWriter()
        header.encode(to: &head)
        var result = Array(file.bytes)
        result.replaceSubrange(0..<CheckpointHeader.size, with: Array(head.bytes))
        return result
    }

    @Test("A checkpoint of another log is passed over")
    func otherLog() throws {
        let disk = MemoryFileSystem()
        var store = try Self.open(disk)
        try SampleStore.firstObjects(store)
        let early = try DiskImage(of: disk)
        try SampleStore.manyRows(store)
        try store.engine.takeCheckpoint()
        let image = try DiskImage(of: disk)
        let name = try #require(image.files.keys.first { $0.hasPrefix("checkpoint") })
        try store.close()
        // The folder was put back to an earlier state, and went another way from there.
        let other = try early.disk()
        store = try Self.open(other)
        try SampleStore.earlyIDs(store)
        try SampleStore.earlyIDs(store)
        let expected = try SampleStore.text(store)
        try store.close()
        var mixed = try DiskImage(of: other)
        mixed.files[name] = image.files[name]
        let (text, report) = try Self.text(mixed)
        #expect(text == expected)
        #expect(report.checkpoint == nil)
    }

    @Test("A checkpoint is opened from though a segment was begun behind its commit")
    func begunSegment() throws {
        let first = MemoryFileSystem()
        let store = try Self.open(first)
        for step in SampleStore.steps[..<4] { try step(store) }
        try store.engine.rollSegment()
        // Not closed: the next opening finds a segment without a commit.
        let disk = try DiskImage(of: first).disk()
        try store.close()
        let second = try Self.open(disk)
        let state = second.engine.registry.published()
        #expect(state.segments.current.number > state.commitEnd.segment)
        let text = try SampleStore.text(second)
        try second.engine.takeCheckpoint()
        try second.close()
        let found = try Self.text(try DiskImage(of: disk))
        #expect(found.recovery.checkpoint == state.commit)
        #expect(found.text == text)
    }

    @Test("A crash at any call while a store is closed with a checkpoint costs nothing")
    func crashes() throws {
        var number = 1
        while true {
            let base = MemoryFileSystem()
            let disk = FaultInjectingFileSystem(over: base)
            let store = try Self.open(disk, closing: 0)
            for step in SampleStore.steps { try step(store) }
            let expected = try SampleStore.text(store)
            disk.crash(atMutation: disk.mutationCount + number, afterWriting: number * 100)
            try? store.close()
            #expect(try Self.text(try DiskImage(of: base)).text == expected, "crash at \(number)")
            guard disk.hasCrashed else { break }
            number += 1
        }
        #expect(number > 6)
    }

    @Test("Failing calls of a checkpoint are no failure of the store", arguments: [1, 2, 3, 4])
    func failures(number: Int) throws {
        for operation in [FileSystemError.Operation.write, .synchronize, .syncDirectory, .open] {
            let base = MemoryFileSystem()
            let disk = FaultInjectingFileSystem(over: base)
            let store = try Self.open(disk)
            try SampleStore.firstObjects(store)
            disk.fail(
                operation, number: number, of: "checkpoint-00000000000000000002", with: .noSpace)
            _ = try? store.engine.takeCheckpoint()
            try SampleStore.manyRows(store)
            disk.clearFaults()
            let expected = try SampleStore.text(store)
            try store.close()
            #expect(try Self.text(try DiskImage(of: base)).text == expected)
        }
    }

    @Test("A checkpoint is taken when enough was written, and the one before it goes")
    func volume() throws {
        let disk = MemoryFileSystem()
        let scheduler = ManualScheduler()
        var options = SampleStore.options(on: disk, durability: .relaxed)
        options.makeScheduler = { scheduler }
        options.sizes.checkpointBytes = 4000
        let store = try LogStore.open(
            at: "/store", schema: try Schema(CommittersTests.model), options: options)
        var taken: Set<String> = []
        for number in 0..<400 {
            _ = try store.execute(
                BatchInsertRequest(
                    entityName: "Item", objects: [["key": "key \(number)", "value": number]]))
            scheduler.run()
            let names = try disk.list("/store").filter { $0.hasPrefix("checkpoint") }
            #expect(names.count <= 1)
            taken.formUnion(names)
        }
        #expect(taken.count > 5)
        // What is left to read is bounded by what lets a checkpoint be taken.
        let image = try DiskImage(of: disk)
        try store.close()
        let again = try LogStore.open(
            at: "/store", options: SampleStore.options(on: try image.disk()))
        #expect(again.recovery.checkpoint != nil)
        #expect(again.recovery.commits < 60)
        #expect(try CommittersTests.content(again).count == 400)
        try again.close()
    }
}
