// Blocks of which a batch update writes the changed columns alone (Format 45), in whatever a store does with blocks.

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

@Suite("Patches in a store")
struct PatchedBlocksTests {
    /// A store with patches, and what it holds.
    private final class Subject {
        let disk = MemoryFileSystem()
        var options: LogStoreOptions
        private(set) var store: LogStore

        init(_ change: (inout LogStoreOptions) -> Void = { _ in }) throws {
            options = PatchedSample.options(on: disk)
            change(&options)
            store = try LogStore.open(
                at: "/store", schema: try SampleStore.schema(), options: options)
        }

        func reopen() throws {
            try store.close()
            store = try LogStore.open(at: "/store", options: options)
        }

        var text: String { get throws { try SampleStore.text(store) } }

        func expectWhole() throws {
            let findings = try store.check().findings
            #expect(findings.isEmpty, "\(findings)")
        }
    }

    @Test(
        "Where an eighth of the rows change and it becomes no patch, these are written, and not the block"
    )
    func fewOfALargeColumn() throws {
        let subject = try Subject {
            $0.sizes.rowsPerBlock = 1024
            $0.sizes.largeValueBytes = 1 << 20
        }
        let store = subject.store
        let count = 4096
        func note(_ number: Int) -> String {
            (0..<12).map { "\(number &* 7919 &+ $0 &* 104_729)" }.joined()
        }
        _ = try store.execute(
            BatchInsertRequest(
                entityName: "Airport",
                objects: (0..<count).map {
                    ["code": "A\($0)", "elevation": $0 % 7, "note": note($0)]
                }))
        let start = store.engine.registry.published().end.lsn
        try PatchedSample.update(
            store, ["note": .value(.string(note(count)))], where: "elevation == 3")
        let written = store.engine.registry.published().end.lsn - start
        // 585 rows of some bytes each, against blocks of 300 KiB in all.
        #expect(written < 60_000, "\(written) bytes")
        #expect(PatchedSample.blocks(store).patches.isEmpty)
        try subject.expectWhole()
        try store.close()
    }

    @Test("A change of one column of all objects writes that column, and says where the rest is")
    func size() throws {
        let subject = try Subject { $0.sizes.rowsPerBlock = 1024 }
        let store = subject.store
        let airports = (0..<4096).map { number -> [String: Any] in
            let big = number &* 1_000_003
            let note = "\(number &* 7919) \(number &* 104_729)"
            return [
                "code": "A\(number)", "elevation": number % 90, "latitude": Double(number) / 7,
                "note": note, "big": big,
            ]
        }
        _ = try store.execute(BatchInsertRequest(entityName: "Airport", objects: airports))
        let before = store.engine.registry.published().end.lsn
        try PatchedSample.update(store, ["small": 3])
        let after = store.engine.registry.published().end.lsn
        let (patches, all) = PatchedSample.blocks(store)
        #expect(patches.count == all.count && all.count == 4)
        // Four patches of a constant and a row version, the deaths of four blocks, and a commit.
        #expect(after - before < 1200)
        #expect(all.allSatisfy { $0.borrowedBytes > 10_000 })
        let frames = try SegmentFrames(try DiskImage(of: subject.disk).files["0000000001.segment"]!)
            .frames.map(\.header.kind)
        #expect(frames.suffix(6) == [.patch, .patch, .patch, .patch, .deaths, .commit])
        try subject.expectWhole()
        try store.close()
    }

