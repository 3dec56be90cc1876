// The folder of a backup: who may write there, and its contents.
//
// Its content is what its mark says, if nobody has opened it for writing since it was copied. Else its log is read to
// the end, as somebody may have gone on from there.
//
// Threads: one backup in one thread.

import CairnFileSystem
import CairnFormat
import CairnLog
import CairnStore
import SystemPackage

struct BackupTarget {
    /// The contents of an earlier backup.
    struct Content {
        var end: LogEnd
        var commit: UInt64
        /// Whether nobody has opened it for writing since it was made.
        var isUntouched: Bool
        /// Its segments, by number.
        var members: [UInt32: StartPayload.LiveSegment] = [:]
    }

    let files: StoreFiles
    private let storeID: StoreID

    /// Makes the folder if it is not there, and takes its locks.
    ///
    /// - Parameter source: the lock file of the store that is copied.
    init(
        _ folder: FilePath, _ fileSystem: any FileSystem, source: FileIdentity, storeID: StoreID
    ) throws {
        let path = folder.appending(SegmentName.lock)
        var isNew = true
        if try fileSystem.exists(folder) {
            isNew = try !fileSystem.exists(path)
            guard try !isNew || fileSystem.list(folder).isEmpty else {
                throw StoreError(
                    .invalidRequest, "the folder is not empty and contains no backup",
                    context: .init(path: "\(folder)"))
            }
        } else {
            try fileSystem.makeDirectory(folder)
        }
        let lock = try fileSystem.open(path, isNew ? .createOrOpen : .readWrite)
        guard lock.identity != source else {
            throw StoreError(
                .invalidRequest, "a store cannot be a backup of itself: choose another folder",
                context: .init(path: "\(folder)"))
        }
        guard try lock.lock(byte: 0, exclusive: true), try lock.lock(byte: 1, exclusive: false)
        else {
            let who = try lock.lockHolder(byte: 0).map { "process \($0)" } ?? "another process"
            throw StoreError(
                .storeInUse, "\(who) is writing to the folder", context: .init(path: "\(folder)"))
        }
        files = StoreFiles(
            folder: folder, fileSystem: fileSystem, lock: lock,
            isShared: fileSystem.sharedDisk(of: folder) != nil)
        self.storeID = storeID
        if files.hasOtherWriters {
            throw StoreError(
                .storeInUse, "another process has the folder open for writing",
                context: .init(path: "\(folder)"))
        }
        guard try files.isCurrent() else {
            throw StoreError(
                .storeInUse, "the folder was removed", context: .init(path: "\(folder)"))
        }
        try files.refuseOtherHosts()
        if try files.readMark() == nil { try files.refuseForeignLock() }
    }

    /// The same for a folder whose locks are held.
    init(files: StoreFiles, storeID: StoreID) {
        self.files = files
        self.storeID = storeID
    }

    func refusal(_ message: String, _ end: LogEnd? = nil) -> StoreError {
        StoreError(
            .invalidRequest,
            message + "; create a new backup in another folder",
            context: .init(
                path: "\(files.folder)", segment: end?.segment, offset: end?.offset))
    }

    // MARK: Content

    /// What an earlier backup holds; nil if there is none that was finished.
    func content() throws -> Content? {
        let mark = try files.readMark()
        if let mark, mark.store != storeID {
            throw refusal("the folder contains another store, or a backup of one")
        }
        guard let mark, mark.role.isCopy else { return try readContent(mark) }
        if mark.lsn == 0 { return nil }
        guard mark.lsn >= UInt64(SegmentHeader.size) else {
            throw refusal("the mark in the folder's lock file is invalid")
        }
        let newest = try newest(mark.segment)
        guard mark.lsn > newest.segment.baseLSN else {
            throw refusal("the mark in the folder's lock file is invalid")
        }
        let end = LogEnd(
            segment: mark.segment, offset: mark.lsn - newest.segment.baseLSN, lsn: mark.lsn,
            chain: mark.chain)
        return try content(to: end, commit: mark.commit, newest, isUntouched: true)
    }

    /// What the log says, read to its end: a writer may have gone on from the backup.
    private func readContent(_ mark: MarkRecord?) throws -> Content? {
        var reader = LogReader(files, mark: mark)
        switch try reader.read() {
        case .nothing: return nil
        case .unfinished:
            throw refusal("the folder contains an unfinished store")
        case .log(let log):
            guard log.storeID == storeID else {
                throw refusal("the folder contains another store, or a backup of one")
            }
            return try content(
                to: log.end, commit: log.commit, try newest(log.end.segment), isUntouched: false)
        }
    }

    /// The main segment in which the content ends.
    private func newest(_ number: UInt32) throws -> FoundSegment {
        var search = SegmentSearch(files, lastMain: number)
        let found = try search.run()
        guard let newest = found.mains.last, newest.segment.number == number else {
            throw refusal("the folder lacks segment \(number), in which its content ends")
        }
        guard newest.segment.header.store == storeID else {
            throw refusal("the folder contains another store, or a backup of one")
        }
        return newest
    }

    /// The live set at an end.
    private func content(
        to end: LogEnd, commit: UInt64, _ newest: FoundSegment, isUntouched: Bool
    ) throws -> Content {
        var content = Content(end: end, commit: commit, isUntouched: isUntouched)
        for member in newest.start.live { content.members[member.number] = member }
        let later = try LaterChanges(newest, limit: end.lsn)
        for part in later.adopted {
            content.members[part.segment] = .init(
                number: part.segment, kind: .side, end: part.end, chain: part.endChain)
        }
        for number in later.retired { content.members[number] = nil }
        content.members[end.segment] = .init(
            number: end.segment, kind: .main, end: end.offset, chain: end.chain)
        return content
    }

    // MARK: Steps

    /// Says that what lies behind the old content means nothing from now on.
    func begin(_ old: Content?, _ storeID: StoreID) throws {
        try files.writeMarkDurably(
            MarkRecord(
                store: storeID, commit: old?.commit ?? 0, lsn: old?.end.lsn ?? 0,
                chain: old?.end.chain ?? 0, segment: old?.end.segment ?? 0, role: .unfinishedCopy))
        if old == nil {
            // The lock file's name is durable before the first segment's (FS1).
            try files.syncFolderName()
            try files.fileSystem.syncDirectory(files.folder)
        }
    }

    /// Says that the copy is whole.
    func finish(_ mark: MarkRecord) throws { try files.writeMarkDurably(mark) }

    /// Removes checkpoints of the old content. One that comes back after a power cut is as right as it was.
    func removeCheckpoints(otherThan commit: UInt64) throws {
        for other in try CheckpointReader.commits(in: files) where other != commit {
            try files.fileSystem.unlink(files.folder.appending(CheckpointName.name(of: other)))
        }
    }
}
