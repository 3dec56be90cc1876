// Opens a store, or creates one.
//
//   1. The folder and its lock file are created if they are missing. Their names are durable before the first
//      segment is, which its creator ensures (FS1). On a disk that other machines may share, this is done
//      only with the option for it (StoreFiles+Host.swift).
//   2. A writer takes the lease if it is free, and otherwise reads concurrently with its holder: up to the
//      mark, and with the lease after all if it is free when that is done. All processes share byte 1 of the
//      lock file.
//   3. The log is read. A reader concurrent with a writer stops at the mark, and rereads what a writer
//      changed during that time.
//   4. A folder without a whole start frame is one whose creation did not finish (FS4): it is created again.
//      One that has it, but no commit, is continued: nothing that may have been a frame is removed.
//   5. A writer takes over the log, but only when its state could be built (OpenedLog+TakingOver.swift): a
//      failed opening changes nothing.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import SystemPackage

struct StoreOpener {
    let folder: FilePath
    let options: LogStoreOptions
    /// Whether the log can be read from a checkpoint.
    var usesCheckpoints = true
    /// The commit of the only checkpoint that may be used; nil: the newest usable one.
    var checkpoint: UInt64?
    private var monitor: RecoveryMonitor { RecoveryMonitor(.readingLog, options) }
    private var newPool: PagePool? { usesCheckpoints ? PagePool() : nil }
    private var fileSystem: any FileSystem { options.fileSystem }

    init(folder: FilePath, options: LogStoreOptions) {
        self.folder = folder
        self.options = options
    }

    /// Opens the lock file, which identifies the store; creates it if that is allowed. Returns nil if it was
    /// removed concurrently.
    func openLockFile() throws(StoreError) -> (any File)? {
        try refuseSharedDisk()
        let path = folder.appending(SegmentName.lock)
        do {
            if try !fileSystem.exists(path) {
                guard options.createsIfMissing, !options.isReadOnly else {
                    throw StoreError(
                        .openFailed, "there is no store here", context: .init(path: "\(folder)"))
                }
                let isNew = try makeFolder()
                do {
                    // A folder that was being removed may be gone by now.
                    return try fileSystem.openIfPresent(path, .createOrOpen)
                } catch {
                    if isNew { try? fileSystem.removeDirectory(folder) }
                    throw error
                }
            }
            let mode: OpenMode = options.isReadOnly ? .read : .readWrite
            let file = try fileSystem.openIfPresent(path, mode)
            // The mark in it is needed first: request it before larger reads.
            file?.advise(at: 0, count: UInt64(MarkRecord.size))
            return file
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("opening only throws file system and store errors: \(error)")
        }
    }

    /// Locks of such a disk may not hold, so it requires an option.
    private func refuseSharedDisk() throws(StoreError) {
        guard !options.allowsSharedDisk, let kind = fileSystem.sharedDisk(of: folder) else {
            return
        }
        throw StoreError(
            .openFailed,
            "the folder is on a disk that may be shared with other machines (\(kind)), but only one machine may open a store: if this is the only one, set the option allowsSharedDisk (cairn: --shared-disk)",
            context: .init(path: "\(folder)"))
    }

    /// Creates the folder; returns false if it existed, and a store can be created in it.
    private func makeFolder() throws -> Bool {
        do throws(FileSystemError) {
            try fileSystem.makeDirectory(folder)
            return true
        } catch {
            guard error.code == .fileExists else { throw error }
        }
        let names = try fileSystem.list(folder)
        // Another process may be creating a store there.
        if names.isEmpty || names.contains(where: { $0 == SegmentName.lock }) { return false }
        throw StoreError(
            .openFailed,
            names.contains { SegmentName.number(in: $0) != nil }
                ? "the store's lock file is missing; a copy of a store needs all its files"
                : "the folder is not empty and contains no store",
            context: .init(path: "\(folder)"))
    }

    /// Takes the locks and reads the log, or creates one. Returns nil if the lock file is no longer the
    /// folder's, because the store was removed concurrently.
    func open(lock: any File, schema: Schema?) throws(StoreError) -> OpenedLog? {
        let files = StoreFiles(
            folder: folder, fileSystem: fileSystem, lock: lock,
            isShared: options.allowsSharedDisk && fileSystem.sharedDisk(of: folder) != nil)
        guard let hasWriter = try takeLocks(files) else { return nil }
        do {
            if options.isReadOnly { try files.refuseOtherHosts() } else { try files.claimForHost() }
            return try open(files, schema: schema, hasWriter: hasWriter)
        } catch {
            files.release()
            throw error
        }
    }

