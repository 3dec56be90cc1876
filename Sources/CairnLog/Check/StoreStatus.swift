// Information about a store and the cost of opening it, without opening it.
//
//   1. Segments, mark and checkpoints are examined from outside (FolderSurvey, CheckpointProbe).
//   2. After the newest checkpoint that seems usable, the headers of the frames are read.
//
// Invariants: nothing is written, nothing locked, no state built. It works while a program writes, and on a
// store that does not open; then it reports what is known.
// Threads: one in one thread.

import CairnFileSystem
import CairnFormat
public import CairnStore
public import FoundationEssentials
import SystemPackage

/// What is known about a store without opening it.
public struct StoreStatus: Sendable {
    /// A file of the log.
    public struct Segment: Sendable {
        /// The role of the file.
        public enum Kind: String, Sendable {
            /// A part of the log to which commits are, or were, appended.
            case main
            /// Contains what compaction has moved.
            case side
            /// No longer a part of the store, and kept for past states.
            case held
            /// No longer a part of the store; the next writer removes it.
            case retired
            /// Its creation was interrupted; it is empty.
            case unfinished
            /// A file of another store.
            case foreign
        }

        /// The segment's number.
        public let number: UInt32
        /// The role of the file.
        public let kind: Kind
        /// The size of the file in bytes.
        public let bytes: UInt64
        /// When it was created; nil if its header cannot be read.
        public let created: Date?
        /// The problem with its header, if any.
        public let problem: String?
    }

    /// A file that speeds up opening.
    public struct Checkpoint: Sendable {
        /// The commit whose state it contains.
        public let commit: UInt64
        /// The size of the file in bytes.
        public let bytes: UInt64
        /// Why it would be skipped; nil if it seems usable. Its parts were not read.
        public let problem: String?
    }

    /// What the writer recorded last.
    public struct Mark: Sendable {
        /// The last commit known to be durable.
        public let commit: UInt64
        /// The position in the log up to which everything is durable.
        public let position: UInt64
    }

    /// A process that has the store open.
    public struct User: Sendable {
        /// The process.
        public let process: Int32
        /// The name of its program.
        public let program: String
        /// When the process started.
        public let started: Date?
        /// Whether it has the store open for writing.
        public let mayWrite: Bool
        /// Whether it holds the write lock.
        public let hasTurn: Bool
    }

    /// The store's identifier; nil if no file contains it.
    public let identifier: UUID?
    /// The version of the file format.
    public let formatVersion: UInt32
    /// The segments, by number.
    public let segments: [Segment]
    /// The checkpoints, the newest first.
    public let checkpoints: [Checkpoint]
    /// The mark record of the lock file; nil if it is missing or belongs to another store.
    public let mark: Mark?
    /// The process that is writing to the store; nil if there is none, or the system does not report it.
    public let writer: Int32?
    /// The processes that have the store open, as far as the system reports them: of this user, on this
    /// machine. Linux only.
    public let users: [User]
    /// The name of the machine that has the store open for writing, on a disk that other machines may share
    /// (see ``LogStoreOptions/allowsSharedDisk``); it can be this one. Nil on other disks, and if no machine
    /// has.
    public let host: String?
    /// The number of the last commit; 0 if there is none.
    public let commit: UInt64
    /// When the last commit was made.
    public let lastCommitTime: Date?
    /// The author of the last commit.
    public let lastAuthor: String?
    /// Whether the last writer closed the store, and nothing was written after that.
    public let wasClosed: Bool
    /// Bytes after the last complete commit, from an interrupted write.
    public let bytesLeftBehind: UInt64
    /// The commit of the checkpoint from which the store would be opened; nil if the whole log would be read.
    public let openingCheckpoint: UInt64?
    /// Bytes to read when the store is opened: the checkpoint, and the log after it.
    public let bytesToRead: UInt64
    /// Frames after the checkpoint.
    public let framesToRead: UInt64
    /// Commits after the checkpoint.
    public let commitsToRead: UInt64
    /// Damage that shows in the headers that were read. Opening would report the first.
    public let damage: [StoreError]

    /// Whether opening the store requires more than reading the newest checkpoint: the last writer did not
    /// close the store, or there are commits after the checkpoint, or there is no checkpoint.
    public var needsRecovery: Bool {
        !wasClosed || commitsToRead > 0 || openingCheckpoint == nil || !damage.isEmpty
    }
}

