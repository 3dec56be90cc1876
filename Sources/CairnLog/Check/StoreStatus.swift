// What a store is and what opening it would mean, without opening it.
//
//   1. Segments, mark and checkpoints are looked at from outside (FolderSurvey, CheckpointProbe).
//   2. Behind the newest checkpoint that seems usable, the headers of the frames are walked through.
//
// Invariants: nothing is written, nothing locked, no state built. It works beside a writer and on a store that does
// not open; then it says what is known.
// Threads: one in one thread.

import CairnFileSystem
import CairnFormat
public import CairnStore
public import FoundationEssentials
import SystemPackage

/// What is known of a store without opening it.
public struct StoreStatus: Sendable {
    /// A file of the log.
    public struct Segment: Sendable {
        /// What the file is good for.
        public enum Kind: String, Sendable {
            /// A part of the log that takes, or took, commits.
            case main
            /// What compaction has moved.
            case side
            /// No part of the store any more, and kept for past states.
            case held
            /// No part of the store any more; the next writer removes it.
            case retired
            /// Its creation did not finish; it holds nothing.
            case unfinished
            /// A file of another store.
            case foreign
        }

        /// The segment's number.
        public let number: UInt32
        /// What it is good for.
        public let kind: Kind
        /// The bytes of the file.
        public let bytes: UInt64
        /// When it was made; nil if its header cannot be read.
        public let created: Date?
        /// What is wrong with its header.
        public let problem: String?
    }

    /// A file that makes opening fast.
    public struct Checkpoint: Sendable {
        /// The commit whose state it holds.
        public let commit: UInt64
        /// The bytes of the file.
        public let bytes: UInt64
        /// Why it would be passed over; nil if it seems usable. Its parts were not read.
        public let problem: String?
    }

    /// What the writer noted last.
    public struct Mark: Sendable {
        /// The last commit known to be durable.
        public let commit: UInt64
        /// The position in the log up to which everything is.
        public let position: UInt64
    }

    /// A process that has the store open.
    public struct User: Sendable {
        /// The process.
        public let process: Int32
        /// The name of its program.
        public let program: String
        /// When the process was started.
        public let started: Date?
        /// Whether it has the store open to write.
        public let mayWrite: Bool
        /// Whether it is its turn to write.
        public let hasTurn: Bool
    }

    /// The store's identity; nil if no file says it.
    public let identifier: UUID?
    /// The version of the file format.
    public let formatVersion: UInt32
    /// The segments, by number.
    public let segments: [Segment]
    /// The checkpoints, the newest first.
    public let checkpoints: [Checkpoint]
    /// The mark record of the lock file; nil if it is missing or belongs to another store.
    public let mark: Mark?
    /// The process that writes to the store now; nil if there is none, or the system does not tell.
    public let writer: Int32?
    /// The processes that have the store open, as far as the system tells: of this user, on this machine. Linux only.
    public let users: [User]
    /// What the machine is called that has the store open to write, on a disk that other machines may have too (see
    /// ``LogStoreOptions/allowsSharedDisk``): it may be this one. Nil on other disks, and if none has.
    public let host: String?
    /// The number of the last commit; 0 if there is none.
    public let commit: UInt64
    /// When the last commit was made, and by whom.
    public let lastCommitTime: Date?
    /// Who made the last commit.
    public let lastAuthor: String?
    /// Whether the last writer closed the store, and nothing was written behind that.
    public let wasClosed: Bool
    /// Bytes behind the last whole commit: a write that was interrupted.
    public let bytesLeftBehind: UInt64
    /// The commit of the checkpoint that opening would begin with; nil if it would read the whole log.
    public let openingCheckpoint: UInt64?
    /// Bytes that opening would read: the checkpoint, and the log behind it.
    public let bytesToRead: UInt64
    /// Frames behind the checkpoint.
    public let framesToRead: UInt64
    /// Commits behind the checkpoint.
    public let commitsToRead: UInt64
    /// What is damaged as far as it shows in the headers that were read. Opening would name the first.
    public let damage: [StoreError]

    /// Whether opening has more to do than to read the newest checkpoint: the last writer did not close the store, or
    /// commits lie behind the checkpoint, or there is none.
    public var needsRecovery: Bool {
        !wasClosed || commitsToRead > 0 || openingCheckpoint == nil || !damage.isEmpty
    }
}

extension LogStore {
    /// What is known of a store without opening it: no lock is taken, nothing is written, and it works beside a
    /// writer and on a store that is damaged.
    ///
    /// ```swift
    /// let status = try LogStore.status(at: "shop.cairn")
    /// if status.bytesToRead > 1 << 30 { showProgress() }
    /// ```
    ///
    /// - Throws: `StoreError`: `.openFailed` if there is no store, `.inputOutput` if the folder cannot be read.
    /// - Complexity: O(frames behind the newest checkpoint); their payloads are not read.
    public static func status(at path: String, options: LogStoreOptions = LogStoreOptions())
        throws(StoreError) -> StoreStatus
    {
        let folder = FilePath(path)
        for _ in 1..<StoreAudit.attempts {
            let before = try FolderSurvey.segmentNames(in: folder, options.fileSystem)
            do throws(StoreError) {
                return try StoreStatus(folder, options.fileSystem)
            } catch {
                // A writer may take a file away that was to be read.
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
        // Behind the mark a writer may be at work.
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
