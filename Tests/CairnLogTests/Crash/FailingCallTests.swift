import CairnStore
import CairnTestSupport
import Foundation
import SystemPackage
import Testing

@testable import CairnLog

@Suite("A call that fails")
struct FailingCallTests {
    @Test("Each call of any three operations, once or from then on, costs nothing but the time")
    func each() throws {
        var random = RandomSource()
        var runs = 0
        var problems: [String] = []
        let step = Campaign.step(4_096)
        for round in 0..<Campaign.count(1, whole: 1) {
            let first = step == 1 ? 0 : Int(random.next() % UInt64(step))
            for number in stride(from: first, to: Workload.tripleCount, by: step) {
                let workload = Workload(Workload.triple(number), &random)
                var start = try CrashTests.populated(workload)
                start.description = "round \(round), seed \(random.seed), \(workload)"
                runs += failEach(start, workload, &random, &problems)
            }
        }
        Campaign.report("runs with a call that fails", runs)
        #expect(problems == [])
        #expect(runs > (Campaign.isLong ? 30 : 10))
    }

    @Test(
        "Each call of the making of a store, once or from then on, leaves nothing that is in the way"
    )
    func making() throws {
        var random = RandomSource()
        var runs = 0
        var problems: [String] = []
        for round in 0..<Campaign.count(1, whole: 20) {
            let workload = Workload([.insertOne], &random)
            var start = try CrashTests.nothing()
            start.description = "round \(round), seed \(random.seed), \(workload)"
            runs += failEach(start, workload, &random, &problems)
        }
        Campaign.report("runs with a call that fails", runs)
        #expect(problems == [])
        #expect(runs > 30)
    }

    /// Runs a workload as often as it makes calls, twice, and lets another one fail each time.
    private func failEach(
        _ start: CrashExplorer.Start, _ workload: Workload, _ random: inout RandomSource,
        _ problems: inout [String]
    ) -> Int {
        var runs = 0
        for repeats in [false, true] {
            var number = 0
            while problems.count < 10 {
                number += 1
                let fault = SimulatedDisk.Fault(
                    number: number,
                    code: [.ioError, .noSpace].randomElement(using: &random)!,
                    bytesFirst: [0, 1, 100, 1 << 20].randomElement(using: &random)!,
                    repeats: repeats)
                var run = FailingRun(start, workload, fault, seed: random.next())
                run.carryOut()
                problems += run.problems
                guard run.hasFailed else { break }
                runs += 1
            }
        }
        return runs
    }
}