    @Test("A patch of a patch brings what that brought, and the block it is of stays the same")
    func chains() throws {
        let subject = try Subject()
        try PatchedSample.insert(subject.store, 0..<20)
        let base = try #require(PatchedSample.blocks(subject.store).all.first).place
        try PatchedSample.update(subject.store, ["small": 3])
        try PatchedSample.update(subject.store, ["factor": 2.5])
        try PatchedSample.update(subject.store, ["small": 4])
        let entry = try #require(PatchedSample.blocks(subject.store).all.first)
        #expect(entry.patched == base)
        let state = subject.store.engine.registry.published()
        let block = try subject.store.engine.reader.block(entry, in: state)
        let brought = block.head.columns.filter { !$0.isBorrowed }
        #expect(brought.count == 3)
        #expect(try subject.text.contains("\"small\":4"))
        // More than half of it: a whole block, which needs no other.
        try PatchedSample.update(
            subject.store,
            [
                "latitude": try PatchedSample.expression("big / 7.0"),
                "big": try PatchedSample.expression("big * big"),
                "since": try PatchedSample.expression("since"),
                "elevation": try PatchedSample.expression("elevation * 65537"),
                "link": nil,
            ])
        let after = try subject.text
        try PatchedSample.update(subject.store, ["note": nil])
        #expect(try !subject.text.contains("note 3"))
        try subject.reopen()
        #expect(try subject.text != after)
        try subject.expectWhole()
        try subject.store.close()
    }

    @Test("Rows that do not change stay as they are in a patch, and dead ones stay dead")
    func parts() throws {
        let subject = try Subject { $0.persistentHistoryTracking = true }
        try PatchedSample.insert(subject.store, 0..<100)
        try PatchedSample.delete(subject.store, ["A3", "A50", "A51"])
        let before = SalvagedStore.rows(try subject.text)
        let commits = subject.store.engine.registry.published().commit
        var request = BatchUpdateRequest(entityName: "Airport")
        request.propertiesToUpdate["small"] = 1
        request.predicate = try PredicateNode(format: "elevation >= 14 AND elevation < 75")
        request.resultType = .objectIDs
        let result = try subject.store.execute(request)
        #expect(result.updatedCount == 59 && result.objectIDs.count == 59)
        // Of the last but one of five blocks fifteen rows of twenty, of the first six, of the last none.
        #expect(PatchedSample.blocks(subject.store).patches.count == 4)
        func expectResult() throws {
            let after = SalvagedStore.rows(try subject.text)
            #expect(after.count == 97 && after.keys.sorted() == before.keys.sorted())
            let changed = after.filter { before[$0.key] != $0.value }
            #expect(changed.count == 59)
            #expect(changed.values.allSatisfy { $0.contains("\"version\":2") })
            #expect(after.values.count { $0.contains("\"version\":1") } == 38)
            try subject.expectWhole()
        }
        try expectResult()
        // What was made for the patches is in no row that comes later.
        try PatchedSample.insert(subject.store, 200..<240)
        var fetch = try SampleStore.fetch(subject.store, .compare("small", .equal, .null))
        #expect(try subject.store.snapshot().count(fetch) == 78)
        fetch.predicate = .compare("elevation", .greaterOrEqual, .integer(200))
        fetch.includesRows = true
        _ = try subject.store.execute(BatchDeleteRequest(.fetch(fetch)))
        let told = try subject.store.execute(.fetchHistory(after: nil)).transactions
        let update = try #require(told.first { $0.transactionNumber == commits + 1 })
        #expect(update.updatedObjectIDs.count == 59)
        try subject.reopen()
        try expectResult()
        _ = try subject.store.compact()
        try expectResult()
        // Once more, with rows that have the value already.
        request.predicate = nil
        let second = try subject.store.execute(request)
        #expect(second.updatedCount == 38 && second.unchangedCount == 59)
        try subject.store.close()
    }