    private func open(_ files: StoreFiles, schema: Schema?, hasWriter: Bool) throws(StoreError)
        -> OpenedLog
    {
        var hasLease = !options.isReadOnly && !hasWriter
        var outcome = LogReader.Outcome.nothing
        if hasLease {
            outcome = try readToEnd(files)
        } else {
            (outcome, hasLease) = try readBeside(files, hasWriter: hasWriter)
        }
        if !options.isReadOnly, !hasLease, !isReady(outcome, schema) {
            // Another process may be about to create the store, or to migrate it.
            try waitForTurn(files, seconds: options.timeout)
            try files.claimForHost()
            hasLease = true
            outcome = try readToEnd(files)
        }
        if case .log(var log) = outcome {
            if let schema { log.catalog = try catalog(log.catalog, under: schema) }
            chooseFetchIndexes(schema, &log)
            if !options.isReadOnly { try checkWritable(log) }
            log.isToBeTakenOver = hasLease
            log.hasLease = hasLease
            // Without another process, the machine may have stopped since the mark was written.         F-225
            if hasLease, files.hasOtherWriters, let mark = try mark(files), mark.role == .released {
                log.wasHandedOver =
                    mark.lsn == log.end.lsn && mark.chain == log.end.chain
                    && log.report.bytesLeftBehind == 0
            }
            return log
        }
        guard !options.isReadOnly else {
            throw StoreError(
                .openFailed, "the store was never completely created: it is empty",
                context: .init(path: "\(folder)"))
        }
        guard options.createsIfMissing else {
            throw StoreError(
                .openFailed, "there is no store here", context: .init(path: "\(folder)"))
        }
        guard let schema else {
            throw StoreError(
                .openFailed, "a new store needs a model", context: .init(path: "\(folder)"))
        }
        let creator = StoreCreator(files: files, options: options)
        if case .unfinished(let unfinished) = outcome {
            return try creator.goOn(with: unfinished, schema)
        }
        return try creator.create(schema)
    }

    /// Reads concurrently with a writer. If there is none any longer, an engine that writes takes the lease:
    /// the log may end with what a process that died has not synced, and an engine that records it as durable
    /// must not read that.
    ///
    /// - Returns: The outcome, and whether the lease was taken.
    private func readBeside(_ files: StoreFiles, hasWriter: Bool) throws(StoreError)
        -> (LogReader.Outcome, Bool)
    {
        let end = MonotonicTime.now + options.timeout
        var hasWriter = hasWriter
        while true {
            let read = try readWhenSaid(files, hasWriter: hasWriter, until: end)
            if options.isReadOnly || read.hasWriter { return (read.outcome, false) }
            do {
                if try files.lease.take(within: 0) {
                    try files.claimForHost()
                    return (try readToEnd(files), true)
                }
            } catch let error as FileSystemError {
                throw StoreError(error)
            } catch let error as StoreError {
                throw error
            } catch {
                preconditionFailure("locking only throws file system and store errors: \(error)")
            }
            // Another process was faster.
            guard end.secondsFromNow > 0 else { throw files.leaseIsTaken() }
            hasWriter = true
        }
    }

    /// Whether there is a store that can be opened with the schema.
    private func isReady(_ outcome: LogReader.Outcome, _ schema: Schema?) -> Bool {
        guard case .log(let log) = outcome else { return false }
        return schema.map { (try? catalog(log.catalog, under: $0)) != nil } ?? true
    }

    /// Reads the log with the lease.
    ///
    /// - Parameter isLate: whether parts of a checkpoint may be read when they are first touched.
    private func readToEnd(_ files: StoreFiles, isLate: Bool = true) throws(StoreError)
        -> LogReader.Outcome
    {
        var reading = 1
        while true {
            do throws(StoreError) {
                let folder = try content(files)
                var reader = LogReader(
                    files, mark: try mark(files), limit: nil, pool: newPool,
                    rebuild: isLate ? rebuild(files) : nil, monitor: monitor)
                return try reader.read(folder)
            } catch {
                // Other processes write nothing during that time, but remove what is no longer part of the
                // store.
                guard reading < 5, error.code != .cancelled, files.hasOtherWriters else {
                    throw error
                }
                reading += 1
                Pause.milliseconds(1)
            }
        }
    }

