// Opens a store, or makes one.
//
//   1. The folder and its lock file are made if they are missing, and durable before anything in them (FS1).
//   2. The writer locks byte 0 of the lock file exclusively; everybody shares byte 1.
//   3. The log is read. A reader beside a writer stops at the mark.
//   4. A folder in which no frame follows a start frame is one whose creation did not finish (FS4): it is
//      made anew.
//   5. A writer writes the bytes above the durable mark again and syncs: after a failed sync the page cache
//      may show what the disk lacks.

import CairnFileSystem
import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import SystemPackage

struct StoreOpener {
    let folder: FilePath
    let options: LogStoreOptions
    private var fileSystem: any FileSystem { options.fileSystem }

    init(folder: FilePath, options: LogStoreOptions) {
        self.folder = folder
        self.options = options
    }

    /// The lock file, which is what tells stores apart: made if that is allowed.
    func openLockFile() throws(StoreError) -> any File {
        let path = folder.appending(SegmentName.lock)
        do {
            if try !fileSystem.exists(path) {
                guard options.createsIfMissing, !options.isReadOnly else {
                    throw StoreError(
                        .openFailed, "there is no store here", context: .init(path: "\(folder)"))
                }
                try makeFolder()
                let file = try fileSystem.open(path, .createOrOpen)
                try fileSystem.syncDirectory(folder)
                return file
            }
            return try fileSystem.open(path, options.isReadOnly ? .read : .readWrite)
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("opening gives file system and store errors alone: \(error)")
        }
    }

    private func makeFolder() throws {
        if try fileSystem.exists(folder) {
            let names = try fileSystem.list(folder)
            guard names.isEmpty else {
                throw StoreError(
                    .openFailed,
                    names.contains { SegmentName.number(in: $0) != nil }
                        ? "the store's lock file is missing; a copy of a store needs all its files"
                        : "the folder is not empty and holds no store",
                    context: .init(path: "\(folder)"))
            }
            return
        }
        try fileSystem.makeDirectory(folder)
        let parent = folder.removingLastComponent()
        try fileSystem.syncDirectory(parent.isEmpty ? "." : parent)
    }

    /// Takes the locks and reads the log, or begins one.
    func open(lock: any File, schema: Schema?) throws(StoreError) -> OpenedLog {
        let files = StoreFiles(folder: folder, fileSystem: fileSystem, lock: lock)
        let hasWriter = try takeLocks(files)
        do {
            return try open(files, schema: schema, hasWriter: hasWriter)
        } catch {
            files.release()
            throw error
        }
    }