extension LogStore {
    /// Examines a store without opening it: it takes no lock, writes nothing, and works while a program
    /// writes and on a corrupt store.
    ///
    /// ```swift
    /// let status = try LogStore.status(at: "shop.cairn")
    /// if status.bytesToRead > 1 << 30 { showProgress() }
    /// ```
    ///
    /// - Throws: `StoreError`: `.openFailed` if there is no store, `.inputOutput` if the folder cannot be
    ///   read.
    /// - Complexity: O(frames after the newest checkpoint); their payloads are not read.
    public static func status(at path: String, options: LogStoreOptions = LogStoreOptions())
        throws(StoreError) -> StoreStatus
    {
        let folder = FilePath(path)
        for _ in 1..<StoreAudit.attempts {
            let before = try FolderSurvey.segmentNames(in: folder, options.fileSystem)
            do throws(StoreError) {
                return try StoreStatus(folder, options.fileSystem)
            } catch {
                // A writer may remove a file that was to be read.
                let after = try FolderSurvey.segmentNames(in: folder, options.fileSystem)
                if after == before { throw error }
            }
        }
        return try StoreStatus(folder, options.fileSystem)
    }
}

extension StoreStatus {
    init(_ folder: FilePath, _ fileSystem: any FileSystem) throws(StoreError) {
        let survey = try FolderSurvey(folder, fileSystem)
        let probes = try CheckpointProbe.all(in: survey, fileSystem)
        let writer = survey.lock.flatMap { try? $0.lockHolder(byte: 0) }
        // A writer may be at work after the mark.
        let limit = writer == nil ? nil : survey.mark?.lsn
        let base = probes.first { !$0.isPast && $0.end.map { $0.lsn <= limit ?? .max } ?? false }
        var log = LogSurvey(survey, readsPayloads: false, limit: limit)
        let outline = try log.run(from: base?.end)
        let progress = outline.progress

        identifier = survey.storeID?.uuid
        formatVersion = FormatVersion.current
        segments = survey.segments.map(Segment.init)
        checkpoints = probes.map {
            Checkpoint(commit: $0.commit, bytes: $0.bytes, problem: $0.problem)
        }
        mark = survey.mark.map { Mark(commit: $0.commit, position: $0.lsn) }
        self.writer = writer
        users =
            survey.lock.map { survey.fileSystem.users(of: $0) }?
            .filter { $0.hasLocked(1) }.map { user in
                User(
                    process: user.process, program: user.program,
                    started: user.started.map(Date.init(timeIntervalSince1970:)),
                    mayWrite: user.mayWrite, hasTurn: user.hasLocked(0))
            } ?? []
        host = survey.host?.shownName
        openingCheckpoint = base?.commit
        commit = progress.commits > 0 ? progress.commit : base?.commit ?? 0
        let last = Self.commit(
            at: progress.commits > 0 ? progress.commitFrame : base?.commitPlace ?? .none, survey)
        lastCommitTime = last.map { Date(timeIntervalSinceReferenceDate: $0.time) }
        lastAuthor = last.flatMap { $0.author.isEmpty ? nil : $0.author }
        var left: UInt64 = 0
        if writer == nil {
            for segment in survey.segments
            where segment.role == .main && segment.number >= progress.end.segment {
                let from = segment.number == progress.end.segment ? progress.end.offset : 0
                left += try TailMeasure.bytes(of: segment.file, from: min(from, segment.size))
            }
        }
        bytesLeftBehind = left
        wasClosed = progress.isClosed && left == 0 && writer == nil
        if let base, let start = base.end?.lsn {
            bytesToRead = base.bytes + (progress.end.lsn - min(progress.end.lsn, start))
        } else {
            bytesToRead = survey.segments.reduce(0) { bytes, segment in
                switch segment.role {
                case .main where segment.number == progress.end.segment:
                    bytes + progress.end.offset
                case .main where segment.number < progress.end.segment, .side: bytes + segment.end
                default: bytes
                }
            }
        }
        framesToRead = progress.frames
        commitsToRead = progress.commits
        damage = survey.problems + outline.damage.map(\.error)
    }

    private static func commit(at place: Place, _ survey: FolderSurvey) -> CommitPayload? {
        guard let store = survey.storeID,
            let segment = survey.segments.first(where: { $0.number == place.segment }),
            let payload = try? segment.segment(of: store).payload(
                at: UInt64(place.byteOffset), kind: .commit, storeTag: store.tag)
        else { return nil }
        return try? CommitPayload(decoding: payload.bytes)
    }
}

extension StoreStatus.Segment {
    fileprivate init(_ segment: SurveyedSegment) {
        number = segment.number
        kind =
            switch segment.role {
            case .main: .main
            case .side: .side
            case .held: .held
            case .retired: .retired
            case .unfinished: .unfinished
            case .foreign: .foreign
            }
        bytes = segment.size
        created = segment.header.map { Date(timeIntervalSinceReferenceDate: $0.created) }
        problem = segment.headerError.map { "\($0.what) (\($0.rule))" }
    }
}
