// The locks of processes that have a store open, other than the lease (LeaseLock.swift).         Format 95.12
//
//   byte 1   shared by all processes that have the store open
//   byte 3   held to take a checkpoint             byte 4   held to compact
//   byte 5   shared by all processes that have the store open for writing
//
// Threads: any.

import CairnFileSystem
import CairnFormat
import CairnStore

extension StoreFiles {
    static let openByte: UInt64 = 1
    private static let writersByte: UInt64 = 5

    /// The error that names the process holding the lease.
    func leaseIsTaken() -> StoreError {
        let holder = (try? lease.holder()) ?? nil
        let name = fileSystem.users(of: lock).first { $0.process == holder }?.program
        let who =
            holder.map { "process \($0)" + (name.map { " (\($0))" } ?? "") } ?? "another process"
        return StoreError(
            .storeInUse, "\(who) is writing to the store", context: .init(path: "\(folder)"))
    }

    // MARK: Housekeeping

    /// Work that one process at a time does.
    enum Housekeeping: UInt64 {
        case checkpoints = 3
        case compaction = 4
    }

    /// Begins some work; returns false if another process is doing it.
    func begin(_ work: Housekeeping) throws(StoreError) -> Bool {
        try refuseOtherHosts()
        do {
            return try lock.lock(byte: work.rawValue, exclusive: true)
        } catch {
            throw StoreError(error)
        }
    }

    func end(_ work: Housekeeping) { try? lock.unlock(byte: work.rawValue) }

    // MARK: Who else has the store open

    /// Notes that this process has the store open for writing.
    func joinWriters() throws(FileSystemError) {
        _ = try lock.lock(byte: Self.writersByte, exclusive: false)
    }

    /// Whether another process has the store open.
    var hasOtherUsers: Bool { (try? lock.isLocked(byte: Self.openByte)) ?? false }

    func leaveWriters() { try? lock.unlock(byte: Self.writersByte) }

    /// Whether another process has the store open for writing.
    package var hasOtherWriters: Bool { (try? lock.isLocked(byte: Self.writersByte)) ?? true }
}
