// The right to append, which processes that have the store open for writing share.
//
//   take        before a commit, without the turn: wait for the lease (LeaseLock.swift), read what others wrote, and
//               say in the mark that the log may go on behind it
//   keep        it stays with this process from commit to commit. From time to time it is looked whether somebody waits for it.
//               Who waits reads along what is durable; so while somebody does, commits are synced often
//   give back   with the turn, when somebody waits or nobody has written for a while: all that was committed is synced, and
//               the mark says that the log ends there
//
// Whoever finds the lease without such a mark knows that the process before it died, or knew nothing of its disk any more, and
// reads the log as one that was not closed.
//
// Invariants: LE1: whoever has no lease changes neither the log nor the mark. LE2: a commit is made on the newest state that
// any process has made.
// Threads: any.

import CairnFileSystem
import CairnFormat
package import CairnStore
import Synchronization

/// Whether a process can append to the log.
final class EngineLease: Sendable {
    /// Changed with the turn only.
    private let isOurs: Atomic<Bool>
    private let marking = Mutex(())
    /// How many works must not lose it on their way.
    private let pins = Atomic(0)
    /// Seconds to wait for it.
    let timeout: Double
    /// One thread at a time waits for it; the others wait for that one.
    let asking = LongLock(())
    /// Whether the store is being closed: what is done in the background waits for nobody any more.
    let isEnding = Atomic(false)
    /// Whether it will be looked soon whether it is to be given back.
    let isLookedAt = Atomic(false)
    let tenure = Mutex(Tenure())

    /// How long this process has had the lease, in looks.
    struct Tenure {
        /// Whether it had to wait, so that others are likely to want it again.
        var isContested = false
        var looks = 0
        /// Where the log ended at the last look, and at how many looks it has ended there.
        var end: UInt64 = 0
        var idleLooks = 0
    }

    init(isHeld: Bool, timeout: Double) {
        isOurs = Atomic(isHeld)
        self.timeout = timeout
    }

    var isHeld: Bool { isOurs.load(ordering: .acquiring) }

    /// The caller has the turn.
    func setHeld(_ isHeld: Bool) {
        marking.withLock { _ in isOurs.store(isHeld, ordering: .releasing) }
    }

    /// Runs a closure if this process may append. It is not given back meanwhile.
    func whileHeld(_ body: () -> Void) { marking.withLock { _ in if isHeld { body() } } }

    var isPinned: Bool { pins.load(ordering: .acquiring) > 0 }
    func pin() { pins.add(1, ordering: .acquiringAndReleasing) }
    func unpin() { pins.subtract(1, ordering: .acquiringAndReleasing) }
}

extension Engine {
    // MARK: Taking

    /// Runs a closure with the turn, while no other process can append.
    ///
    /// - Throws: `StoreError` with `.storeInUse` if another process keeps the lease for longer than the store's options allow.
    package func withLease<R>(_ body: (inout Turn) throws(StoreError) -> R) throws(StoreError) -> R
    {
        while true {
            let result = try withTurn { turn throws(StoreError) -> R? in
                // Who may not write at all is told so by the body.
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
            // Somebody of this process has got it meanwhile.
            if lease.isHeld || isClosed.load(ordering: .acquiring) { return }
            // Whoever has given it back is through with that: what it unlocks later would be this one's.
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

    /// A store that another machine has open to write is written to by this one no more.
    private func claimForHost() throws(StoreError) {
        do throws(StoreError) {
            try files.claimForHost()
        } catch {
            if error.code == .storeInUse { queue.poison(error) }
            throw error
        }
    }

    /// Waits for the lease; false if another process keeps it, or the store is about to be closed.
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
                // So that little is left to be read with the lease. Who has others before it reads more at once later.
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

    /// Keeps the lease until the closure ends, whoever waits for it.
    package func keepingLease<R, E: Error>(_ body: () throws(E) -> R) throws -> R {
        lease.pin()
        defer { lease.unpin() }
        // From here on nobody gives it back.
        try withLease { _ in }
        return try body()
    }

    /// The last one who has the store open says that it was closed.
    func takeLeaseToClose() {
        guard !isReadOnly, !lease.isHeld, queue.cause == nil, !isClosed.load(ordering: .acquiring),
            !files.hasOtherWriters
        else { return }
        // What is missing otherwise is the close frame.
        try? takeLease(within: 0)
    }

    // MARK: Giving back

    /// How many looks without a commit end a lease; how many a lease has that others wait for; and after how many looks what
    /// is not durable yet is synced, so that others see it.
    private static let patience = 60
    private static let looksOfContested = 4
    private static let looksUntilSync = 6

    /// Whoever opens a store need not write to it.
    func endOpening() {
        // To begin a segment is for whoever writes, or pauses for a while.
        let isKept = withTurnAnyway { turn in
            if turn.mustRoll || files.isUnfinished { return true }
            giveLeaseBack(&turn)
            return false
        }
        if isKept { keepLease() }
    }

    /// Looks soon whether somebody waits for the lease.
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
        // Where many threads commit the turn is hardly ever free, and others would wait for ever.
        if isWanted { withTurnAnyway(look) } else { _ = withTurnIfFree(look) }
        if looks % Self.looksUntilSync == 0, lease.isHeld, files.hasOtherUsers {
            // Whoever commits next is told.
            try? synchronize()
        }
        keepLease()
    }

    private func isLeaseDue(_ turn: borrowing Turn, _ isWanted: Bool) -> Bool {
        if lease.isPinned || files.isUnfinished { return false }
        if isWanted { return true }
        // Who cannot write is in nobody's way.
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

    /// Makes all commits durable, and lets others append. The caller has the turn.
    func giveLeaseBack(_ turn: inout Turn) {
        // Who waits for a commit that fails is told.
        try? drain(&turn)
        // So that others need not read the log anew, whose end is not theirs to touch.
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
