// The right to append to the log, which passes between the processes that have a store open to write.       Format 95.12
//
//   byte 0   the lease: whoever has it locked appends
//   byte 2   the door: whoever is next. Others who want the lease wait for the door
//   byte 5   all who have the store open to write share it
//
// Who has the lease sees by the door that somebody wants it, gives it back, and finds somebody else at the door when it wants
// it again: so nobody waits for ever beside one who commits in a loop. Both are given back by the system when a process dies.
//
// The kernel's own waiting has no bound, so both are asked for again and again: all ask for the door equally often, so that each
// comes to it as often as another.
//
// Threads: any; one at a time waits for the lease.

import CairnFileSystem
import CairnFormat
import CairnStore

extension StoreFiles {
    private static let leaseByte: UInt64 = 0
    private static let doorByte: UInt64 = 2
    private static let writersByte: UInt64 = 5

    /// Waits for the lease; false if somebody else has it still when the time is over.
    ///
    /// - Parameter seconds: 0 = asks without waiting.
    func takeLease(within seconds: Double) throws(FileSystemError) -> Bool {
        let end = MonotonicTime.now + seconds
        guard try wait(for: Self.doorByte, until: end, pauses: 120, spins: 0) else { return false }
        let isOurs: Bool
        do throws(FileSystemError) {
            isOurs = try wait(for: Self.leaseByte, until: end, pauses: 60, spins: 20)
        } catch {
            try? lock.unlock(byte: Self.doorByte)
            throw error
        }
        try lock.unlock(byte: Self.doorByte)
        return isOurs
    }

    /// - Parameters:
    ///   - pauses: microseconds between two attempts.
    ///   - spins: attempts before that without a pause, as whoever has it may be about to give it back.
    private func wait(
        for byte: UInt64, until end: MonotonicTime, pauses: UInt32, spins: Int
    ) throws(FileSystemError) -> Bool {
        for _ in 0..<spins {
            if try lock.lock(byte: byte, exclusive: true) { return true }
            Pause.yield()
        }
        if try lock.lock(byte: byte, exclusive: true) { return true }
        while end.secondsFromNow > 0 {
            Pause.microseconds(pauses)
            if try lock.lock(byte: byte, exclusive: true) { return true }
        }
        return false
    }

    /// Whether another process waits for the lease.
    var isLeaseWanted: Bool { (try? lock.isLocked(byte: Self.doorByte)) ?? false }

    /// Whether another process has the lease.
    func isLeaseTaken() throws(FileSystemError) -> Bool { try lock.isLocked(byte: Self.leaseByte) }

    /// Lets others have the lease.
    func giveLeaseBack() { try? lock.unlock(byte: Self.leaseByte) }

    /// Says who keeps the lease.
    func leaseIsTaken() -> StoreError {
        let holder = (try? lock.lockHolder(byte: Self.leaseByte)) ?? nil
        let name = fileSystem.users(of: lock).first { $0.process == holder }?.program
        let who =
            holder.map { "process \($0)" + (name.map { " (\($0))" } ?? "") } ?? "another process"
        return StoreError(
            .storeInUse, "\(who) writes to the store", context: .init(path: "\(folder)"))
    }

    // MARK: Housekeeping

    /// What one process at a time does.
    enum Housekeeping: UInt64 {
        case checkpoints = 3
        case compaction = 4
    }

    /// Begins some work; false if another process is at it.
    func begin(_ work: Housekeeping) throws(StoreError) -> Bool {
        do {
            return try lock.lock(byte: work.rawValue, exclusive: true)
        } catch {
            throw StoreError(error)
        }
    }

    func end(_ work: Housekeeping) { try? lock.unlock(byte: work.rawValue) }

    // MARK: Who else has the store open

    /// Says that this process has the store open to write.
    func joinWriters() throws(FileSystemError) {
        _ = try lock.lock(byte: Self.writersByte, exclusive: false)
    }

    func leaveWriters() { try? lock.unlock(byte: Self.writersByte) }

    /// Whether another process has the store open to write.
    package var hasOtherWriters: Bool { (try? lock.isLocked(byte: Self.writersByte)) ?? true }
}