    private func open(_ files: StoreFiles, schema: Schema?, hasWriter: Bool) throws(StoreError)
        -> OpenedLog
    {
        var limit: UInt64?
        if hasWriter {
            do {
                limit = try files.readMark()?.lsn
            } catch {
                throw StoreError(error)
            }
        }
        var reader = LogReader(files, limit: limit)
        if var log = try reader.read() {
            try check(schema, against: log.catalog.schema)
            if !options.isReadOnly { try takeOver(&log) }
            return log
        }
        guard !options.isReadOnly else {
            throw StoreError(
                .openFailed, "the store was never finished: it holds nothing",
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
        return try create(files, schema)
    }

    // MARK: Locks

    /// Takes the locks; true if somebody else writes.
    private func takeLocks(_ files: StoreFiles) throws(StoreError) -> Bool {
        do {
            if options.isReadOnly {
                // Taken for a moment: whether it can be had says whether there is a writer.
                let isFree = try files.lock.lock(byte: 0, exclusive: false)
                if isFree { try files.lock.unlock(byte: 0) }
                _ = try files.lock.lock(byte: 1, exclusive: false)
                return !isFree
            }
            try waitForTurn(files)
            _ = try files.lock.lock(byte: 1, exclusive: false)
            return false
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("locking gives file system and store errors alone: \(error)")
        }
    }

    private func waitForTurn(_ files: StoreFiles) throws {
        let attempts = max(1, Int(options.timeout / 0.005))
        for attempt in 1...attempts {
            if try files.lock.lock(byte: 0, exclusive: true) { return }
            if attempt < attempts { Pause.milliseconds(5) }
        }
        let holder = try files.lock.lockHolder(byte: 0)
        let who = holder.map { "process \($0)" } ?? "another process"
        throw StoreError(
            .storeInUse, "\(who) writes to the store", context: .init(path: "\(folder)"))
    }

    // MARK: Existing stores

    private func check(_ wanted: Schema?, against stored: Schema) throws(StoreError) {
        guard let wanted, !wanted.model.hasSameStorage(as: stored.model) else { return }
        throw StoreError(
            .incompatibleModel,
            "the store was made with another model: \(wanted.model.difference(to: stored.model))",
            context: .init(path: "\(folder)"))
    }

    /// What a writer does before it may write.
    private func takeOver(_ log: inout OpenedLog) throws(StoreError) {
        guard log.segments.allSatisfy({ $0.header.flags.allowsWriting }) else {
            throw StoreError(
                .openFailed, "the store uses a feature that this version can read but not write",
                context: .init(path: "\(folder)"))
        }
        do {
            // The files were opened to be read; the one that takes commits is opened to be written.
            guard let last = log.segments.last else { return }
            let file = try fileSystem.open(log.files.path(last.number), .readWrite)
            let writable = Segment(header: last.header, file: file)
            log.segments[log.segments.count - 1] = writable
            for (index, segment) in log.segments.enumerated() {
                try rewrite(
                    segment, from: log.durable, to: log.end, isLast: index == log.segments.count - 1
                )
            }
            log.durable = log.end.lsn
            // Segments behind the last valid one are of a creation that did not finish.
            for number in try log.files.segmentNumbers() where number > last.number {
                try fileSystem.unlink(log.files.path(number))
                try fileSystem.syncDirectory(folder)
            }
            log.files.writeMark(
                MarkRecord(
                    store: log.storeID, commit: log.commit, lsn: log.end.lsn, chain: log.end.chain,
                    segment: log.end.segment))
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("taking over gives file system and store errors alone: \(error)")
        }
    }

    /// Writes the part of a segment above the durable mark again, and syncs it.
    private func rewrite(_ segment: Segment, from durable: UInt64, to end: LogEnd, isLast: Bool)
        throws
    {
        let segmentEnd = segment.baseLSN + (isLast ? end.offset : segment.knownEnd ?? 0)
        guard segmentEnd > durable, !isLast || end.offset > 0 else { return }
        let file = isLast ? segment.file : try fileSystem.open(segment.file.path, .readWrite)
        var position = max(durable, segment.baseLSN) - segment.baseLSN
        let stop = segmentEnd - segment.baseLSN
        let buffer = RawBytes(count: 1 << 20)
        while position < stop {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer.mutable[..<Int(min(UInt64(buffer.count), stop - position))])
            try segment.read(part, at: position)
            try file.write(UnsafeRawBufferPointer(part), at: position)
            position += UInt64(part.count)
        }
        try file.synchronizeData()
    }

    // MARK: New stores

    /// Makes the first segment and the commit with the schema.
    private func create(_ files: StoreFiles, _ schema: Schema) throws(StoreError) -> OpenedLog {
        let storeID = StoreID(options.storeIdentifier ?? UUID())
        let catalog = Catalog(new: schema)
        let json = try CatalogDocument.encode(catalog)
        do {
            for number in try files.segmentNumbers() { try fileSystem.unlink(files.path(number)) }
            let made = try files.makeSegment(
                after: nil, segments: [], storeID: storeID, time: options.clock.now(), commit: 0,
                durable: 0, counters: [], schema: .none, schemaVersion: 0)
            var log = LogWriter(
                segment: made.segment, end: made.end, storeTag: storeID.tag, commit: 1,
                mark: made.end.lsn, limit: options.sizes.writeBufferBytes)
            let place = try log.append(.schema) { writer throws(StoreError) in
                json.withUnsafeBytes { writer.append($0) }
            }
            let record = CommitPayload(
                firstLSN: log.firstLSN, frameCount: 1, time: options.clock.now(),
                counters: catalog.trees.map { TreeCounter(tree: $0.id, next: 1) })
            try log.append(.commit) { writer throws(StoreError) in record.encode(to: &writer) }
            try log.flush()
            try made.segment.file.synchronizeData()
            files.writeMark(
                MarkRecord(
                    store: storeID, commit: 1, lsn: log.end.lsn, chain: log.end.chain,
                    segment: log.end.segment))
            var report = RecoveryReport()
            report.wasCreated = true
            return OpenedLog(
                files: files, storeID: storeID, segments: [made.segment],
                catalog: catalog.placed(at: place), end: log.end, durable: log.end.lsn, commit: 1,
                counters: [:], blocks: [], deaths: [], report: report)
        } catch let error as FileSystemError {
            throw StoreError(error)
        } catch let error as StoreError {
            throw error
        } catch {
            preconditionFailure("making a store gives file system and store errors alone: \(error)")
        }
    }
}
