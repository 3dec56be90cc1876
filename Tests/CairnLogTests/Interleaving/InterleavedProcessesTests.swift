// Processes that write one store, interleaved at each of their calls: while they open, wait for the lease, follow, append, sync,
// publish, take checkpoints, compact, look and close. Each dies at any call, and the power fails.
//
// One seed is one order of all calls, so that whatever is found can be played again: CAIRN_SEED, with CAIRN_CALLS=1 with
// each call.

import CairnTestSupport
import Testing

@testable import CairnLog

@Suite("Processes that are interleaved at every call")
struct InterleavedProcessesTests {
    @Test(
        "They commit one after the other, whoever of them dies, and none of what is promised is lost"
    )
    func random() {
        var sums: [(String, Int)] = []
        Rounds.run("interleaved processes", everyDay: 500, whole: 200_000) { random in
            var run = InterleavedRun(seed: random.seed)
            run.carryOut()
            #expect(run.problems == [], "seed \(random.seed)")
            let counts = run.world.counts
            sums = sums.isEmpty ? counts : zip(sums, counts).map { ($0.0, $0.1 + $1.1) }
        }
        let told = sums.map { "\($0.1) \($0.0)" }.joined(separator: ", ")
        printLine("interleaved processes: \(told)")
    }

    /// What 200,000 runs found: a store that its reader took for none, as it was read beside whoever recovered it; and commits
    /// that a process died with before it synced them, shown by processes that may write, and lost with the power.
    @Test(
        "Runs that found something find nothing more",
        arguments: [
            17_050_936_503_099_295_114, 17_050_936_503_099_321_206, 17_050_936_503_099_330_053,
            17_050_936_503_099_332_413, 17_050_936_503_099_333_203, 17_050_936_503_099_368_432,
            17_050_936_503_099_413_009, 17_050_936_503_099_461_807,
        ] as [UInt64])
    func found(_ seed: UInt64) {
        var run = InterleavedRun(seed: seed)
        run.carryOut()
        #expect(run.problems == [])
    }

    @Test("One seed gives one order of all calls")
    func repeated() {
        Rounds.run("repeated interleavings", everyDay: 20, whole: 2_000) { random in
            var (one, two) = (InterleavedRun(seed: random.seed), InterleavedRun(seed: random.seed))
            one.carryOut()
            two.carryOut()
            #expect(one.world.trace == two.world.trace, "seed \(random.seed)")
            #expect(one.world.log == two.world.log, "seed \(random.seed)")
        }
    }
}
