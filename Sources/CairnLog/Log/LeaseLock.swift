// The lock for the right to append to the log, and the queue for it.                                     Format 95.12
//
//   byte 0   the lease: whoever has it locked appends
//   byte 2   the door: whoever is next. Others who want the lease wait for the door
//
// Who has the lease sees by the door that somebody wants it, gives it back, and finds somebody else at the door when it wants
// it again: so nobody waits for ever beside one who commits in a loop. Both are given back by the system when a process dies.
//
// Waiting has a bound, and the kernel's has none. So a thread waits in the kernel, which lets in who came first, and whoever
// wants the lease waits for that thread. It stays at the kernel when the time is over: who asks again waits for the same
// thread, and if nobody does it gives back what it gets. Where the system does not wait, all ask again and again.
//
// A process that was stopped may have the door: who has waited for long asks for the lease without it.
//
// Threads: any; one at a time takes it.

import CairnFileSystem

final class LeaseLock: Sendable {
    private struct State {
        /// Whether this open file has the lease.
        var isOurs = false
        /// Whether somebody waits for it here.
        var isWanted = false
        /// Whether a thread waits in the kernel, since when, and whether it is next.
        var hasThread = false
        var since = MonotonicTime.now
        var isNext = false
        /// Why the thread could not wait.
        var failure: FileSystemError?
    }

    private static let leaseByte: UInt64 = 0
    private static let doorByte: UInt64 = 2
    /// Seconds after which who waits looks again.
    private static let part = 0.001
    /// Seconds after which the lease is asked for without the door, and between two times.
    private static let patience = 1.0
    private static let patienceAgain = 0.02

    private let lock: any File
    private let state = Monitor(State())

    init(_ lock: any File) { self.lock = lock }

    // MARK: Taking

    /// Waits for the lease; false if somebody else has it still when the time is over.
    ///
    /// - Parameters:
    ///   - seconds: 0 = asks without waiting.
    ///   - isOver: whether it is not wanted any more.
    ///   - whileNext: called again and again while nobody is before it but the one that has the lease.
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
            // It comes to whoever wants it meanwhile, too.
            if isNext { whileNext() }
        } while end.secondsFromNow > 0 && !isOver()
        let last = state.withLock { state -> State in
            state.isWanted = false
            defer { state.failure = nil }
            return state
        }
        if last.isOurs { return true }
        // A thread needs a descriptor more than who asks.
        return last.failure == nil ? false : try ask(until: end, isOver)
    }

    /// Takes the lease if nobody has it or waits for it.
    private func takeAtOnce() throws(FileSystemError) -> Bool {
        try state.withLock { state throws(FileSystemError) in
            // What it gets is for who waits for it.
            if state.hasThread { return false }
            guard try lock.lock(byte: Self.doorByte, exclusive: true) else { return false }
            defer { try? lock.unlock(byte: Self.doorByte) }
            state.isOurs = try lock.lock(byte: Self.leaseByte, exclusive: true)
            return state.isOurs
        }
    }

    /// Takes it where a process may be stopped at the door.
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

    /// Has a thread wait in the kernel; false if there is none to be had.
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

    /// The thread has the lease, if nothing failed. Gives it to whoever wants it; false if somebody else has got it.
    private func isOver(_ state: inout State, _ failure: FileSystemError?) -> Bool {
        try? lock.unlock(byte: Self.doorByte)
        state.isNext = false
        if failure == nil, !state.isOurs {
            if state.isWanted {
                // Taken without the door and given back meanwhile, it is anybody's.
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

    /// Asks again and again, all equally often for the door, so that each comes to it as often as another.
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

    /// Whether whoever waits here has nobody before it but the one that has the lease.
    var isNext: Bool { state.withLock { $0.isNext } }

    // MARK: Having

    /// Whether another process waits for the lease.
    var isWanted: Bool { (try? lock.isLocked(byte: Self.doorByte)) ?? false }

    /// Whether another process has the lease.
    func isTaken() throws(FileSystemError) -> Bool { try lock.isLocked(byte: Self.leaseByte) }

    /// The process that has the lease, if the system tells.
    func holder() throws(FileSystemError) -> Int32? { try lock.lockHolder(byte: Self.leaseByte) }

    /// Lets others have the lease.
    func giveBack() {
        state.withLock { state in
            state.isOurs = false
            try? lock.unlock(byte: Self.leaseByte)
        }
    }
}
