// The right to append, which processes that have the store open for writing share.
//
//   take        before a commit, without the write lock: wait for the lease (LeaseLock.swift), read what
//               other processes wrote, and record in the mark that the log may continue after it
//   keep        it stays with this process from commit to commit. From time to time the process checks
//               whether another one waits for it. A waiting process reads what is durable, so while one
//               waits, commits are synced often
//   give back   with the write lock, when another process waits or none has written for a while: all commits
//               are synced, and the mark records that the log ends there
//
// A process that takes the lease without such a mark knows that its predecessor died, or no longer knew the
// state of its disk, and reads the log as one that was not closed.
//
// Invariants: LE1: a process without the lease changes neither the log nor the mark. LE2: a commit is based
// on the newest state that any process has made.
// Threads: any.

import CairnFileSystem
import CairnFormat
package import CairnStore
import Synchronization

/// Whether a process can append to the log.
final class EngineLease: Sendable {
    /// Changed only while holding the write lock.
    private let isOurs: Atomic<Bool>
    private let marking = Mutex(())
    /// The number of operations that must not lose it.
    private let pins = Atomic(0)
    /// Seconds to wait for it.
    let timeout: Double
    /// One thread at a time waits for it; the others wait for that one.
    let asking = LongLock(())
    /// Whether the store is being closed: background work no longer waits for other processes.
    let isEnding = Atomic(false)
    /// Whether a check is scheduled that may give it back.
    let isLookedAt = Atomic(false)
    let tenure = Mutex(Tenure())

    /// How long this process has held the lease, in checks.
    struct Tenure {
        /// Whether this process had to wait: other processes are likely to want it again.
        var isContested = false
        var looks = 0
        /// Where the log ended at the last check, and how many checks have found it there.
        var end: UInt64 = 0
        var idleLooks = 0
    }

    init(isHeld: Bool, timeout: Double) {
        isOurs = Atomic(isHeld)
        self.timeout = timeout
    }

    var isHeld: Bool { isOurs.load(ordering: .acquiring) }

    /// Sets whether this process may append. The caller holds the write lock.
    func setHeld(_ isHeld: Bool) {
        marking.withLock { _ in isOurs.store(isHeld, ordering: .releasing) }
    }

    /// Runs a closure if this process may append. The lease is not given back until it returns.
    func whileHeld(_ body: () -> Void) { marking.withLock { _ in if isHeld { body() } } }

    var isPinned: Bool { pins.load(ordering: .acquiring) > 0 }
    func pin() { pins.add(1, ordering: .acquiringAndReleasing) }
    func unpin() { pins.subtract(1, ordering: .acquiringAndReleasing) }
}

extension Engine {
    // MARK: Taking

    /// Runs a closure with the write lock, while no other process can append.
    ///
    /// - Throws: `StoreError` with `.storeInUse` if another process keeps the lease for longer than the store's options allow.
    package func withLease<R>(_ body: (inout Turn) throws(StoreError) -> R) throws(StoreError) -> R
    {
        while true {
            let result = try withTurn { turn throws(StoreError) -> R? in
                // If this engine cannot write at all, the body throws the reason.
                guard lease.isHeld || isReadOnly || turn.isClosed || queue.cause != nil else {
                    return nil
                }
                return try body(&turn)
            }
            if let result { return result }
            try takeLease(within: lease.timeout)
        }
    }

    private func takeLease(within seconds: Double) throws(StoreError) {
        let end = MonotonicTime.now + seconds
        try lease.asking.withLock { _ throws(StoreError) in
            // Another thread of this process has taken it in the meantime.
            if lease.isHeld || isClosed.load(ordering: .acquiring) { return }
            // Waits for the thread that gave it back: what that thread unlocks later would be the new lease.
            withTurnAnyway { _ in }
            guard try wait(until: end) else {
                if lease.isEnding.load(ordering: .acquiring) { throw Self.isClosedAlready }
                throw files.leaseIsTaken()
            }
            do throws(StoreError) {
                try checkOpen()
                try claimForHost()
                for upkeep in upkeeps { try upkeep.takeLease(self) }
            } catch {
                files.lease.giveBack()
                throw error
            }
        }
        keepLease()
    }

    /// Claims the store for this machine. If another machine has it open for writing, this engine no longer
    /// writes to it.
    private func claimForHost() throws(StoreError) {
        do throws(StoreError) {
            try files.claimForHost()
        } catch {
            if error.code == .storeInUse { queue.poison(error) }
            throw error
        }
    }

    /// Waits for the lease; returns false if another process keeps it, or the store is about to close.
    private func wait(until end: MonotonicTime) throws(StoreError) -> Bool {
        do {
            if try files.lease.take(within: 0) {
                lease.tenure.withLock { $0 = EngineLease.Tenure() }
                return true
            }
            lease.tenure.withLock { $0 = EngineLease.Tenure(isContested: true) }
            return try files.lease.take(
                within: max(0, end.secondsFromNow),
                unless: { lease.isEnding.load(ordering: .acquiring) },
                // Leaves little to read once this process has the lease. A process with others before it
                // reads more at once later.
                whileNext: { for upkeep in upkeeps { upkeep.waitsForLease(self) } })
        } catch {
            throw StoreError(error)
        }
    }

