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

    @Test(
        "Each is found out by what is lost",
        arguments: [
            SyncSite.parent, .lockName, .segmentName, .segmentStart, .commit, .close, .rewritten,
            .cut,
        ])
    func losses(site: SyncSite) throws {
        // The rare ones are for the campaign.
        let isRare = site == .cut || site == .lockName
        try #require(try isFound(site, .content) || isRare && !Campaign.isLong)
    }

    /// A checkpoint that is lost costs nothing but time, so only the order of calls tells of it.
    ///
    /// Of the names that are gone none tells: with a disk that keeps its word there is at most one such file,
    /// and the next one of its name takes its place.
    @Test(
        "Each is found out by the order of calls",
        arguments: SyncSite.allCases.filter {
            ![.nothing, .removedNames, .cut, .zeros].contains($0)
        })
    func order(site: SyncSite) throws {
        try #require(try isFound(site, .order))
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
