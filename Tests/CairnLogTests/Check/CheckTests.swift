// Check: what is sound is sound at every depth; each thing that can be wrong is found, with its place and rule.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Check")
struct CheckTests {
    static let name = "0000000001.segment"

    static func options(_ image: DiskImage, rowsPerBlock: Int = 1024) throws -> LogStoreOptions {
        var options = SampleStore.options(on: try image.disk())
        options.sizes.rowsPerBlock = rowsPerBlock
        return options
    }

    static func check(
        _ image: DiskImage, _ depth: CheckDepth = .all, rowsPerBlock: Int = 1024
    ) throws -> StoreCheckReport {
        let options = try options(image, rowsPerBlock: rowsPerBlock)
        let report = try LogStore.check(at: "/store", depth: depth, options: options)
        #expect(try DiskImage(of: options.fileSystem) == image, "a check changes nothing")
        return report
    }

    @Test("Stores that nothing is wrong with", arguments: GoldenStore.all)
    func sound(_ golden: GoldenStore) throws {
        let image = try golden.make()
        let bytesLeftBehind = try image.content().recovery.bytesLeftBehind
        for depth in CheckDepth.allCases {
            let report = try Self.check(
                image, depth, rowsPerBlock: golden.name == "compressed" ? 1024 : 20)
            #expect(report.findings.isEmpty, "\(depth): \(report.findings)")
            // What is left of a copy that broke off is no part of the store.
            let leftOut = golden.name == "copying" ? 2 : 0
            #expect(report.segments == image.segments.count - leftOut - report.heldSegments)
            #expect((report.heldSegments > 0) == (golden.name == "past"))
            #expect(report.commits > 0 && report.frames > 2, "\(depth)")
            #expect(report.bytesLeftBehind == bytesLeftBehind)
            #expect((report.rows > 0) == (depth >= .blocks && golden.name != "empty"), "\(depth)")
        }
    }

    @Test("A compacted store, closed or not", arguments: CheckDepth.allCases, [true, false])
    func compacted(depth: CheckDepth, closes: Bool) throws {
        let (image, _) = try SalvageCompactedTests.compacted(closes: closes)
        var options = CompactionTests.options(on: try image.disk())
        options.isReadOnly = true
        let report = try LogStore.check(at: "/store", depth: depth, options: options)
        #expect(report.findings.isEmpty, "\(report.findings)")
        if depth == .all { #expect(report.checkpoints == 1) }
    }

    @Test(
        "A segment was retired from between others, and nothing but its deaths is left (BL2, BL3)")
    func carriedDeaths() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try CompactionTests.update(store, 0..<60, 0)
        try store.engine.rollSegment()
        let victim = store.engine.registry.published().segments.current.number
        // Rows before it die in it, and one is born.
        try CompactionTests.update(store, 0..<30, 1)
        try CompactionTests.update(store, 60..<61, 1)
        try store.engine.rollSegment()
        // All that live in it are written anew, or moved by the merging of small blocks.
        try CompactionTests.update(store, 0..<30, 2)
        for row in 61..<69 { try CompactionTests.update(store, row..<row + 1, 2) }
        let run = try CompactionRun(store.engine, victims: [victim])
        while case .moved = try run.step() {}
        let state = store.engine.registry.published()
        #expect(state.segments[victim] == nil && state.segments.sides.count == 1)
        store.engine.sweepRetired()
        try store.close()
        var options = CompactionTests.options(on: disk)
        options.isReadOnly = true
        let report = try LogStore.check(at: "/store", depth: .all, options: options)
        #expect(report.findings.isEmpty, "\(report.findings)")
    }

    @Test("A large value that none but dead rows lead to may be gone")
    func deadValues() throws {
        let disk = MemoryFileSystem()
        let store = try CompactionTests.open(disk)
        try CompactionTests.update(store, 0..<10, 0)
        try SampleStore.largeValue(store)
        let victim = store.engine.registry.published().segments.current.number
        try store.engine.rollSegment()
        // The row is written anew, and its value stays where it is, until it gets another one.
        try ConstraintSample.insert(store, "Airport", [["code": "A20", "elevation": 7]])
        try CompactionTests.update(store, 20..<21, 1)
        let run = try CompactionRun(store.engine, victims: [victim])
        while case .moved = try run.step() {}
        run.end()
        #expect(store.engine.registry.published().segments[victim] == nil)
        store.engine.sweepRetired()
        try store.close()
        var options = CompactionTests.options(on: disk)
        options.isReadOnly = true
        let report = try LogStore.check(at: "/store", depth: .all, options: options)
        #expect(report.findings.isEmpty, "\(report.findings)")
    }