    @Test("They are read again from the log, from a checkpoint, and by a reader beside the writer")
    func reopening() throws {
        for closingCheckpointBytes in [UInt64.max, 0] {
            let subject = try Subject { $0.sizes.closingCheckpointBytes = closingCheckpointBytes }
            try PatchedSample.patched(subject.store)
            #expect(PatchedSample.blocks(subject.store).patches.count == 5)
            let expected = try subject.text
            var options = subject.options
            options.isReadOnly = true
            let reader = try LogStore.open(at: "/store", options: options)
            try PatchedSample.update(subject.store, ["elevation": 9])
            try reader.refresh()
            #expect(try SampleStore.text(reader) == subject.text)
            #expect(try subject.text != expected)
            try reader.close()
            let second = try subject.text
            try subject.reopen()
            #expect(try subject.text == second)
            #expect(PatchedSample.blocks(subject.store).patches.count > 2)
            // Deaths behind the checkpoint, in patches that it knows, and patches of its blocks.
            try PatchedSample.delete(subject.store, ["A5", "A65"])
            try PatchedSample.update(subject.store, ["small": 1])
            let third = try subject.text
            try DiskImage(of: subject.disk).write(to: subject.disk, "/copy")
            var copy = subject.options
            copy.isReadOnly = true
            let left = try LogStore.open(at: "/copy", options: copy)
            #expect(try SampleStore.text(left) == third)
            #expect(try left.check().findings.isEmpty)
            try left.close()
            try subject.expectWhole()
            try subject.store.close()
        }
    }

    @Test("F-457: compaction of what they are of, and of themselves, writes blocks")
    func compaction() throws {
        let subject = try Subject()
        try PatchedSample.patched(subject.store)
        let expected = try subject.text
        try subject.store.engine.rollSegment()
        let mains = subject.store.engine.registry.published().segments.mains.map(\.number)
        let run = try CompactionRun(subject.store.engine, victims: [mains[0]])
        while case .moved = try run.step() {}
        run.end()
        #expect(try subject.text == expected)
        var (patches, all) = PatchedSample.blocks(subject.store)
        #expect(patches.count == 2 && all.allSatisfy { !$0.lies(in: [mains[0]]) })
        try subject.reopen()
        #expect(try subject.text == expected)
        try subject.expectWhole()
        // What says that the rows of the blocks have died is in a segment that goes.
        try subject.store.engine.rollSegment()
        let second = try CompactionRun(subject.store.engine, victims: [mains[1]])
        while case .moved = try second.step() {}
        second.end()
        (patches, all) = PatchedSample.blocks(subject.store)
        #expect(patches.isEmpty && !all.isEmpty)
        try subject.reopen()
        #expect(try subject.text == expected)
        try subject.expectWhole()
        try subject.store.close()
    }

