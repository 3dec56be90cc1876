import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnLog

@Suite("A crash")
struct CrashTests {
    /// A disk without a store, and what is found when one is made there.
    static func nothing() throws -> CrashExplorer.Start {
        let run = CrashRun(DiskState(), Workload(operations: []), seed: 0)
        try run.open()
        return CrashExplorer.Start(state: DiskState(), found: run.texts, description: "a new store")
    }

    /// A disk with a few objects.
    static func populated(_ workload: Workload) throws -> CrashExplorer.Start {
        var honest = workload
        honest.lyingSites = []
        let run = CrashRun(DiskState(), honest, seed: 0)
        try run.open()
        if let store = run.store { try StoreOperation.populate(store) }
        let text = try run.text()
        try run.close()
        return CrashExplorer.Start(
            state: run.disk.with { $0.state.afterPowerCut(.all, &$0.random) }, found: [text],
            description: "\(workload)")
    }

    /// Explores one round after the other, as many as a campaign asks for, and more while chance has left out nearly all calls.
    private static func explore(
        _ explorer: inout CrashExplorer, whole: Int,
        _ round: (Int, inout CrashExplorer) throws -> Void
    ) throws {
        let least = Campaign.isLong ? 50 : 12
        var number = 0
        while number < Campaign.count(1, whole: whole)
            || explorer.imageCount <= least && number < 20
        {
            try round(number, &explorer)
            number += 1
        }
        Campaign.report("crash images", explorer.imageCount)
        #expect(explorer.problems == [])
        #expect(explorer.imageCount > least)
    }

    @Test("At any call of any three operations loses nothing and leaves nothing half (CM2)")
    func triples() throws {
        var random = RandomSource()
        var explorer = CrashExplorer(
            seed: random.next(), shares: Campaign.isLong ? [1, 1] : [3, 20])
        let step = Campaign.step(2_048)
        try Self.explore(&explorer, whole: 1) { round, explorer in
            let first = step == 1 ? 0 : Int(random.next() % UInt64(step))
            for number in stride(from: first, to: Workload.tripleCount, by: step) {
                let workload = Workload(Workload.triple(number), &random)
                var start = try Self.populated(workload)
                start.description = "round \(round), seed \(random.seed), \(workload)"
                explorer.explore(start, workload)
            }
        }
    }

    @Test("At any call of random work, again in what follows, and again, loses nothing (CM2, RC1)")
    func random() throws {
        var random = RandomSource()
        var explorer = CrashExplorer(
            seed: random.next(), images: Campaign.isLong ? 2 : 1,
            shares: Campaign.isLong ? [1, 40, 40] : [4, 80, 80])
        try Self.explore(&explorer, whole: 1000) { round, explorer in
            let count = Int.random(in: 4...12, using: &random)
            let workload = Workload(
                (0..<count).map { _ in StoreOperation.allCases.randomElement(using: &random)! },
                &random)
            var start = try Self.populated(workload)
            start.description = "round \(round), seed \(random.seed), \(workload)"
            explorer.explore(start, workload)
        }
    }

    @Test("At any call of updates by patches, and of what becomes of them, loses nothing")
    func patches() throws {
        var random = RandomSource()
        var explorer = CrashExplorer(
            seed: random.next(), shares: Campaign.isLong ? [1, 1] : [8, 80])
        var patches = 0
        try Self.explore(&explorer, whole: 200) { round, explorer in
            var workload = Workload(
                [.insertMany, .updateAll, .updateAll, .delete, .compact, .updateAll, .reopen],
                &random)
            workload.sizes.rowsPerBlock = 4
            patches += try Self.patches(workload)
            var start = try Self.populated(workload)
            start.description = "round \(round), seed \(random.seed), \(workload)"
            explorer.explore(start, workload)
        }
        #expect(patches > 0)
    }

    /// How many blocks are patches after the operations of a workload, summed.
    private static func patches(_ workload: Workload) throws -> Int {
        let run = CrashRun(DiskState(), workload, seed: 0)
        try run.open()
        if let store = run.store { try StoreOperation.populate(store) }
        var count = 0
        for (step, operation) in workload.operations.enumerated() {
            try run.perform(operation, step: workload.firstStep + step)
            guard let state = run.store?.engine.registry.published() else { continue }
            count += state.blocks.all(ofEntity: StoreOperation.item).count {
                !state.blocks.entry($0).patched.isNone
            }
        }
        try run.close()
        return count
    }

    @Test("At every call of a store's making and first commits, and at every call of what follows")
    func making() throws {
        var random = RandomSource()
        var explorer = CrashExplorer(
            seed: random.next(), images: Campaign.isLong ? 2 : 1,
            shares: Campaign.isLong ? [1, 1] : [2, 10])
        try Self.explore(&explorer, whole: 100) { round, explorer in
            let workload = Workload([.insertOne, .reopen, .saveGraph], &random)
            var start = try Self.nothing()
            start.description = "round \(round), seed \(random.seed), \(workload)"
            explorer.explore(start, workload)
        }
    }
}