    /// Rebuilds the state at a checkpoint's commit without the checkpoint.
    private func rebuild(_ files: StoreFiles) -> CheckpointImage.Rebuild {
        let sizes = options.sizes
        return { header, pool, fetchIndexes throws(StoreError) in
            var reader = LogReader(files, mark: nil, limit: header.lsn)
            guard case .log(var log) = try reader.read(), log.commit == header.commit else {
                throw .damaged("a checkpoint is damaged, and the log has gone on since")
            }
            log.catalog = log.catalog.indexed(by: fetchIndexes)
            let values = LargeValueReader(storeTag: log.storeID.tag)
            for segment in log.readable { values.add(segment) }
            return try StateBuilder.build(
                log, cache: BlockCache(budget: 16 << 20), largeValues: values, pool: pool,
                hashSeed: header.hashSeed, sizes: sizes)
        }
    }

    private func content(_ files: StoreFiles) throws(StoreError) -> FolderContent {
        do {
            return try FolderContent(files, opensNewest: usesCheckpoints, toWrite: true)
        } catch {
            throw StoreError(error)
        }
    }

    private func mark(_ files: StoreFiles) throws(StoreError) -> MarkRecord? {
        do {
            if let mark = try files.readMark() { return mark }
        } catch {
            throw StoreError(error)
        }
        try files.refuseForeignLock()
        return nil
    }

    // MARK: Reading only

    /// Rereads the log, for an engine that has it open and has got the lease.
    func readAlone(_ files: StoreFiles) throws(StoreError) -> OpenedLog {
        guard case .log(var log) = try readToEnd(files, isLate: false) else { throw isEmpty }
        try checkWritable(log)
        log.isToBeTakenOver = true
        return log
    }

    private var isEmpty: StoreError {
        StoreError(
            .unusable, "the store no longer contains anything", context: .init(path: "\(folder)"))
    }

    /// Rereads the log up to the mark, for an engine that has it open. After the mark there may be what a
    /// process that died has not synced.
    func readAgain(_ files: StoreFiles) throws(StoreError) -> OpenedLog {
        guard case .log(let log) = try readBesideWriters(files, hasWriter: true).outcome else {
            throw isEmpty
        }
        return log
    }

    /// What was read, and whether another process was writing during that time.
    private struct BesideReading {
        let outcome: LogReader.Outcome
        let hasWriter: Bool
    }

    /// How often a reader tries again when a writer opened the store, or wrote, while it read.
    private static let readings = 20

    /// Reads up to what is durable, if a process is writing. Without a writer, reads the whole log, and then
    /// checks for a writer that came in the meantime: what that was writing cannot be judged.
    private func readBesideWriters(_ files: StoreFiles, hasWriter: Bool) throws(StoreError)
        -> BesideReading
    {
        var hasWriter = hasWriter
        var last: StoreError?
        for reading in 1...Self.readings {
            let before = try mark(files)
            do {
                let outcome = try read(files, mark: before, hasWriter: hasWriter)
                if hasWriter { return BesideReading(outcome: outcome, hasWriter: true) }
                hasWriter = try isWritten(files)
                if !hasWriter, try mark(files) == before {
                    return BesideReading(outcome: outcome, hasWriter: false)
                }
            } catch {
                last = error
                let wasWritten = hasWriter
                hasWriter = try isWritten(files)
                let isStill = !wasWritten && !hasWriter
                if isStill, try mark(files) == before { throw error }
                if error.code != .damaged { throw error }
            }
            if reading < Self.readings { Pause.milliseconds(1) }
        }
        throw last
            ?? StoreError(
                .storeInUse, "other processes keep opening and closing the store: try again",
                context: .init(path: "\(folder)"))
    }

    /// The same, but not before the writer has recorded how far the log is durable. A process that creates a
    /// store, or opens it after the machine has stopped, has not yet: guaranteed commits may follow what is
    /// known to be durable, or there seems to be no store.
    private func readWhenSaid(
        _ files: StoreFiles, hasWriter: Bool, until end: MonotonicTime
    ) throws(StoreError) -> BesideReading {
        var hasWriter = hasWriter
        while true {
            let isSaid = try mark(files) != nil
            let reading = try readBesideWriters(files, hasWriter: hasWriter)
            if isSaid, case .log = reading.outcome { return reading }
            // A store that is being copied or salvaged into the folder may take long, and its mark says so.
            if try mark(files)?.role == .unfinishedCopy { return reading }
            hasWriter = try isWritten(files)
            if !hasWriter {
                // The process that was writing has finished.
                if reading.hasWriter { continue }
                return reading
            }
            guard end.secondsFromNow > 0 else {
                throw StoreError(
                    .storeInUse,
                    "another process is creating the store, or opening it after a crash: try again",
                    context: .init(path: "\(folder)"))
            }
            Pause.milliseconds(5)
        }
    }

