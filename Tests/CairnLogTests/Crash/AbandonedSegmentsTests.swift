import CairnFileSystem
import CairnFormat
import CairnStore
import CairnTestSupport
import SystemPackage
import Testing

@testable import CairnLog

@Suite("Segments that are left behind")
struct AbandonedSegmentsTests {
    /// A disk on which a part of the log is gone though two successors stand behind it, which nothing vouches
    /// for; what it held before that part, and whether it has a checkpoint.
    private func make() throws -> CrashExplorer.Start {
        var workload = Workload(operations: [])
        workload.durability = .relaxed
        workload.checksOrder = false
        let run = CrashRun(DiskState(), workload, seed: 0)
        try run.open()
        let store = try #require(run.store)
        let found = try run.text()
        let keep = Int(store.engine.registry.published().end.offset)
        try run.perform(.saveGraph, step: 0)
        let state = store.engine.registry.published()
        let files = StoreFiles(
            folder: SimulatedDisk.folder, fileSystem: run.disk, lock: store.engine.files.lock)
        let counters = state.catalog.trees.indices.map {
            TreeCounter(tree: state.catalog.trees[$0].id, next: state.nextNumbers[$0])
        }
        var end = state.end
        var segments = state.segments
        for _ in 0..<2 {
            let made = try files.makeSegment(
                number: end.segment + 1, after: end, live: segments,
                storeID: store.engine.storeID, time: 0, commit: state.commit, durable: 0,
                counters: counters, schema: state.catalog.place,
                schemaVersion: state.catalog.version)
            segments.begin(made.segment)
            end = made.end
        }
        var disk = run.disk.with { $0.state.afterPowerCut(.nothing, &$0.random) }
        try run.close()
        let first = try #require(disk.names[SegmentName.name(of: 1)])
        disk.resize(first, to: keep + 20)
        disk.sync(first)
        // The headers of the two vouch for what is gone: only a disk that lied can leave them so. One that came back in
        // the place of another file would vouch for it again, and opening would rightly say that it is gone.
        disk.bringsFreedBack = false
        return CrashExplorer.Start(state: disk, found: [found], description: "two left behind")
    }

    @Test(
        "A crash while they are removed, one after the other, leaves them or not, and costs nothing"
    )
    func removal() throws {
        var random = RandomSource()
        var workload = Workload(operations: [.insertOne, .reopen])
        workload.checksOrder = false
        var explorer = CrashExplorer(
            seed: random.next(), images: Campaign.count(2, whole: 40), shares: [1, 1])
        explorer.explore(try make(), workload)
        #expect(explorer.problems == [])
        #expect(explorer.imageCount > 50)
    }
}
