// Random numbers that can be played again.

import Foundation

/// A generator that prints its seed when made. Set CAIRN_SEED to a printed number to repeat a run.
///
/// SplitMix64: small, fast, any seed is good, and the sequence is the same everywhere.
package struct RandomSource: RandomNumberGenerator, Sendable {
    package let seed: UInt64
    private var state: UInt64

    /// Seeded by CAIRN_SEED, else by the system; prints "seed: N" with the test's name.
    package init(_ test: String = #function) {
        let given = ProcessInfo.processInfo.environment["CAIRN_SEED"]
        if let given, UInt64(given) == nil {
            preconditionFailure("CAIRN_SEED must be a whole number from 0 up, not \"\(given)\"")
        }
        self.init(seed: given.flatMap { UInt64($0) } ?? UInt64.random(in: 0 ... .max))
        printLine("seed: \(seed) in \(test)")
    }

    /// A fixed sequence, silent.
    package init(seed: UInt64) {
        self.seed = seed
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// That many random bytes.
    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }

    /// True in one of `n` cases.
    package mutating func oneIn(_ n: Int) -> Bool {
        Int.random(in: 0..<n, using: &self) == 0
    }
}

/// Writes a line at once, past any buffer, so that it is seen even if the process dies.
package func printLine(_ line: String) {
    FileHandle.standardOutput.write(Data((line + "\n").utf8))
}
