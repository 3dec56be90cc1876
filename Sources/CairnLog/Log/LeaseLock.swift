// The lock for the right to append to the log, and the queue for it.                             Format 95.12
//
//   byte 0   the lease: the process that has it locked appends
//   byte 2   the door: the process that is next. Others that want the lease wait for the door
//
// The holder of the lease sees by the door that another process waits, gives it back, and finds yet another
// one at the door when it wants it again: so no process waits forever while another commits in a loop. The
// system releases both when a process dies.
//
// Waiting has a time limit, and the kernel's has none. So a thread waits in the kernel, which serves
// processes in the order of arrival, and callers wait for that thread. It keeps waiting when the time is
// over: a later caller waits for the same thread, and without one it gives back what it gets. If the system
// cannot wait, all poll.
//
// A process that was stopped may hold the door: after a long wait, a process tries the lease without it.
//
// Threads: any; one at a time takes it.

import CairnFileSystem

final class LeaseLock: Sendable {
    private struct State {
        /// Whether this open file has the lease.
        var isOurs = false
        /// Whether a caller waits for it here.
        var isWanted = false
        /// Whether a thread waits in the kernel, since when, and whether it is next.
        var hasThread = false
        var since = MonotonicTime.now
        var isNext = false
        /// The error that kept the thread from waiting.
        var failure: FileSystemError?
    }

    private static let leaseByte: UInt64 = 0
    private static let doorByte: UInt64 = 2
    /// The seconds after which a waiting caller checks again.
    private static let part = 0.001
    /// The seconds after which the lease is tried without the door, and between two attempts.
    private static let patience = 1.0
    private static let patienceAgain = 0.02

    private let lock: any File
    private let state = Monitor(State())

    init(_ lock: any File) { self.lock = lock }

    // MARK: Taking

    /// Waits for the lease; returns false if another process still has it when the time is over.
    ///
    /// - Parameters:
    ///   - seconds: 0 = tries without waiting.
    ///   - isOver: whether it is no longer requested.
    ///   - whileNext: called repeatedly while only the holder of the lease is before this process.
    func take(
        within seconds: Double, unless isOver: () -> Bool = { false }, whileNext: () -> Void = {}
    ) throws(FileSystemError) -> Bool {
        let end = MonotonicTime.now + seconds
        if try takeAtOnce() { return true }
        if seconds <= 0 { return false }
        guard lock.canWaitForLocks, startWaiting() else { return try ask(until: end, isOver) }
        repeat {
            let part = min(end, MonotonicTime.now + Self.part)
            let isSettled = state.wait(until: part) { $0.isOurs || $0.failure != nil ? true : nil }
            if isSettled != nil { break }
            if try takeWithoutDoor() { break }
            // The lease can also arrive while this runs.
            if isNext { whileNext() }
        } while end.secondsFromNow > 0 && !isOver()
        let last = state.withLock { state -> State in
            state.isWanted = false
            defer { state.failure = nil }
            return state
        }
        if last.isOurs { return true }
        // The thread needs one descriptor more than polling.
        return last.failure == nil ? false : try ask(until: end, isOver)
    }

    /// Takes the lease if no process has it or waits for it.
    private func takeAtOnce() throws(FileSystemError) -> Bool {
        try state.withLock { state throws(FileSystemError) in
            // The lease that the thread gets is for the caller that waits for it.
            if state.hasThread { return false }
            guard try lock.lock(byte: Self.doorByte, exclusive: true) else { return false }
            defer { try? lock.unlock(byte: Self.doorByte) }
            state.isOurs = try lock.lock(byte: Self.leaseByte, exclusive: true)
            return state.isOurs
        }
    }

    /// Takes it even if a stopped process holds the door.
    private func takeWithoutDoor() throws(FileSystemError) -> Bool {
        try state.withLock { state throws(FileSystemError) in
            if !state.isOurs, state.since.secondsFromNow < -Self.patience {
                state.isOurs = try lock.lock(byte: Self.leaseByte, exclusive: true)
                state.since = .now + (Self.patienceAgain - Self.patience)
            }
            return state.isOurs
        }
    }

    // MARK: Waiting

    /// Lets a thread wait in the kernel; returns false if none can be started.
    private func startWaiting() -> Bool {
        state.withLock { state in
            state.isWanted = true
            state.failure = nil
            if state.hasThread { return true }
            state.since = .now
            state.hasThread = SystemThread.start { self.wait() }
            if !state.hasThread { state.isWanted = false }
            return state.hasThread
        }
    }

    private func wait() {
        while true {
            var failure: FileSystemError?
            do throws(FileSystemError) {
                try lock.lockWaiting(byte: Self.doorByte)
                state.withLock { $0.isNext = true }
                try lock.lockWaiting(byte: Self.leaseByte)
            } catch {
                failure = error
            }
            if state.update({ isOver(&$0, failure) }) { return }
        }
    }

    /// Ends the thread's wait: unless it failed, passes the lease to a waiting caller; returns false if
    /// another process has got it.
    private func isOver(_ state: inout State, _ failure: FileSystemError?) -> Bool {
        try? lock.unlock(byte: Self.doorByte)
        state.isNext = false
        if failure == nil, !state.isOurs {
            if state.isWanted {
                // If it was taken without the door and given back in the meantime, any process may get it.
                state.isOurs = (try? lock.lock(byte: Self.leaseByte, exclusive: true)) ?? false
                if !state.isOurs { return false }
            } else {
                try? lock.unlock(byte: Self.leaseByte)
            }
        }
        state.failure = failure
        state.hasThread = false
        return true
    }

    /// Polls, with the same interval in all processes for the door, so that each gets it equally often.
    private func ask(until end: MonotonicTime, _ isOver: () -> Bool) throws(FileSystemError)
        -> Bool
    {
        func ask(for byte: UInt64, _ pause: UInt32) throws(FileSystemError) -> Bool {
            while true {
                if try lock.lock(byte: byte, exclusive: true) { return true }
                if end.secondsFromNow <= 0 || isOver() { return false }
                Pause.microseconds(pause)
            }
        }
        guard try ask(for: Self.doorByte, 120) else { return false }
        defer { try? lock.unlock(byte: Self.doorByte) }
        let isOurs = try ask(for: Self.leaseByte, 60)
        state.withLock { $0.isOurs = isOurs }
        return isOurs
    }

    /// Whether only the holder of the lease is before the caller that waits here.
    var isNext: Bool { state.withLock { $0.isNext } }

    // MARK: Having

    /// Whether another process waits for the lease.
    var isWanted: Bool { (try? lock.isLocked(byte: Self.doorByte)) ?? false }

    /// Whether another process has the lease.
    func isTaken() throws(FileSystemError) -> Bool { try lock.isLocked(byte: Self.leaseByte) }

    /// The process that has the lease, if the system provides it.
    func holder() throws(FileSystemError) -> Int32? { try lock.lockHolder(byte: Self.leaseByte) }

    /// Releases the lease.
    func giveBack() {
        state.withLock { state in
            state.isOurs = false
            try? lock.unlock(byte: Self.leaseByte)
        }
    }
}
