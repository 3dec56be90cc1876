// Many rounds of a random test, each of which can be played again by itself.
//
// Round n of a run with the seed s has the seed s + n: with CAIRN_SEED set to a round's seed, that round comes
// first. A round that ends the process (a trap, memory that is not there) or does not end cannot report
// anything, so its seed is kept where a signal handler and a watchdog find it.
//
// Threads: any; each run has a slot of its own.

import Foundation
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

package enum Rounds {
    /// Runs rounds, as many as an ordinary run or a campaign wants, and prints their seed.
    ///
    /// - Parameters:
    ///   - everyDay: how many in an ordinary run.
    ///   - whole: how many in a whole campaign.
    package static func run(
        _ test: String, everyDay: Int, whole: Int, _ body: (inout RandomSource) throws -> Void
    ) rethrows {
        let first = RandomSource(test).seed
        let count = Campaign.count(everyDay, whole: whole)
        try run(test, first: first, count: count) { seed in
            var random = RandomSource(seed: seed)
            try body(&random)
        }
    }

    /// Runs a closure with numbers from `first` on, and prints how far it is.
    package static func run(
        _ test: String, first: UInt64 = 0, count: Int, _ body: (UInt64) throws -> Void
    ) rethrows {
        let slot = RoundJournal.begin(test)
        defer { RoundJournal.end(slot) }
        let begin = ContinuousClock.now
        var told = begin
        for round in 0..<count {
            let seed = first &+ UInt64(round)
            RoundJournal.note(slot, seed)
            try body(seed)
            if Campaign.isLong, round & 0xFF == 0, ContinuousClock.now - told > .seconds(30) {
                told = .now
                printLine("campaign: \(test): \(round) of \(count) after \(told - begin)")
            }
        }
        if Campaign.isLong {
            printLine("campaign: \(test): \(count) done in \(ContinuousClock.now - begin)")
        }
    }
}

/// What is going on, where a signal handler can read it: no lock, no allocation.
private enum RoundJournal {
    private struct Slot: ~Copyable {
        /// 0 = free.
        let isUsed = Atomic<UInt64>(0)
        let seed = Atomic<UInt64>(0)
        /// Counts the rounds, so that the watchdog sees whether they go on.
        let turns = Atomic<UInt64>(0)
        /// The test's name, in C's form; never freed, since a signal may come at any time.
        let name = Atomic<UInt>(0)
    }

    private static let count = 64
    /// Seconds. A round longer than this hangs: rounds take milliseconds, those under the thread sanitizer beside all other tests
    /// minutes.
    private static let patience = 1800
    private nonisolated(unsafe) static let slots: UnsafeMutableRawPointer = {
        // Written once, before anybody can ask for it; what it points at is atomic.
        let words = UnsafeMutablePointer<Slot>.allocate(capacity: count)
        for index in 0..<count { (words + index).initialize(to: Slot()) }
        for signal in [SIGILL, SIGTRAP, SIGSEGV, SIGBUS, SIGABRT, SIGFPE] { tellBefore(signal) }
        Thread.detachNewThread { watch() }
        return UnsafeMutableRawPointer(words)
    }()

    private static func slot(_ index: Int) -> UnsafeMutablePointer<Slot> {
        slots.assumingMemoryBound(to: Slot.self) + index
    }

    static func begin(_ test: String) -> Int {
        for index in 0..<count {
            let slot = slot(index)
            guard
                slot.pointee.isUsed.compareExchange(
                    expected: 0, desired: 1, ordering: .acquiringAndReleasing
                ).exchanged
            else { continue }
            let name = strdup(test)
            slot.pointee.name.store(UInt(bitPattern: name), ordering: .releasing)
            return index
        }
        preconditionFailure("more than \(count) tests at once run rounds")
    }

    static func note(_ index: Int, _ seed: UInt64) {
        let slot = slot(index)
        slot.pointee.seed.store(seed, ordering: .releasing)
        slot.pointee.turns.wrappingAdd(1, ordering: .releasing)
    }

    static func end(_ index: Int) { slot(index).pointee.isUsed.store(0, ordering: .releasing) }

    // MARK: When all is over

    private static func tellBefore(_ number: Int32) {
        signal(number) { number in
            RoundJournal.tell()
            signal(number, SIG_DFL)
            raise(number)
        }
    }

    /// Writes the seeds of all rounds that are under way. Called from signal handlers.
    private static func tell() {
        for index in 0..<count {
            let slot = slot(index)
            guard slot.pointee.isUsed.load(ordering: .acquiring) == 1,
                let name = UnsafePointer<CChar>(
                    bitPattern: slot.pointee.name.load(ordering: .acquiring))
            else { continue }
            write("\nround under way: seed ")
            write(slot.pointee.seed.load(ordering: .acquiring))
            write(" in ")
            Self.put(UnsafeRawBufferPointer(start: name, count: strlen(name)))
            write("\n")
        }
    }

    private static func write(_ text: StaticString) {
        put(UnsafeRawBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount))
    }

    private static func write(_ number: UInt64) {
        withUnsafeTemporaryAllocation(byteCount: 20, alignment: 1) { digits in
            var rest = number
            var first = 20
            repeat {
                first -= 1
                digits[first] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0
            put(UnsafeRawBufferPointer(rebasing: digits[first...]))
        }
    }

    private static func put(_ bytes: UnsafeRawBufferPointer) {
        #if canImport(Glibc)
            _ = Glibc.write(2, bytes.baseAddress, bytes.count)
        #elseif canImport(Musl)
            _ = Musl.write(2, bytes.baseAddress, bytes.count)
        #elseif canImport(Darwin)
            _ = Darwin.write(2, bytes.baseAddress, bytes.count)
        #endif
    }

    /// Ends the process when a round hangs.
    private static func watch() {
        var seen = [(turns: UInt64, seconds: Int)](repeating: (0, 0), count: count)
        while true {
            sleep(1)
            for index in 0..<count {
                let slot = slot(index)
                let turns = slot.pointee.turns.load(ordering: .acquiring)
                let isBusy = slot.pointee.isUsed.load(ordering: .acquiring) == 1
                if !isBusy || turns != seen[index].turns {
                    seen[index] = (turns, 0)
                } else {
                    seen[index].seconds += 1
                    precondition(seen[index].seconds < patience, "a round does not end")
                }
            }
        }
    }
}
