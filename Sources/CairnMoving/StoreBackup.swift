// Copies the segments of a state into a folder.                                          ENGINE-NOTES 15
//
//   1. The folder's lock is taken, so that nobody writes there; what it holds must be nothing, or a beginning of this
//      log. (BackupTarget)
//   2. The lock file says, durably, that a copy is not finished and up to where the folder's content counts: nothing
//      yet, or the backup that is there.                                                          F-220
//   3. Each segment that is new, or longer, is copied, verified frame by frame, and synced. So is the newest
//      checkpoint that fits. Files that neither backup has are removed; then the folder is synced.
//   4. The lock file says, durably, that the copy is whole.                                       F-219
//   5. Segments and checkpoints that only the old backup had are removed.
//
// Invariants: FS1, FS2: whatever stops it, the folder opens as what it was, or as the state. Before its first backup is
// whole it does not open.
// Threads: one backup in one thread; the state is pinned by the caller.

import CairnFileSystem
import CairnFormat
import CairnLog
import CairnStore
import SystemPackage

struct StoreBackup {
    let engine: Engine
    /// The segments to copy: those of a state, with the end of its log and its commit.
    private let segments: LiveSet
    private let end: LogEnd
    private let commit: UInt64
    let folder: FilePath
    /// Where the folder is.
    let fileSystem: any FileSystem

    private init(
        _ engine: Engine, _ segments: LiveSet, _ end: LogEnd, _ commit: UInt64, _ folder: FilePath,
        _ fileSystem: any FileSystem
    ) {
        self.engine = engine
        self.segments = segments
        self.end = end
        self.commit = commit
        self.folder = folder
        self.fileSystem = fileSystem
    }

    init(engine: Engine, state: EngineState, folder: FilePath, fileSystem: any FileSystem) {
        self.init(engine, state.segments, state.end, state.commit, folder, fileSystem)
    }

    /// The same of a state whose log was read.
    init(engine: Engine, log: OpenedLog, folder: FilePath, fileSystem: any FileSystem) {
        self.init(engine, log.segments, log.end, log.commit, folder, fileSystem)
    }

    func run(_ progress: ((UInt64, UInt64) -> Void)? = nil) throws(StoreError) -> BackupResult {
        do {
            try refuseOwnFolder()
            let target = try BackupTarget(
                folder, fileSystem, source: engine.files.lock.identity,
                storeID: engine.storeID)
            defer { target.files.release() }
            return try run(target, isFinished: true, progress)
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("a backup only throws file system and store errors: \(error)")
        }
    }

    /// A folder of ours would be taken for a part of the store when that is copied or removed.
    func refuseOwnFolder() throws {
        let parent = folder.removingLastComponent()
        let above: FilePath = parent.isEmpty ? "." : parent
        guard try fileSystem.exists(above),
            try fileSystem.identity(of: above)
                == engine.files.fileSystem.identity(of: engine.files.folder)
        else { return }
        throw StoreError(
            .invalidRequest, "a backup cannot be created in the store's own folder",
            context: .init(path: "\(folder)"))
    }

    /// The same into a folder whose locks are held.
    ///
    /// - Parameter isFinished: whether the folder's mark says in the end that the copy is there.
    func run(
        _ target: BackupTarget, isFinished: Bool = true,
        _ progress: ((UInt64, UInt64) -> Void)? = nil
    ) throws -> BackupResult {
        let members = segments.listed(to: end)
        let old = try target.content()
        if let old { try judge(old, members, target) }
        let copies = try copies(of: members, known: old?.members ?? [:], target.files)
        let total = copies.reduce(0) { $0 + $1.count }
        try target.begin(old, engine.storeID)
        var copied: UInt64 = 0
        for copy in copies {
            try copy.carryOut { bytes in
                copied += bytes
                progress?(copied, total)
            }
        }
        let checkpoint = try copyCheckpoint(target, Set(members.map(\.number)))
        copied += checkpoint?.bytes ?? 0
        let needed = Set(members.map(\.number))
        try target.files.removeSegments {
            !needed.contains($0) && old?.members[$0] == nil
        }
        try fileSystem.syncDirectory(folder)
        if isFinished {
            try target.finish(
                MarkRecord(
                    store: engine.storeID, commit: commit, lsn: end.lsn, chain: end.chain,
                    segment: end.segment, role: .copy))
        }
        try target.files.removeSegments { !needed.contains($0) }
        if let checkpoint { try target.removeCheckpoints(otherThan: checkpoint.commit) }
        return BackupResult(
            commit: commit, isIncremental: old != nil,
            bytes: members.reduce(0) { $0 + $1.end }, copiedBytes: copied)
    }

