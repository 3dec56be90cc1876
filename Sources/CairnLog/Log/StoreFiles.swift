// The folder of a store: its lock, its mark and its segments.                 Format 20
//
// Byte 1 of the lock file is shared by every process that has the store open; StoreFiles+Lease.swift
// describes the others. The lock file's first 64 bytes are the mark: how far the log is known to be durable.
// StoreFiles+Host.swift describes what may follow it.
//
// Threads: any; locking and making segments are done by one at a time.

package import CairnFileSystem
package import CairnFormat
package import CairnStore
import Synchronization
package import SystemPackage

/// The files of a store.
package final class StoreFiles: Sendable {
    package let folder: FilePath
    package let fileSystem: any FileSystem
    package let lock: any File
    /// The right to append to the log.
    let lease: LeaseLock
    /// Whether there is no store yet, so that no mark may declare one.
    private let hasNoStore = Atomic(false)
    /// The LSN of the last mark that this process wrote.
    private let marked = Mutex<UInt64>(0)
    /// Whether other machines may share the disk.
    let isShared: Bool
    /// Whether the store was claimed for this machine.
    let isClaimed = Atomic(false)

    package init(
        folder: FilePath, fileSystem: any FileSystem, lock: any File, isShared: Bool = false
    ) {
        self.folder = folder
        self.fileSystem = fileSystem
        self.lock = lock
        self.isShared = isShared
        lease = LeaseLock(lock)
    }

    /// Whether what is written does not count as a store before `finish(_:)`.
    var isUnfinished: Bool { hasNoStore.load(ordering: .acquiring) }

    /// The numbers of the segments in the folder, in order.
    func segmentNumbers() throws(FileSystemError) -> [UInt32] {
        try fileSystem.list(folder).compactMap { SegmentName.number(in: $0) }.sorted()
    }

    /// The path of a segment.
    package func path(_ number: UInt32) -> FilePath {
        folder.appending(SegmentName.name(of: number))
    }

    /// The path of a checkpoint.
    func path(ofCheckpoint commit: UInt64) -> FilePath {
        folder.appending(CheckpointName.name(of: commit))
    }

    // MARK: Mark

    /// Returns the mark that the writer wrote last; nil if the record is missing or torn.
    package func readMark() throws(FileSystemError) -> MarkRecord? {
        let bytes = RawBytes(count: MarkRecord.size)
        guard try lock.read(into: bytes.mutable, at: 0) == MarkRecord.size else { return nil }
        return try? MarkRecord(decoding: bytes.bytes)
    }

    /// Writes the mark. A failure costs nothing: the mark is a hint that may be old.
    ///
    /// A mark below the last one is not written: concurrent syncs end in any order, one of them perhaps after
    /// the lease was passed to another process and came back. What one process has shown, others show, too.
    ///                                                                                                    FR3
    func writeMark(_ mark: MarkRecord) { try? put(mark, orNewer: true) }

    /// The same for a mark that replaces one which says where the log ends, whatever the last one was.  F-225
    func putMark(_ mark: MarkRecord) throws(FileSystemError) { try put(mark, orNewer: false) }

    private func put(_ mark: MarkRecord, orNewer: Bool) throws(FileSystemError) {
        if hasNoStore.load(ordering: .acquiring) { return }
        try marked.withLock { marked throws(FileSystemError) in
            if orNewer, mark.lsn < marked { return }
            var writer = ByteWriter(capacity: MarkRecord.size)
            mark.encode(to: &writer)
            try lock.write(writer.bytes, at: 0)
            marked = mark.lsn
        }
    }

    /// The same, durably: for a mark that replaces one of another role, or has another role itself.
    package func writeMarkDurably(_ mark: MarkRecord) throws(FileSystemError) {
        var writer = ByteWriter(capacity: MarkRecord.size)
        mark.encode(to: &writer)
        try lock.write(writer.bytes, at: 0)
        try lock.synchronizeData()
    }

    /// Records that there is no store in the folder yet, whatever is written into it (F-220), until
    /// `finish(_:)`.
    package func beginUnfinished(_ store: StoreID) throws(FileSystemError) {
        hasNoStore.store(true, ordering: .releasing)
        try writeMarkDurably(
            MarkRecord(
                store: store, commit: 0, lsn: 0, chain: 0, segment: 0, role: .unfinishedCopy))
    }

    /// Records that the store exists, and how far it is durable. The record must not be lost once another
    /// process has seen it.
    func finish(_ mark: MarkRecord) throws(FileSystemError) {
        try writeMarkDurably(mark)
        hasNoStore.store(false, ordering: .releasing)
    }

    // MARK: Segments

    /// Makes the folder's name durable. The process that created the folder may have been stopped before
    /// this. If the parent cannot be read, the folder was created by another user, long ago.
    package func syncFolderName() throws(FileSystemError) {
        let parent = folder.removingLastComponent()
        do {
            try fileSystem.syncDirectory(parent.isEmpty ? "." : parent)
        } catch  where error.code == .permissionDenied {
            return
        }
    }

    /// Creates the first segment, or one after an end: header and start frame, durable with the folder.
    ///
    /// - Parameter live: the segments before it.
    func makeSegment(
        number: UInt32, after end: LogEnd?, live: LiveSet, storeID: StoreID, time: Double,
        commit: UInt64, durable: UInt64, counters: [TreeCounter], schema: Place,
        schemaVersion: UInt32, flags: FeatureFlags = FeatureFlags()
    ) throws(FileSystemError) -> (segment: Segment, end: LogEnd) {
        let base = end.map(\.lsn) ?? 0
        let header = SegmentHeader(
            flags: flags, kind: .main, store: storeID, number: number,
            predecessor: end?.segment ?? 0,
            baseLSN: base, predecessorEnd: end?.offset ?? 0, predecessorChain: end?.chain ?? 0,
            created: time, commit: commit)
        var writer = ByteWriter(capacity: 8192)
        let chain = header.encode(to: &writer)
        let frame = writer.beginFrame()
        StartPayload(
            live: end.map { live.listed(to: $0) } ?? [], counters: counters, schema: schema,
            schemaVersion: schemaVersion
        ).encode(to: &writer)
        let lsn = base + UInt64(SegmentHeader.size)
        let start = writer.endFrame(
            at: frame, kind: .start, commit: commit, lsn: lsn, mark: durable, predecessor: chain,
            storeTag: storeID.tag, segment: number)
        let file = try makeFile(number, writer.bytes)
        if let end { live.mains.last?.seal(at: end.offset, chain: end.chain) }
        let length = UInt64(SegmentHeader.size + start.frameLength)
        return (
            Segment(header: header, file: file),
            LogEnd(segment: number, offset: length, lsn: base + length, chain: start.chain)
        )
    }

    /// Creates a side segment: its header, durable with the folder.
    func makeSideSegment(
        number: UInt32, storeID: StoreID, time: Double, commit: UInt64, flags: FeatureFlags
    ) throws(FileSystemError) -> (segment: Segment, end: LogEnd) {
        let header = SegmentHeader(
            flags: flags, kind: .side, store: storeID, number: number, created: time, commit: commit
        )
        var writer = ByteWriter(capacity: SegmentHeader.size)
        let chain = header.encode(to: &writer)
        let file = try makeFile(number, writer.bytes)
        let length = UInt64(SegmentHeader.size)
        return (
            Segment(header: header, file: file),
            LogEnd(segment: number, offset: length, lsn: length, chain: chain)
        )
    }

    /// Creates a file with some bytes, durable with its name.
    private func makeFile(_ number: UInt32, _ bytes: UnsafeRawBufferPointer)
        throws(FileSystemError) -> any File
    {
        let file = try fileSystem.open(path(number), .create)
        do {
            try file.write(bytes, at: 0)
            try file.synchronizeData()
            try fileSystem.syncDirectory(folder)
        } catch {
            // A whole start frame without a continuation would keep the predecessor from growing.
            try? fileSystem.unlink(path(number))
            throw error
        }
        return file
    }

    /// Whether a segment that could not be created has no file, and will have none after a crash.
    func isGone(_ number: UInt32) -> Bool {
        do {
            if try fileSystem.exists(path(number)) { return false }
            try fileSystem.syncDirectory(folder)
            return true
        } catch {
            return false
        }
    }

    /// Removes segments that are not part of the store, newest first: whatever a crash leaves of them is read
    /// as before.
    package func removeSegments(where isNeedless: (UInt32) -> Bool) throws(FileSystemError) {
        for number in try segmentNumbers().reversed() where isNeedless(number) {
            try fileSystem.unlink(path(number))
            try fileSystem.syncDirectory(folder)
        }
    }

    /// Rewrites the part of a segment above the durable mark, and syncs it: after a failed sync the page
    /// cache may show what the disk lacks.
    func rewrite(_ segment: Segment, from durable: UInt64, to end: UInt64) throws(StoreError) {
        guard segment.baseLSN + end > durable else { return }
        var position = max(durable, segment.baseLSN) - segment.baseLSN
        let buffer = RawBytes(count: 1 << 20)
        do {
            let file = try fileSystem.open(segment.file.path, .readWrite)
            while position < end {
                let part = UnsafeMutableRawBufferPointer(
                    rebasing: buffer.mutable[..<Int(min(UInt64(buffer.count), end - position))])
                try segment.read(part, at: position)
                try file.write(UnsafeRawBufferPointer(part), at: position)
                position += UInt64(part.count)
            }
            try file.synchronizeData()
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("rewriting only throws file system and store errors: \(error)")
        }
    }

    // MARK: Locks

    /// Takes both bytes to remove the store, as far as they are available; returns false if another process
    /// has it open. The locks end with the lock file.
    package func lockExclusively() throws(FileSystemError) -> Bool {
        let isUnwritten = try lock.lock(byte: 0, exclusive: true)
        let isUnread = try lock.lock(byte: Self.openByte, exclusive: true)
        return isUnwritten && isUnread
    }

    /// Whether the lock file is still the folder's: a process that removes a store removes it while others
    /// wait for it.
    package func isCurrent() throws(FileSystemError) -> Bool {
        do {
            return try fileSystem.identity(of: lock.path) == lock.identity
        } catch  where error.code == .noSuchFileOrDirectory || error.code == .notDirectory {
            return false
        }
    }

    /// The error that names the process which has the store open.
    package func isInUse() -> StoreError {
        var holder: Int32?
        for byte: UInt64 in 0...1 where holder == nil {
            holder = (try? lock.lockHolder(byte: byte)) ?? nil
        }
        let who = holder.map { "process \($0)" } ?? "another process"
        return StoreError(
            .storeInUse, "\(who) has the store open", context: .init(path: "\(folder)"))
    }

    /// Releases the locks. The lock file closes with the last reference to it.
    package func release() {
        end(.checkpoints)
        end(.compaction)
        leaveWriters()
        leaveHost()
        lease.giveBack()
        try? lock.unlock(byte: Self.openByte)
    }
}
