// The machine that has the store open for writing, on a disk that other machines may share.       Format 20.7
//
// Locks of one machine on such a disk may be invisible to another, so a record after the mark names the
// machine that owns the store. It is checked when the store is opened, when the lease is taken, and before
// following the marks of other processes. Processes and containers of one machine are one host, and use
// locks.
//
//   claim    for writing: fails if there is another machine's record, and writes this machine's if there is
//            none
//   refuse   for reading: the same without writing
//   leave    the last process of this machine that has the store open for writing removes the record
//
// A machine that was stopped leaves its record, and no other machine can know that it no longer writes: an
// administrator truncates the file after the mark, which loses nothing. The record prevents mistakes and is
// not a lock: of two machines that open the store at the same moment, one may notice only at its next lease.
//
// Such disks check for changes by other machines when a file is opened, so the file is opened for each check.
//
// Invariants: HR1: on a local disk of this machine, nothing is read or written for it.
// Threads: any.

import CairnFileSystem
import CairnFormat
package import CairnStore
import Synchronization
import SystemPackage

extension StoreFiles {
    /// How often to retry reading a record that is being written.
    private static let hostReadings = 16

    /// The owner of the store.
    private enum Owner {
        case nobody
        case host(HostRecord)
        /// It cannot be read, so there may be a writer.
        case unknown(FormatError)
    }

    /// Records that this machine has the store open for writing.
    ///
    /// - Throws: `StoreError` with `.storeInUse` if another machine has it open: nothing is written then.
    func claimForHost() throws(StoreError) {
        guard isShared else { return }
        let own = try ownRecord()
        let owner = try owner()
        try refuse(owner, unlessOf: own)
        isClaimed.store(true, ordering: .releasing)
        guard case .nobody = owner else { return }
        do throws(FileSystemError) {
            try write(own)
        } catch {
            throw StoreError(error)
        }
        // Another machine may have written its own at the same moment.
        try refuse(try self.owner(), unlessOf: own)
    }

    /// Throws if another machine has the store open for writing.
    package func refuseOtherHosts() throws(StoreError) {
        guard isShared else { return }
        let owner = try owner()
        if case .nobody = owner { return }
        try refuse(owner, unlessOf: try ownRecord())
    }

    /// Removes this machine's record, unless another of its processes has the store open for writing. On
    /// failure the record stays, as if the machine had been stopped.
    func leaveHost() {
        guard isClaimed.exchange(false, ordering: .acquiringAndReleasing), !hasOtherWriters,
            let own = try? ownRecord(), case .host(let found)? = try? owner(),
            found.isSameHost(as: own)
        else { return }
        try? lock.truncate(to: UInt64(HostRecord.offset))
        try? lock.synchronizeData()
        // Another process may have opened the store in the meantime, and found the record.
        if hasOtherWriters { try? write(own) }
    }

    // MARK: Records

    private func ownRecord() throws(StoreError) -> HostRecord {
        guard let host = fileSystem.host else {
            throw StoreError(
                .openFailed,
                "the store is on a disk that may be shared with other machines, and this machine has no identifier",
                context: .init(path: "\(folder)"))
        }
        return HostRecord(high: host.high, low: host.low, name: host.name)
    }

    private func owner() throws(StoreError) -> Owner {
        var problem: FormatError?
        do throws(FileSystemError) {
            let bytes = RawBytes(count: HostRecord.size)
            for _ in 0..<Self.hostReadings {
                let file = try fileSystem.open(lock.path, .read)
                let count = try file.read(into: bytes.mutable, at: UInt64(HostRecord.offset))
                let found = UnsafeRawBufferPointer(rebasing: bytes.bytes[..<count])
                if found.allSatisfy({ $0 == 0 }) { return .nobody }
                do throws(FormatError) {
                    return .host(try HostRecord(decoding: found))
                } catch {
                    problem = error
                }
            }
        } catch {
            throw StoreError(error)
        }
        return problem.map { .unknown($0) } ?? .nobody
    }

    private func write(_ record: HostRecord) throws(FileSystemError) {
        var writer = ByteWriter(capacity: HostRecord.size)
        record.encode(to: &writer)
        let size = try lock.size()
        do {
            try lock.write(writer.bytes, at: UInt64(HostRecord.offset))
            try lock.synchronizeData()
        } catch {
            // A partial record would lock out all machines.
            try? lock.truncate(to: min(size, UInt64(HostRecord.offset)))
            throw error
        }
    }

    private func refuse(_ owner: Owner, unlessOf own: HostRecord) throws(StoreError) {
        let who: String
        switch owner {
        case .nobody: return
        case .host(let host):
            if host.isSameHost(as: own) { return }
            who = "the machine \(host.shownName) has"
        case .unknown(let error): who = "another machine may have (\(error.what), \(error.rule))"
        }
        throw StoreError(
            .storeInUse,
            "\(who) the store open for writing, which only one machine may do: if that machine is no longer running, truncate the file \(SegmentName.lock) to \(HostRecord.offset) bytes (truncate -s \(HostRecord.offset))",
            context: .init(path: "\(lock.path)"))
    }
}

extension HostRecord {
    /// The name as far as it can be printed: any program that writes to the disk may have stored anything
    /// there.
    var shownName: String {
        var shown = String.UnicodeScalarView()
        for scalar in name.unicodeScalars {
            let isControl = [.control, .format, .lineSeparator, .paragraphSeparator]
                .contains(scalar.properties.generalCategory)
            shown.append(isControl ? "?" : scalar)
        }
        return String(shown)
    }
}