    /// - Throws: `StoreError` if the store was closed.
    func checkOpen() throws(StoreError) {
        if isClosed.load(ordering: .acquiring) { throw Self.isClosedAlready }
    }

    private static var isClosedAlready: StoreError { StoreError(.unusable, "the store is closed") }

    /// Runs a closure and keeps the lease until it ends, even if other processes wait for it.
    package func keepingLease<R, E: Error>(_ body: () throws(E) -> R) throws -> R {
        lease.pin()
        defer { lease.unpin() }
        // From here on no thread gives it back.
        try withLease { _ in }
        return try body()
    }

    /// Takes the lease of a store that no other process has open for writing, to record that it was closed.
    func takeLeaseToClose() {
        guard !isReadOnly, !lease.isHeld, queue.cause == nil, !isClosed.load(ordering: .acquiring),
            !files.hasOtherWriters
        else { return }
        // Without the lease, only the close frame is missing.
        try? takeLease(within: 0)
    }

    // MARK: Giving back

    /// The number of checks without a commit that end a lease; the number of checks that a contested lease
    /// lasts; and the number of checks after which commits are synced, so that other processes see them.
    private static let patience = 60
    private static let looksOfContested = 4
    private static let looksUntilSync = 6

    /// Gives the lease back after opening: a process that opens a store need not write to it.
    func endOpening() {
        // Starting a segment is left to the next commit, or to a pause between commits.
        let isKept = withTurnAnyway { turn in
            if turn.mustRoll || files.isUnfinished { return true }
            giveLeaseBack(&turn)
            return false
        }
        if isKept { keepLease() }
    }

    /// Schedules a check whether another process waits for the lease.
    func keepLease() {
        guard sizes.leaseSeconds < .infinity, lease.isHeld,
            !lease.isLookedAt.exchange(true, ordering: .acquiringAndReleasing)
        else { return }
        let isContested = lease.tenure.withLock { $0.isContested }
        let seconds = sizes.leaseSeconds / Double(isContested ? Self.looksOfContested : 1)
        scheduler.schedule(after: seconds) { [link] in link.engine?.lookAtLease() }
    }

    private func lookAtLease() {
        lease.isLookedAt.store(false, ordering: .releasing)
        let isWanted = files.lease.isWanted
        let (looks, isContested) = lease.tenure.withLock { tenure in
            tenure.looks += 1
            return (tenure.looks, tenure.isContested)
        }
        if isWanted, isContested, looks < Self.looksOfContested {
            try? synchronize()
            return keepLease()
        }
        func look(_ turn: inout Turn) {
            guard lease.isHeld, !turn.isClosed else { return }
            if isLeaseDue(turn, isWanted) { giveLeaseBack(&turn) }
        }
        // If many threads commit, the write lock is hardly ever free, and other processes would wait forever.
        if isWanted { withTurnAnyway(look) } else { _ = withTurnIfFree(look) }
        if looks % Self.looksUntilSync == 0, lease.isHeld, files.hasOtherUsers {
            // The next commit reports the error.
            try? synchronize()
        }
        keepLease()
    }

    private func isLeaseDue(_ turn: borrowing Turn, _ isWanted: Bool) -> Bool {
        if lease.isPinned || files.isUnfinished { return false }
        if isWanted { return true }
        // A process that cannot write must not block others.
        if queue.cause != nil || queue.currentFailure() != nil { return true }
        let end = turn.end.lsn
        let isIdle = queue.isIdle
        return lease.tenure.withLock { tenure in
            guard isIdle, tenure.end == end else {
                tenure.end = end
                tenure.idleLooks = 0
                return false
            }
            tenure.idleLooks += 1
            let patience = Self.patience * (tenure.isContested ? Self.looksOfContested : 1)
            return tenure.idleLooks >= patience
        }
    }

    /// Makes all commits durable, and lets other processes append. The caller holds the write lock.
    func giveLeaseBack(_ turn: inout Turn) {
        // A thread that waits for a failed commit gets the error.
        try? drain(&turn)
        // Otherwise other processes would have to reread the log, because they must not touch its end.
        if turn.mustRoll, queue.cause == nil { try? beginSegment(&turn) }
        var isWhole = queue.cause == nil && !turn.mustRoll
        if isWhole { isWhole = (try? synchronize(&turn)) != nil }
        turn.segments.current.waitForFilling()
        tools.staging.endAdopted()
        lease.setHeld(false)
        if isWhole {
            files.writeMark(
                MarkRecord(
                    store: storeID, commit: turn.head.state.commit, lsn: turn.end.lsn,
                    chain: turn.end.chain, segment: turn.end.segment, role: .released))
        }
        for upkeep in upkeeps { upkeep.willGiveLeaseBack(self) }
        files.lease.giveBack()
    }
}
