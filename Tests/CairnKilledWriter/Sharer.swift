// A process that does to a shared store what chance wants, until it is killed, and says when it begins an operation and what
// came of it.
//
//   CairnKilledWriter STORE share SLOT DURABILITY SEED FIRST THREADS BACKUP
//
// DURABILITY is one of the store's, or `reader`: then it writes nothing. SLOT tells it from the other processes; the
// numbers of its operations begin with FIRST. Lines on standard output, each in one write; TIME is CLOCK_MONOTONIC in
// nanoseconds, which is one clock for all processes:
//
//   > STAMP TIME OPERATION      it is begun; see SharedOperation
//   < STAMP TIME OUTCOME        it has returned; see SharedStore.Outcome
//   failed …                    what must not happen; the process ends
//
// Threads: as many as asked for, each with a store object of its own on the process's one engine.

import CairnLog
import CairnTestSupport
import Foundation

package enum Sharer {
    /// The stamps of all operations differ.
    package static let mostThreads = 2
    private static let mostSlots = 32

    /// The stamp of an operation, which is not 0.
    package static func stamp(_ number: Int, thread: Int, slot: Int) -> Int64 {
        Int64((number * mostThreads + thread) * mostSlots + slot)
    }

    /// Whose operation a stamp belongs to.
    package static func parts(of stamp: Int64) -> (number: Int, thread: Int, slot: Int) {
        let rest = Int(stamp) / mostSlots
        return (rest / mostThreads, rest % mostThreads, Int(stamp) % mostSlots)
    }

    /// The operation of a stamp, for people.
    package static func name(_ stamp: Int64) -> String {
        let parts = parts(of: stamp)
        return "operation \(parts.number) of thread \(parts.thread) of process \(parts.slot) "
            + "(stamp \(stamp))"
    }

    /// The time in nanoseconds, by a clock that all processes of a machine share.
    package static func now() -> UInt64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
    }

    static func run(_ arguments: [String]) {
        guard arguments.count == 9, let slot = Int(arguments[3]), let seed = UInt64(arguments[5]),
            let first = Int(arguments[6]), let threads = Int(arguments[7])
        else { KilledWriter.fail("wrong arguments") }
        let durability = LogStoreOptions.Durability(rawValue: arguments[4])
        TestThreads.run(threads) { thread in
            do {
                try share(
                    arguments[1], durability, backup: arguments[8] + "-\(thread)", seed: seed,
                    first: first, thread: thread, slot: slot)
            } catch {
                KilledWriter.fail("\(error)")
            }
        }
    }

    private static func share(
        _ path: String, _ durability: LogStoreOptions.Durability?, backup: String, seed: UInt64,
        first: Int, thread: Int, slot: Int
    ) throws {
        var number = first
        func tell(_ operation: SharedOperation, _ body: (Int64) throws -> SharedStore.Outcome)
            throws
        {
            let stamp = stamp(number, thread: thread, slot: slot)
            number += 1
            KilledWriter.say("> \(stamp) \(now()) \(operation.text)")
            let outcome: SharedStore.Outcome
            do {
                outcome = try body(stamp)
            } catch {
                KilledWriter.fail("\(name(stamp)), \(operation.text): \(error)")
            }
            KilledWriter.say("< \(stamp) \(now()) \(outcome.text)")
        }
        var opened: SharedStore?
        try tell(.open) { _ in
            let store = try SharedStore(path, durability, backupPath: backup)
            opened = store
            return try store.read()
        }
        guard let store = opened else { return }
        var random = RandomSource(seed: seed &+ UInt64(thread) &+ UInt64(first) << 20)
        while true {
            let operation = try next(store, isReader: durability == nil, &random)
            try tell(operation) { try store.carryOut(operation, stamp: $0) }
            // Whoever pauses lets others have their turn, and hears of what they do. Readers would take all of the machine.
            if random.oneIn(durability == nil ? 3 : 12) {
                usleep(UInt32.random(in: 0..<25_000, using: &random))
            }
        }
    }

    /// What is done next.
    private static func next(
        _ store: SharedStore, isReader: Bool, _ random: inout RandomSource
    ) throws -> SharedOperation {
        func register() -> Int {
            Int.random(in: 0..<SharedContent.registerCount, using: &random)
        }
        func registers() -> [Int] {
            Array(Set((0..<Int.random(in: 1...4, using: &random)).map { _ in register() }))
                .sorted()
        }
        let choice = Int.random(in: 0..<(isReader ? 30 : 100), using: &random)
        switch choice {
        case 0..<10: return .look
        case 10..<26: return .refresh
        case 26: return random.oneIn(2) ? .backup : .check
        case 27: return .check
        case 28, 29: return .open
        case 30, 31: return .compact
        case 32..<40: return .drop(registers())
        case 40..<50: return .claim(register())
        case 50..<60:
            let number = register()
            guard let seen = try store.register(number)?.stamp else { return .claim(number) }
            return .renew(number, seen: seen)
        case 60..<80:
            let from = Int.random(in: 0..<SharedContent.accountCount, using: &random)
            let others = Int.random(in: 1..<SharedContent.accountCount, using: &random)
            return .move(
                from: from, to: (from + others) % SharedContent.accountCount,
                amount: Int64.random(in: 1...50, using: &random))
        default: return .set(registers())
        }
    }
}