    private func read(_ files: StoreFiles, mark: MarkRecord?, hasWriter: Bool) throws(StoreError)
        -> LogReader.Outcome
    {
        guard hasWriter else {
            var reader = LogReader(
                files, mark: mark, limit: nil, pool: newPool, checkpoint: checkpoint,
                monitor: monitor)
            return try reader.read()
        }
        if let mark {
            var reader = LogReader(
                files, mark: mark, limit: mark.lsn, pool: newPool, checkpoint: checkpoint,
                monitor: monitor)
            return try reader.read()
        }
        // The mark file is missing or torn: the frames themselves record how far the log was durable.
        var reader = LogReader(files, mark: nil, limit: nil, monitor: monitor)
        guard case .log(let log) = try reader.read() else { return .nothing }
        var again = LogReader(
            files, mark: nil, limit: log.durable, pool: newPool, checkpoint: checkpoint,
            monitor: monitor)
        return try again.read()
    }

    /// Whether another process may be writing.
    private func isWritten(_ files: StoreFiles) throws(StoreError) -> Bool {
        do {
            return try files.lease.isTaken()
        } catch {
            throw StoreError(error)
        }
    }

    // MARK: Locks

    /// Takes the locks, including the lease if it is free; returns true if another process has that, nil if
    /// the lock file is no longer the folder's.
    private func takeLocks(_ files: StoreFiles) throws(StoreError) -> Bool? {
        do {
            let hasLease = try !options.isReadOnly && files.lease.take(within: 0)
            guard try files.lock.lock(byte: StoreFiles.openByte, exclusive: false) else {
                throw StoreError(
                    .storeInUse, "the store is being removed", context: .init(path: "\(folder)"))
            }
            if !options.isReadOnly { try files.joinWriters() }
            // No process removes it from here on.
            guard try files.isCurrent() else {
                files.release()
                return nil
            }
            return try !hasLease && (!options.isReadOnly || isWritten(files))
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("locking only throws file system and store errors: \(error)")
        }
    }

    private func waitForTurn(_ files: StoreFiles, seconds: Double) throws(StoreError) {
        do {
            if try files.lease.take(within: seconds) { return }
        } catch {
            throw StoreError(error)
        }
        throw files.leaseIsTaken()
    }

    // MARK: Existing stores

    /// Uses the fetch indexes of the model that the store is opened with. Without a model they are the
    /// store's own; and a read-only engine makes do with those of a checkpoint.
    private func chooseFetchIndexes(_ schema: Schema?, _ log: inout OpenedLog) {
        let stored = log.catalog.schema
        let wanted: [Catalog.FetchIndexDefinition]
        if let schema {
            wanted = Catalog.fetchIndexes(of: schema.model, in: stored)
        } else if options.isReadOnly, let base = log.base {
            wanted = base.catalog.fetchIndexes
        } else {
            wanted = Catalog.fetchIndexes(of: stored.model, in: stored)
        }
        if wanted != log.catalog.fetchIndexes { log.catalog = log.catalog.indexed(by: wanted) }
    }

    /// Returns the store's catalog under the model that it is opened with, which decides about everything
    /// that is not stored: rules, defaults, transformers, requests.
    private func catalog(_ catalog: Catalog, under wanted: Schema) throws(StoreError) -> Catalog {
        if wanted.model == catalog.schema.model { return catalog }
        if options.allow(wanted, for: catalog.schema),
            let made = CatalogDocument.catalog(catalog, under: wanted.model)
        {
            return made
        }
        throw StoreError(
            .incompatibleModel,
            "the store was created with another model: \(wanted.difference(to: catalog.schema))",
            context: .init(path: "\(folder)"),
            cause: ModelMismatch(store: catalog.storedModel, model: wanted.model))
    }

    private func checkWritable(_ log: OpenedLog) throws(StoreError) {
        guard log.segments.all.allSatisfy({ $0.header.flags.allowsWriting }) else {
            throw StoreError(
                .openFailed, "the store uses a feature that this version can only read",
                context: .init(path: "\(folder)"))
        }
    }
}