    @Test("What becomes a patch of a block that is being compacted is looked for, like references")
    func compactionMeanwhile() throws {
        let subject = try Subject()
        try PatchedSample.insert(subject.store, 0..<100)
        try subject.store.engine.rollSegment()
        let first = try #require(
            subject.store.engine.registry.published().segments.mains.first?.number)
        var updates = 0
        let run = try CompactionRun(subject.store.engine, victims: [first])
        loop: while true {
            switch try run.step() {
            case .moved:
                if updates < 8 {
                    updates += 1
                    let value = UpdatedValue.value(.integer(Int64(updates)))
                    try PatchedSample.update(subject.store, ["small": value])
                }
            case .finished: break loop
            case .abandoned:
                Issue.record("it is done as soon as nobody writes")
                break loop
            }
        }
        run.end()
        #expect(subject.store.engine.registry.published().segments[first] == nil)
        let expected = try subject.text
        #expect(expected.contains("\"small\":8"))
        try subject.reopen()
        #expect(try subject.text == expected)
        try subject.expectWhole()
        try subject.store.close()
    }

    /// Moves what lives in a segment out of it, and retires it.
    private static func compact(_ store: LogStore, _ victim: UInt32) throws {
        try store.engine.rollSegment()
        let run = try CompactionRun(store.engine, victims: [victim])
        while case .moved = try run.step() {}
        run.end()
        #expect(store.engine.registry.published().segments[victim] == nil)
    }

    @Test("Deaths that are carried over may be of a patch whose block has gone before")
    func carriedDeaths() throws {
        let subject = try Subject {
            $0.sizes.closingCheckpointBytes = .max
            $0.sizes.compactionBlocks = 100
        }
        let store = subject.store
        try PatchedSample.insert(store, 0..<40)
        try store.engine.rollSegment()
        try PatchedSample.update(store, ["small": 1])
        // Somebody lives in the segment of the patches.
        try PatchedSample.insert(store, 40..<60)
        try store.engine.rollSegment()
        var request = BatchUpdateRequest(entityName: "Airport")
        request.propertiesToUpdate = [
            "latitude": try PatchedSample.expression("latitude * 1.1"), "small": 2,
            "note": "as all", "big": try PatchedSample.expression("big * big"),
            "elevation": try PatchedSample.expression("elevation * 65537"), "since": nil,
        ]
        request.predicate = try PredicateNode(format: "elevation < 40")
        _ = try store.execute(request)
        #expect(PatchedSample.blocks(store).patches.isEmpty)
        let mains = store.engine.registry.published().segments.mains.map(\.number)
        #expect(mains.count == 3)
        // Nobody lives in the first one any more, and what was a patch of its blocks has died in the third.
        try Self.compact(store, mains[0])
        try store.engine.takeCheckpoint()
        var options = subject.options
        options.isReadOnly = true
        let reader = try LogStore.open(at: "/store", options: options)
        try Self.compact(store, mains[2])
        #expect(store.engine.registry.published().segments[mains[1]] != nil)
        let expected = try subject.text
        try reader.refresh()
        #expect(try SampleStore.text(reader) == expected)
        try reader.close()
        try DiskImage(of: subject.disk).write(to: subject.disk, "/copy")
        let left = try LogStore.open(at: "/copy", options: options)
        #expect(left.recovery.checkpoint != nil)
        #expect(try SampleStore.text(left) == expected)
        #expect(try left.check().findings.isEmpty)
        try left.close()
        try subject.reopen()
        #expect(try subject.text == expected)
        try subject.expectWhole()
        try subject.store.close()
    }

    @Test("What they borrow is alive in its segment, and counted in what the store's entities take")
    func space() throws {
        let subject = try Subject()
        try PatchedSample.insert(subject.store, 0..<100)
        let segments = try subject.store.space().segments
        let before = try #require(try subject.store.space().entities.first { $0.name == "Airport" })
        try subject.store.engine.rollSegment()
        try PatchedSample.update(subject.store, ["latitude": 1.5])
        let after = try #require(try subject.store.space().entities.first { $0.name == "Airport" })
        let use = try #require(try subject.store.space().segments.first)
        #expect(use.liveBytes < segments[0].liveBytes && use.liveBytes > segments[0].liveBytes / 2)
        // Whichever of the two is compacted, both are written.
        let pin = subject.store.engine.registry.pin()
        let uses = try SegmentUse.measure(pin.state, subject.store.engine)
        let headers = UInt64(2 * SegmentHeader.size)
        #expect(uses.count == 2 && uses.allSatisfy { $0.joinedBytes > 0 })
        #expect(uses[0].joinedBytes < uses[1].joinedBytes)
        #expect(uses[1].joinedBytes < use.liveBytes && use.liveBytes < uses[1].movedBytes + headers)
        #expect(after.bytes > before.bytes / 2 && after.bytes < before.bytes * 3 / 2)
        #expect(
            after.properties.first { $0.name == "note" }?.bytes
                == before.properties.first { $0.name == "note" }?.bytes)
        try subject.store.close()
    }

    @Test("Past states and snapshots from before a patch read what was there")
    func past() throws {
        let subject = try Subject { $0.pastStates = .seconds(86_400) }
        try PatchedSample.insert(subject.store, 0..<40)
        let snapshot = try subject.store.snapshot()
        try PatchedSample.update(subject.store, ["small": 1])
        let commit = subject.store.engine.registry.published().commit
        let first = try subject.text
        try PatchedSample.update(subject.store, ["small": 2])
        try subject.store.engine.rollSegment()
        _ = try subject.store.compact()
        var fetch = try SampleStore.fetch(subject.store, .compare("small", .equal, .integer(1)))
        #expect(try snapshot.count(fetch) == 0)
        #expect(try subject.store.snapshot().count(fetch) == 0)
        let past = try subject.store.snapshot(at: commit)
        #expect(try past.count(fetch) == 40)
        fetch.predicate = .compare("small", .equal, .integer(2))
        #expect(try subject.store.snapshot().count(fetch) == 40)
        #expect(first.contains("\"small\":1"))
        try subject.store.close()
    }

    @Test("A copy of a store has what its patches are of")
    func backup() throws {
        let subject = try Subject()
        try PatchedSample.patched(subject.store)
        _ = try subject.store.backup(to: "/copy", on: subject.disk)
        try PatchedSample.compacted(subject.store)
        _ = try subject.store.backup(to: "/copy", on: subject.disk)
        var options = subject.options
        options.isReadOnly = true
        let copy = try LogStore.open(at: "/copy", options: options)
        #expect(try SampleStore.text(copy) == subject.text)
        #expect(try copy.check().findings.isEmpty)
        try copy.close()
        try subject.store.close()
    }

    // MARK: Damage

    /// The frames of kind patch, and of the blocks that they are of, in a store of one segment.
    private static func oneSegment() throws -> (image: DiskImage, frames: SegmentFrames) {
        let subject = try Subject()
        try PatchedSample.insert(subject.store, 0..<40)
        try PatchedSample.update(subject.store, ["small": 1])
        try subject.store.close()
        let image = try DiskImage(of: subject.disk)
        return (image, try SegmentFrames(image.files["0000000001.segment"]!))
    }

    @Test("A patch that contradicts its block under right checksums is found by who reads it")
    func hostile() throws {
        var (image, frames) = try Self.oneSegment()
        let patch = try #require(frames.frames.firstIndex { $0.header.kind == .patch })
        image.files["lock"] = []
        let changes: [(rule: String, change: (inout [UInt8]) -> Void)] = [
            // Another block: itself, the commit's schema, one that is not there.
            ("F-454", { $0.replaceSubrange(4..<8, with: [1, 2, 0, 0]) }),
            ("F-455", { $0[8] ^= 4 }), ("F-452", { $0[12] = 2 }), ("F-453", { $0[24 + 12] = 1 }),
        ]
        for (rule, change) in changes {
            var hostile = frames
            change(&hostile.frames[patch].payload)
            sealPatch(&hostile.frames[patch].payload)
            image.files["0000000001.segment"] = hostile.sealed()
            let error = #expect(throws: StoreError.self) { _ = try image.content() }
            #expect(error?.code == .damaged)
            let message = error?.message ?? ""
            #expect(message.contains(rule) || rule == "F-454", "\(message)")
            let report = try LogStore.check(
                at: "/store", options: PatchedSample.options(on: try image.disk()))
            #expect(!report.findings.isEmpty, "\(rule)")
        }
    }

    @Test("Of a patch that is broken the rows from before are salvaged, without its block none")
    func salvage() throws {
        let (image, frames) = try Self.oneSegment()
        let whole = try image.content().text
        func offset(_ kind: FrameKind) throws -> Int {
            var at = SegmentHeader.size
            for (header, _) in frames.frames {
                if header.kind == kind { return at }
                at += header.frameLength
            }
            throw StoreError.damaged("no such frame")
        }
        // A flipped bit in a value of the patch, its header, and the block it is of.
        let patch = try offset(.patch)
        let places = [
            (patch + FrameHeader.size + 24 + 24 + 40 + 2, true), (patch + 8, true),
            (patch + FrameHeader.size + 2, false),
        ]
        for (place, isReadable) in places {
            var broken = image
            broken.files["0000000001.segment"]![place] ^= 0x10
            let salvaged = try SalvagedStore(broken)
            #expect(salvaged.rows.count == 40, "\(place)")
            #expect(isReadable || salvaged.report.hasUnknownLosses)
            let changed = SalvagedStore.rows(whole).filter { salvaged.rows[$0.key] != $0.value }
            #expect(changed.count <= 20, "\(place)")
        }
        var broken = image
        broken.files["0000000001.segment"]![try offset(.block) + FrameHeader.size + 21] ^= 0x10
        let salvaged = try SalvagedStore(broken)
        #expect(salvaged.rows.count == 20)
        #expect(salvaged.report.losses.count == 20)
    }
}