    @Test("Beside a writer it ends at the mark")
    func besideWriter() throws {
        try withTemporaryDirectory { folder in
            let path = folder.path("store")
            let store = try LogStore.open(at: path, schema: try SampleStore.schema())
            for step in SampleStore.steps { try step(store) }
            for depth in CheckDepth.allCases {
                let report = try LogStore.check(at: path, depth: depth)
                #expect(report.findings.isEmpty, "\(report.findings)")
            }
            try store.close()
        }
    }

    @Test("Every flipped bit that opening sees is found, and its place named")
    func flippedBits() throws {
        var random = RandomSource()
        let whole = try SampleStore.history(steps: 7, segmentBytes: 6000).closed
        for _ in 0..<Campaign.count(60, whole: 20_000) {
            var image = whole
            let name = try #require(whole.segments.randomElement(using: &random))
            let position = Int.random(in: 0..<whole.files[name]!.count, using: &random)
            image.files[name]![position] ^= 1 << UInt8.random(in: 0..<8, using: &random)
            let report = try Self.check(image)
            #expect(report.findingCount > 0, "\(name) \(position), seed \(random.seed)")
            let number = SegmentName.number(in: name)
            #expect(
                report.findings.contains { $0.context.segment == number },
                "\(name) \(position), seed \(random.seed)")
        }
    }

    @Test("More than one thing that is wrong is reported, at the depth where it shows")
    func many() throws {
        let whole = try SampleStore.history(steps: 7, segmentBytes: 6000).closed
        var image = whole
        var places: [(UInt32, UInt64)] = []
        for name in whole.segments {
            let frames = FrameMap(whole.files[name]!).frames.filter { $0.header.kind == .block }
            guard let frame = frames.last else { continue }
            image.files[name]![frame.range.lowerBound + 90] ^= 1
            places.append((SegmentName.number(in: name)!, UInt64(frame.range.lowerBound)))
        }
        #expect(places.count > 1)
        #expect(try Self.check(image, .headers).findings.isEmpty)
        for depth in CheckDepth.allCases where depth >= .frames {
            let report = try Self.check(image, depth)
            for (segment, offset) in places {
                #expect(
                    report.findings.contains {
                        $0.context.segment == segment && $0.context.offset == offset
                            && $0.message.contains("F-304")
                    })
            }
        }
    }

    @Test("Whatever is damaged, it ends with a report or an error")
    func random() throws {
        var random = RandomSource()
        let whole = try SampleStore.history(steps: 7, segmentBytes: 6000).closed
        for round in 0..<Campaign.count(80, whole: 20_000) {
            var image = whole
            SalvageCampaignTests.damage(&image, &random)
            do {
                let report = try Self.check(image)
                if report.findingCount == 0 {
                    // What is sound opens.
                    _ = try image.content()
                }
            } catch let error as StoreError {
                #expect(error.code == .openFailed, "round \(round), seed \(random.seed): \(error)")
            }
        }
    }

    // MARK: Frames made by hand

    private static func sealed(_ change: (inout SegmentFrames) throws -> Void) throws
        -> DiskImage
    {
        let history = try SampleStore.history(steps: 7)
        var frames = try SegmentFrames(history.closed.files[name]!)
        try change(&frames)
        var image = history.closed
        image.files[name] = frames.sealed()
        image.files["lock"] = []
        return image
    }

    private func expect(
        _ tag: String, _ image: DiskImage, _ depth: CheckDepth,
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let report = try Self.check(image, depth)
        #expect(
            report.findings.contains { $0.message.contains(tag) }, "\(report.findings)",
            sourceLocation: location)
        #expect(report.findings.allSatisfy { $0.code == .damaged }, sourceLocation: location)
    }

    @Test("Commit numbers that do not rise (SG3)")
    func numbers() throws {
        let image = try Self.sealed { frames in
            for index in frames.frames.indices where frames.frames[index].header.commit == 4 {
                frames.frames[index].header.commit = 2
            }
        }
        try expect("SG3", image, .headers)
    }

    @Test("A mark that falls (SG4)")
    func marks() throws {
        let image = try Self.sealed { frames in
            frames.frames[frames.frames.count - 3].header.mark = 8
        }
        try expect("SG4", image, .headers)
    }

    @Test("A commit whose frames do not lie together (SG5)")
    func apart() throws {
        let first = try Self.sealed { frames in
            let index = try #require(frames.frames.firstIndex { $0.header.commit == 4 })
            frames.frames[index].header.commit = 3
        }
        try expect("SG5", first, .headers)
        let second = try Self.sealed { frames in
            let index = try #require(
                frames.frames.firstIndex { $0.header.kind == .deaths })
            frames.frames.remove(at: index)
        }
        try expect("SG5", second, .frames)
    }

    @Test("A segment that is not what it was when it ended (SG1)")
    func changedSegment() throws {
        let history = try SampleStore.history(steps: 7, segmentBytes: 6000)
        var image = history.closed
        // The last frame of the first segment with another chain value: another mark.
        var frames = try SegmentFrames(image.files[Self.name]!)
        frames.frames[frames.frames.count - 1].header.mark -= 8
        image.files[Self.name] = frames.sealed()
        try expect("SG1", image, .headers)
    }

    @Test("A birth without the death of the place before (BL1, BL2)")
    func births() throws {
        let image = try Self.sealed { frames in
            let index = try #require(frames.frames.firstIndex { $0.header.kind == .deaths })
            let commit = try #require(
                frames.frames[index...].firstIndex { $0.header.kind == .commit })
            frames.frames.remove(at: index)
            var record = try frames.frames[commit - 1].payload.withUnsafeBytes {
                try CommitPayload(decoding: $0)
            }
            record.frameCount -= 1
            // The places of all that follows have moved.
            var lsn = SegmentHeader.size
            var first: UInt64 = 0
            for index in frames.frames.indices {
                let kind = frames.frames[index].header.kind
                if kind == .commit {
                    var payload = try frames.frames[index].payload.withUnsafeBytes {
                        try CommitPayload(decoding: $0)
                    }
                    if index == commit - 1 { payload = record }
                    payload.firstLSN = first
                    var writer = ByteWriter(capacity: 256)
                    payload.encode(to: &writer)
                    frames.frames[index].payload = Array(writer.bytes)
                }
                lsn += FrameHeader.size + frames.frames[index].payload.count.roundedUpToEight
                if kind == .commit || kind == .start || kind == .close { first = UInt64(lsn) }
            }
        }
        try expect("BL2", image, .blocks)
    }

    @Test("A row that is said to have moved, and is not what it was (BL3)")
    func moves() throws {
        let image = try Self.sealed { frames in
            // Rows of an update, in a commit that deaths are in, called moved.
            let deaths = try #require(frames.frames.firstIndex { $0.header.kind == .deaths })
            let index = try #require(
                frames.frames[..<deaths].lastIndex { $0.header.kind == .block })
            #expect(frames.frames[index].payload[12] == 0)
            frames.frames[index].payload[12] = 1
            sealBlock(&frames.frames[index].payload)
        }
        try expect("BL3", image, .blocks)
    }

    @Test("A number that was never given (DR1)")
    func counters() throws {
        let image = try Self.sealed { frames in
            for index in frames.frames.indices where frames.frames[index].header.kind == .commit {
                var payload = try frames.frames[index].payload.withUnsafeBytes {
                    try CommitPayload(decoding: $0)
                }
                payload.counters = payload.counters.map { TreeCounter(tree: $0.tree, next: 2) }
                var writer = ByteWriter(capacity: 256)
                payload.encode(to: &writer)
                frames.frames[index].payload = Array(writer.bytes)
            }
        }
        try expect("DR1", image, .blocks)
    }

    @Test("Small blocks that were never merged (BL5)")
    func smallBlocks() throws {
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk)
        options.sizes.mergedBlocks = 1000
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for round in 0..<40 { try CompactionTests.update(store, round..<round + 1, round) }
        try store.close()
        try expect("BL5", try DiskImage(of: disk), .blocks)
    }

    // MARK: States

    /// Checks a state that was changed behind the engine's back.
    private func expect(
        _ tag: String, _ change: (inout EngineState, inout PageTransaction) throws -> Void
    ) throws {
        let disk = try SampleStore.history(steps: 7).closed.disk()
        let store = try LogStore.open(at: "/store", options: SampleStore.options(on: disk))
        defer { try? store.close() }
        let pin = store.engine.registry.pin()
        var state = pin.state
        var pages = PageTransaction(epoch: state.commit + 1, pool: store.engine.pool)
        do { try change(&state, &pages) } catch {
            pages.abandon()
            throw error
        }
        var checker = StoreChecker(engine: store.engine, state: state)
        let report = checker.run(progress: nil)
        #expect(report.findings.contains { $0.message.contains(tag) }, "\(report.findings)")
        let differences = CheckpointAudit.differences(pin.state, state, progress: { _, _ in })
        #expect(differences.contains { $0.contains(tag) }, "\(differences)")
        pages.abandon()
    }

    @Test("A row that is not where the directory says (DR2)")
    func directory() throws {
        try expect("DR2") { state, pages in
            let cell = state.directories[0][20]
            state.directories[0].set(
                20, DirectoryCell(handle: cell.handle, slot: cell.slot ^ 1, version: cell.version),
                in: &pages)
        }
        try expect("DR2") { state, pages in
            state.directories[0].set(20, .empty, in: &pages)
        }
        try expect("DR2") { state, pages in
            state.directories[0].set(5000, state.directories[0][20], in: &pages)
        }
    }

    @Test("A unique index with an entry too few or too many (IX1)")
    func unique() throws {
        try expect("IX1") { state, pages in
            let entry = try #require(CheckpointAudit.entries(state.uniques[0]).first)
            let isRemoved = state.uniques[0].remove(
                hash: entry & 0xFFFF_FFFF, number: UInt32(entry >> 32), in: &pages)
            #expect(isRemoved)
        }
        try expect("IX1") { state, pages in
            state.uniques[0].insert(hash: 77, number: 4000, in: &pages)
        }
    }

    @Test("A reference without its way back (RL2)")
    func inverse() throws {
        try expect("RL2") { state, pages in
            let index = try #require(
                state.inverses.indices.first { !CheckpointAudit.pairs(state.inverses[$0]).isEmpty })
            let pair = CheckpointAudit.pairs(state.inverses[index])[0]
            state.inverses[index].remove(
                source: UInt32(truncatingIfNeeded: pair), target: UInt32(pair >> 32), in: &pages)
        }
    }

    @Test("A checkpoint that is whole and says something else (CK3)")
    func checkpoint() throws {
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: SampleStore.options(on: disk))
        for step in SampleStore.steps { try step(store) }
        try store.engine.takeCheckpoint()
        let sound = try Self.check(try DiskImage(of: disk))
        #expect(sound.findings.isEmpty && sound.checkpoints == 1, "\(sound.findings)")
        // The same commit with other rows: a state that was changed before it was written.
        let pin = store.engine.registry.pin()
        var state = pin.state
        var pages = PageTransaction(epoch: state.commit + 1, pool: store.engine.pool)
        state.directories[0].set(20, .empty, in: &pages)
        _ = try CheckpointWriter.write(
            state, storeID: store.engine.storeID,
            files: store.engine.files, lastSegment: 1)
        pages.abandon()
        let report = try Self.check(try DiskImage(of: disk))
        #expect(report.findings.contains { $0.message.contains("CK3") }, "\(report.findings)")
        #expect(report.findings.allSatisfy { $0.context.path?.contains("checkpoint") == true })

        // Also if there is a newer one that is right.
        let old = try DiskImage(of: disk)
        let name = try #require(old.files.keys.first { $0.hasPrefix("checkpoint") })
        try CompactionTests.update(store, 0..<5, 9)
        try store.engine.takeCheckpoint()
        var both = try DiskImage(of: disk)
        both.files[name] = old.files[name]
        let two = try Self.check(both)
        #expect(two.checkpoints == 2 && two.findingCount > 0, "\(two)")
        #expect(two.findings.allSatisfy { $0.context.path?.hasSuffix(name) == true })
        try store.close()

        // One that is broken is no damage, but worth a note.
        var image = old
        image.files[name]![20] ^= 1
        let broken = try Self.check(image)
        #expect(broken.findings.isEmpty && broken.notes.count == 1)
    }
}
