// What a store is, asked without opening it.

import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("The status of a store that is not opened")
struct StoreStatusTests {
    private func status(_ image: DiskImage) throws -> StoreStatus {
        let disk = try image.disk()
        let status = try LogStore.status(at: "/store", options: SampleStore.options(on: disk))
        #expect(try DiskImage(of: disk) == image, "asking changes nothing")
        return status
    }

    @Test("It says what opening says", arguments: GoldenStore.all)
    func asOpening(_ golden: GoldenStore) throws {
        let image = try golden.make()
        let status = try status(image)
        let recovery = try image.content().recovery
        #expect(status.identifier == SampleStore.identifier)
        #expect(
            status.segments.map(\.number)
                == image.segments.compactMap { SegmentName.number(in: $0) })
        #expect(
            status.segments.allSatisfy { segment in
                segment.problem == nil
                    && (segment.kind == .main || golden.name.hasPrefix("compact")
                        || [
                            "copying", "metadata", "history", "redirected", "past", "patched",
                            "packed",
                        ].contains(golden.name))
            })
        #expect(
            status.segments.allSatisfy {
                $0.created == Date(timeIntervalSinceReferenceDate: 800_000_000)
            })
        #expect(status.wasClosed == recovery.wasClosed)
        #expect(status.bytesLeftBehind == recovery.bytesLeftBehind)
        // Opening reads what the newest start frame lists, also what was retired since, and is kept for past states.
        #expect(
            golden.name == "past"
                ? status.commitsToRead < recovery.commits : status.commitsToRead == recovery.commits
        )
        #expect(status.framesToRead <= recovery.frames)
        #expect(status.lastCommitTime?.timeIntervalSinceReferenceDate == recovery.lastCommitTime)
        #expect(status.lastAuthor == recovery.lastAuthor)
        #expect(status.commit >= recovery.commits)
        #expect(status.openingCheckpoint == recovery.checkpoint)
        #expect(status.needsRecovery == (recovery.checkpoint == nil))
        #expect(status.damage.isEmpty && status.writer == nil)
        #expect((status.mark?.commit ?? 0) <= status.commit)
    }

    @Test("With a checkpoint only what lies behind it is to be read")
    func checkpoints() throws {
        let disk = MemoryFileSystem()
        let options = SampleStore.options(on: disk)
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps[..<5] { try step(store) }
        try store.engine.takeCheckpoint()
        for step in SampleStore.steps[5...] { try step(store) }
        // Beside the writer, up to what is durable.
        let open = try LogStore.status(at: "/store", options: options)
        #expect(open.openingCheckpoint == 6 && open.commitsToRead == 2)
        #expect(!open.wasClosed)
        try store.close()
        let image = try DiskImage(of: disk)
        let status = try status(image)
        let recovery = try image.content().recovery
        #expect(status.openingCheckpoint == recovery.checkpoint)
        #expect(status.commitsToRead == recovery.commits)
        #expect(status.framesToRead == recovery.frames)
        #expect(status.wasClosed && status.needsRecovery)
        let log = status.segments.reduce(0) { $0 + $1.bytes }
        #expect(status.bytesToRead < log)

        let name = try #require(image.files.keys.first { $0.hasPrefix("checkpoint") })
        for position in [0, 20, 60, image.files[name]!.count - 10] {
            var broken = image
            broken.files[name]![position] ^= 1
            let status = try self.status(broken)
            #expect(status.checkpoints.count == 1)
            #expect(status.checkpoints[0].problem != nil)
            #expect(status.openingCheckpoint == nil)
            #expect(status.commitsToRead == 8)
        }
    }

    @Test("A store that was closed with a checkpoint needs no recovery")
    func closed() throws {
        let disk = MemoryFileSystem()
        var options = SampleStore.options(on: disk)
        options.sizes.closingCheckpointBytes = 1
        let store = try LogStore.open(
            at: "/store", schema: try SampleStore.schema(), options: options)
        for step in SampleStore.steps { try step(store) }
        try store.close()
        let status = try status(try DiskImage(of: disk))
        #expect(status.wasClosed && !status.needsRecovery)
        #expect(status.commitsToRead == 0 && status.bytesToRead > 0)
        #expect(status.commit == 8)
        #expect(status.lastCommitTime != nil)
    }

    @Test(
        "It works on stores that do not open, and names what is wrong", arguments: GoldenStore.all)
    func damaged(_ golden: GoldenStore) throws {
        var image = try golden.make()
        golden.harm(&image)
        let status = try status(image)
        // What is inside of payloads is not looked at.
        let inside = [
            "everything", "compressed", "compacted", "copying", "ordered", "metadata",
            "constraints", "history", "redirected", "past", "migrated", "mapped", "patched",
            "packed",
        ]
        if !inside.contains(golden.name) {
            #expect(!status.damage.isEmpty)
            #expect(status.needsRecovery)
        }
    }

    @Test("Where there is no store it says so")
    func nothing() throws {
        let disk = MemoryFileSystem()
        try disk.makeDirectory("/store")
        for path in ["/store", "/nowhere"] {
            let error = #expect(throws: StoreError.self) {
                try LogStore.status(at: path, options: SampleStore.options(on: disk))
            }
            #expect(error?.code == .openFailed)
        }
    }

    @Test("Whatever is damaged, it ends with a status or an error")
    func random() throws {
        var random = RandomSource()
        let whole = try SampleStore.history(steps: 7, segmentBytes: 6000).closed
        for _ in 0..<Campaign.count(80, whole: 50_000) {
            var image = whole
            SalvageCampaignTests.damage(&image, &random)
            if let status = try? status(image) {
                #expect(status.segments.count == image.segments.count)
            }
        }
    }
}
