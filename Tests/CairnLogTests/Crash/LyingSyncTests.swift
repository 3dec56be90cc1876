// The campaigns are only worth something if they would notice: here one sync of the engine after the other does
// nothing, as if its call were deleted.

import CairnFileSystem
import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A sync that does nothing")
struct LyingSyncTests {
    /// What finds it out.
    enum Witness: Sendable {
        /// Content that was promised is gone, or what failed is there.
        case content
        /// The order of the calls.
        case order
    }

    /// Those that something is lost by.
    private static let needed: [SyncSite] = [
        .commit, .segmentStart, .segmentName, .close, .rewritten, .parent, .lockName, .cut,
    ]

    @Test(
        "Each is found out by what is lost",
        arguments: Campaign.isLong ? needed : Array(needed.prefix(1)))
    func losses(site: SyncSite) throws {
        #expect(try isFound(site, .content))
    }

    /// A checkpoint that is lost costs nothing but time, so only the order of calls tells of it.
    ///
    /// Of the names that are gone none tells: with a disk that keeps its word there is at most one such file,
    /// and the next one of its name takes its place.
    @Test(
        "Each is found out by the order of calls",
        arguments: Campaign.isLong
            ? needed.dropLast() + [.checkpoint, .checkpointName] : [.checkpoint])
    func order(site: SyncSite) throws {
        #expect(try isFound(site, .order))
    }

    @Test(
        "Where all sorts of syncs lie, a crash leaves a beginning of the commits, or says what is wrong"
    )
    func anything() throws {
        var random = RandomSource()
        var images = 0
        for _ in 0..<Campaign.count(1, whole: 1000) {
            var workload = Workload(
                (0..<6).map { _ in StoreOperation.allCases.randomElement(using: &random)! },
                &random)
            workload.checksOrder = false
            let honest = workload
            workload.lyingSites = Set(SyncSite.allCases.filter { _ in random.oneIn(2) })
            let nothing = try CrashTests.nothing()
            let run = CrashRun(DiskState(), workload, seed: random.next())
            run.disk.with { $0.records = true }
            try run.open()
            for (step, operation) in workload.operations.enumerated() {
                try run.perform(operation, step: step)
            }
            let possible = Set(run.texts + nothing.found)
            for point in run.disk.with({ $0.points }) {
                images += 1
                let other = CrashRun(
                    point.state.afterPowerCut(.some, &random), honest, seed: random.next())
                do {
                    try other.open()
                    #expect(possible.contains(other.texts[0]), "seed \(random.seed)")
                    try other.close()
                } catch let error as StoreError {
                    #expect(
                        error.code == .damaged || error.code == .openFailed,
                        "\(error), seed \(random.seed)")
                }
            }
            try run.close()
        }
        Campaign.report("images of disks that lie", images)
    }

    private func isFound(_ site: SyncSite, _ witness: Witness) throws -> Bool {
        var random = RandomSource()
        var images = 0
        for _ in 0..<Campaign.count(20, whole: 500) {
            if let problem = try crash(site, witness, &images, &random)
                ?? fail(site, witness, &images, &random)
            {
                print("\(site) lies, \(witness): found after \(images) images: \(problem)")
                return true
            }
        }
        return false
    }

    private func workload(
        _ operations: [StoreOperation], _ site: SyncSite, _ witness: Witness,
        _ random: inout RandomSource
    ) -> Workload {
        var workload = Workload(operations, &random)
        workload.lyingSites = [site]
        workload.checksOrder = witness == .order
        return workload
    }

    private func crash(
        _ site: SyncSite, _ witness: Witness, _ images: inout Int, _ random: inout RandomSource
    ) throws -> String? {
        var explorer = CrashExplorer(seed: random.next(), images: 2, shares: [1, 20])
        let workload = workload(
            (0..<6).map { _ in StoreOperation.allCases.randomElement(using: &random)! }, site,
            witness, &random)
        let isNew = random.oneIn(3)
        explorer.explore(
            isNew ? try CrashTests.nothing() : try CrashTests.populated(workload), workload)
        images += explorer.imageCount
        return explorer.problems.first
    }

    private func fail(
        _ site: SyncSite, _ witness: Witness, _ images: inout Int, _ random: inout RandomSource
    ) throws -> String? {
        let workload = workload(
            (0..<3).map { _ in StoreOperation.allCases.randomElement(using: &random)! }, site,
            witness, &random)
        let start = try CrashTests.populated(workload)
        for number in 1...60 {
            var run = FailingRun(
                start, workload,
                SimulatedDisk.Fault(
                    operation: .write, number: number, code: .ioError, bytesFirst: 1 << 20),
                seed: random.next())
            run.carryOut()
            images += 1
            if let problem = run.problems.first { return problem }
            if !run.hasFailed { break }
        }
        return nil
    }
}