    private func copies(
        of members: [StartPayload.LiveSegment], known: [UInt32: StartPayload.LiveSegment],
        _ files: StoreFiles
    ) throws -> [SegmentCopy] {
        try members.map { member in
            guard let segment = segments[member.number] else {
                preconditionFailure("a state lists its own segments")
            }
            return try SegmentCopy(
                segment, member, known: known[member.number], files, storeTag: engine.storeID.tag)
        }
    }

    /// Reads all that is to be copied, and throws where it is not whole.
    func verifySource() throws {
        let members = segments.listed(to: end)
        for copy in try copies(of: members, known: [:], engine.files) { try copy.verifySource() }
    }

    // MARK: The earlier backup

    /// The earlier backup must be a beginning of the state's log.
    private func judge(
        _ old: BackupTarget.Content, _ members: [StartPayload.LiveSegment], _ target: BackupTarget
    ) throws {
        guard old.end.lsn <= end.lsn, old.commit <= commit else {
            throw target.refusal(
                "the backup has commit \(old.commit), but the store only \(commit)", old.end)
        }
        if let member = members.first(where: { $0.number == old.end.segment }),
            let segment = segments[member.number]
        {
            guard try SegmentCopy.chain(in: segment, at: old.end.offset, member) == old.end.chain
            else {
                throw target.refusal("the backup and the store have different histories", old.end)
            }
            return
        }
        // The segment was compacted away. A backup that nobody has written to is what this store was.
        guard old.isUntouched, old.end.segment < end.segment else {
            throw target.refusal(
                "the backup can no longer be compared with this store, because it was opened for writing and the store has been compacted since",
                old.end)
        }
    }

    // MARK: Checkpoint

    /// Copies the newest checkpoint that can be used with these segments. Without one, opening takes longer: that
    /// is all.
    private func copyCheckpoint(_ target: BackupTarget, _ segments: Set<UInt32>) throws
        -> (commit: UInt64, bytes: UInt64)?
    {
        for commit in (try? CheckpointReader.commits(in: engine.files)) ?? []
        where commit <= self.commit {
            let name = CheckpointName.name(of: commit)
            guard
                let file = try? engine.files.fileSystem.open(
                    engine.files.folder.appending(name), .read),
                let size = try? file.size(), fits(file, size, commit, segments)
            else { continue }
            let path = folder.appending(name)
            if try fileSystem.exists(path) {
                if try fileSystem.open(path, .read).size() == size { return (commit, 0) }
                try fileSystem.unlink(path)
            }
            let copy = try fileSystem.open(path, .create)
            let buffer = RawBytes(count: 1 << 20)
            var position: UInt64 = 0
            while position < size {
                let count = try file.read(into: buffer.mutable, at: position)
                guard count > 0 else { break }
                try copy.write(
                    UnsafeRawBufferPointer(rebasing: buffer.bytes[..<count]), at: position)
                position += UInt64(count)
            }
            try copy.synchronizeData()
            return (commit, position)
        }
        return nil
    }

    private func fits(
        _ file: any File, _ size: UInt64, _ commit: UInt64, _ segments: Set<UInt32>
    ) -> Bool {
        let head = RawBytes(count: CheckpointHeader.size)
        guard (try? file.read(into: head.mutable, at: 0)) == head.count,
            let header = try? CheckpointHeader(decoding: head.bytes, fileLength: size),
            header.store == engine.storeID, header.commit == commit, header.lsn <= end.lsn,
            let raw = try? header.contents.read(from: file),
            let contents = try? CheckpointContents(decoding: raw.bytes, fileLength: size)
        else { return false }
        return contents.live.allSatisfy { segments.contains($0.number) }
    }
}
