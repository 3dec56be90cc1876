// A run of several simulated processes over one simulated disk, by one seed.

import CairnStore
import CairnTestSupport

@testable import CairnLog

struct InterleavedRun {
    let world: InterleavedWorld
    private let seeds: [UInt64]
    private var random: RandomSource

    init(seed: UInt64) {
        var random = RandomSource(seed: seed)
        let count = random.oneIn(4) ? 3 : 2
        world = InterleavedWorld(players: count, &random)
        seeds = (0...count).map { _ in random.next() }
        self.random = random
    }

    mutating func carryOut() {
        defer { world.end() }
        do {
            if !random.oneIn(3) {
                try world.quietly {
                    try InterleavedProcess(0, world, seed: random.next()).populate()
                }
            }
            let (machine, starts) = (world, seeds)
            let steps = Int.random(in: 4...16, using: &random)
            world.interleaving.run { number in
                InterleavedProcess(number, machine, seed: starts[number]).run(steps: steps)
            }
            guard world.problems.isEmpty else { return }
            try world.quietly {
                let last = InterleavedProcess(0, world, seed: seeds[seeds.count - 1])
                try last.finish()
                guard world.problems.isEmpty, random.oneIn(4) else { return }
                world.cutPower()
                try InterleavedProcess(0, world, seed: random.next()).finish()
            }
        } catch {
            world.find("in the end: \(error)")
        }
    }

    /// What is wrong, with all that was done.
    var problems: [String] {
        world.problems.isEmpty ? [] : world.problems + world.log + ["\(world.workload)"]
    }
}
