// Checks a store from its files, to the requested depth.
//
//   1. Files and frames (LogAudit), as they are, whether or not the store opens.
//   2. Blocks and the life of rows (BlockAudit).
//   3. A state is built from the log alone, and rows are compared with the
//      directory and the indexes (StoreChecker); the state from each checkpoint is compared with it
//      (CheckpointAudit).
//
// While a program writes, everything ends at the mark that was read first. If compaction removes a segment
// during the check, the check starts again.
// Invariants: nothing is written.
// Threads: one check in one thread.

import CairnFileSystem
import CairnFormat
public import CairnStore
import SystemPackage

extension LogStore {
    /// Checks a store without opening it for use, while others write to it, and even if it cannot be opened.
    /// Every problem is reported with its location, not only the first.
    ///
    /// ```swift
    /// let report = try LogStore.check(at: "shop.cairn", depth: .frames)
    /// for finding in report.findings { print(finding) }
    /// ```
    ///
    /// - Parameters:
    ///   - depth: how much to check.
    ///   - progress: called with the current stage and its progress: units done and total units.
    /// - Throws: `StoreError`: `.openFailed` if there is no store, `.inputOutput` if the folder cannot be
    ///   read. Damage is listed in the report.
    /// - Complexity: O(size of the log); O(frames) with `.headers`. With `.all`, memory for two states.
    public static func check(
        at path: String, depth: CheckDepth = .all, options: LogStoreOptions = LogStoreOptions(),
        progress: ((CheckStage, Int, Int) -> Void)? = nil
    ) throws(StoreError) -> StoreCheckReport {
        let audit = StoreAudit(folder: FilePath(path), depth: depth, options: options)
        return try audit.run { progress?($0, $1, $2) }
    }
}

struct StoreAudit {
    let folder: FilePath
    let depth: CheckDepth
    var options: LogStoreOptions

    init(folder: FilePath, depth: CheckDepth, options: LogStoreOptions) {
        self.folder = folder
        self.depth = depth
        self.options = options
        self.options.isReadOnly = true
        self.options.followsWriter = false
        self.options.createsIfMissing = false
        // A check writes nothing, like everything that only examines the files.
        self.options.allowsSharedDisk = true
    }

    /// The maximum number of attempts of a check, if segments are added or removed during it.
    static let attempts = 5

    func run(progress: (CheckStage, Int, Int) -> Void) throws(StoreError) -> StoreCheckReport {
        for _ in 1..<Self.attempts {
            let before = try names()
            let report: StoreCheckReport
            do throws(StoreError) {
                report = try runOnce(progress)
            } catch {
                if try names() == before { throw error }
                continue
            }
            if report.findingCount == 0 { return report }
            // The problems of a store at rest are found every time.
            if try names() == before { return report }
        }
        return try runOnce(progress)
    }

    private func names() throws(StoreError) -> [String] {
        try FolderSurvey.segmentNames(in: folder, options.fileSystem)
    }

    private func runOnce(_ progress: (CheckStage, Int, Int) -> Void) throws(StoreError)
        -> StoreCheckReport
    {
        let survey = try FolderSurvey(folder, options.fileSystem)
        let writer = survey.lock.flatMap { try? $0.lockHolder(byte: 0) }
        var audit = LogAudit(survey, depth: depth, limit: writer == nil ? nil : survey.mark?.lsn)
        try audit.run { progress(.log, Int(clamping: $0), Int(clamping: $1)) }
        var report = StoreCheckReport()
        report.depth = depth
        report.segments = survey.segments.count { $0.role == .main || $0.role == .side }
        report.heldSegments = survey.segments.count { $0.role == .held }
        report.frames = audit.frames
        report.commits = audit.outline.progress.commits
        for finding in audit.findings { report.find(finding) }
        if writer == nil { report.bytesLeftBehind = try bytesLeftBehind(audit) }
        for segment in survey.segments {
            switch segment.role {
            case .retired, .unfinished:
                report.notes.append(
                    "segment \(segment.number) is not part of the store; the next writer removes it"
                )
            case .main, .side, .held, .foreign: break
            }
        }
        if depth >= .blocks {
            try checkBlocks(audit, &report) { progress(.blocks, $0, $1) }
        }
        if depth >= .all { try checkAll(survey, &report, progress) }
        return report
    }

    /// The number of bytes after the end of the log, which mean nothing (SG2).
    private func bytesLeftBehind(_ audit: LogAudit) throws(StoreError) -> UInt64 {
        let end = audit.outline.progress.end
        var bytes: UInt64 = 0
        for segment in audit.folder.segments
        where segment.role == .main && segment.number >= end.segment {
            let from = segment.number == end.segment ? end.offset : 0
            bytes += try TailMeasure.bytes(of: segment.file, from: min(from, segment.size))
        }
        return bytes
    }

    private func checkBlocks(
        _ audit: LogAudit, _ report: inout StoreCheckReport, _ progress: (Int, Int) -> Void
    ) throws(StoreError) {
        guard let catalog = audit.catalog else {
            if report.findingCount == 0 {
                report.find(.damaged("the store has no schema (F-217)"))
            }
            return
        }
        let result = BlockAudit(audit, catalog: catalog, sizes: options.sizes)
            .run(progress: progress)
        report.blocks = result.blocks
        report.rows = result.rows
        for finding in result.findings { report.find(finding) }
    }

    // MARK: States

    private func checkAll(
        _ survey: FolderSurvey, _ report: inout StoreCheckReport,
        _ progress: (CheckStage, Int, Int) -> Void
    ) throws(StoreError) {
        let probes = try CheckpointProbe.all(in: survey, options.fileSystem)
        for probe in probes where probe.problem != nil {
            report.notes.append(
                "the checkpoint of commit \(probe.commit) would be passed over: \(probe.problem ?? "")"
            )
        }
        let usable = probes.filter { $0.problem == nil }
        let newest = usable.first { !$0.isPast }?.commit
        do throws(StoreError) {
            var built: Engine?
            defer { try? built?.close() }
            try compare(newest, &built, nil, &report, progress)
            for commit in usable.map(\.commit) where commit != newest {
                if built?.pastSettings == nil {
                    try compare(commit, &built, survey, &report, progress)
                } else {
                    try comparePast(commit, &built, survey, &report, progress)
                }
            }
            guard let engine = built else {
                preconditionFailure("a comparison requires a state")
            }
            let state = engine.registry.published()
            var checker = StoreChecker(engine: engine, state: state)
            let found = withoutActuallyEscaping(progress) { progress in
                checker.run { progress(.indexes, $0, $1) }
            }
            report.indexEntries = found.indexEntries
            report.references = found.references
            for finding in found.findings { report.find(finding) }
            report.findingCount += found.findingCount - found.findings.count
            engine.checkRedirects(state, &report)
            engine.checkPast(state, &report)
        } catch {
            // If the reason why the store does not open was found before, it is in the report.
            guard report.findingCount > 0, error.code == .damaged else { return report.find(error) }
            report.notes.append("indexes could not be compared: the store does not open")
        }
    }

    /// Compares the state from a checkpoint, if any, with one that is built from the log alone.
    ///
    /// - Parameters:
    ///   - built: has the latter; it is built if there is none, or if it is of another commit than the
    ///     checkpoint's by now.
    ///   - survey: the content of the folder, if there is a newer checkpoint, so that nothing requires the
    ///     log after this one.
    private func compare(
        _ commit: UInt64?, _ built: inout Engine?, _ survey: FolderSurvey?,
        _ report: inout StoreCheckReport,
        _ progress: (CheckStage, Int, Int) -> Void
    ) throws(StoreError) {
        // A writer may continue between the two; in a few attempts they meet at one commit.
        for attempt in 1...Self.attempts {
            var restored: Engine?
            var failure: StoreError?
            do throws(StoreError) {
                if let commit { restored = try engine(checkpoint: commit) }
            } catch {
                if error.code == .damaged, attempt < Self.attempts { continue }
                failure = error
            }
            defer { try? restored?.close() }
            let wanted = restored?.registry.read { ($0.commit, $0.hashSeed) }
            let there = built?.registry.read { ($0.commit, $0.hashSeed) }
            if there == nil || wanted.map({ $0 != there ?? (0, 0) }) ?? false {
                try build(&built, hashSeed: wanted?.1)
            }
            guard let commit else { return }
            if let failure {
                return try findBreak(behind: commit, failure, survey, &report)
            }
            guard let state = built?.registry.published(), let restored else { return }
            guard restored.recovery.checkpoint == commit else {
                report.notes.append(
                    "the checkpoint of commit \(commit) would be passed over: it is damaged inside")
                return
            }
            let other = restored.registry.published()
            if other.commit == state.commit {
                return compare(state, other, commit, &report, progress)
            }
            if attempt < Self.attempts { continue }
            report.notes.append(
                "the checkpoint of commit \(commit) could not be compared: the writer was too fast")
        }
    }

    /// The same for a checkpoint that is kept for past states, from which the newest state is built like a
    /// past one.
    private func comparePast(
        _ commit: UInt64, _ built: inout Engine?, _ survey: FolderSurvey,
        _ report: inout StoreCheckReport, _ progress: (CheckStage, Int, Int) -> Void
    ) throws(StoreError) {
        guard let number = built?.registry.read({ $0.commit }) else { return }
        var line: StateRegistry<EngineState>?
        do throws(StoreError) {
            line = try built?.pastLine(to: number, ofCheckpoint: commit)
        } catch {
            return try findBreak(behind: commit, error, survey, &report)
        }
        guard let line else {
            report.notes.append(
                "the checkpoint of commit \(commit) would be passed over: it is damaged inside, or the log does not go on from it"
            )
            return
        }
        let other = line.published()
        if other.hashSeed != built?.registry.read({ $0.hashSeed }) {
            try build(&built, hashSeed: other.hashSeed)
        }
        guard let state = built?.registry.published(), state.commit == number else {
            report.notes.append(
                "the checkpoint of commit \(commit) could not be compared: the writer was too fast")
            return
        }
        withExtendedLifetime(line) { compare(state, other, commit, &report, progress) }
    }

    /// Builds an engine from the log alone.
    private func build(_ built: inout Engine?, hashSeed: UInt64?) throws(StoreError) {
        try? built?.close()
        built = nil
        built = try engine(hashSeed: hashSeed)
    }

    /// Reports that the log does not continue from a checkpoint. For an old one this is no damage if segments
    /// are gone: they may include one that was retired after it, and that nothing requires.
    private func findBreak(
        behind commit: UInt64, _ failure: StoreError, _ survey: FolderSurvey?,
        _ report: inout StoreCheckReport
    ) throws(StoreError) {
        guard failure.code == .damaged else { throw failure }
        if let survey, survey.segments.count < Int(survey.segments.last?.number ?? 0) {
            report.notes.append(
                "the checkpoint of commit \(commit) would be passed over: the log does not go on from it"
            )
            return
        }
        report.checkpoints += 1
        find("the log does not go on from it, \(failure.message)", commit, &report)
    }

    private func compare(
        _ state: EngineState, _ other: EngineState, _ commit: UInt64,
        _ report: inout StoreCheckReport, _ progress: (CheckStage, Int, Int) -> Void
    ) {
        report.checkpoints += 1
        for text in CheckpointAudit.differences(
            state, other, progress: { progress(.checkpoint, $0, $1) })
        {
            find(text, commit, &report)
        }
    }

    private func find(_ text: String, _ commit: UInt64, _ report: inout StoreCheckReport) {
        report.find(
            .damaged(
                "the checkpoint of commit \(commit) differs from the log: \(text) (CK3)",
                path: "\(folder.appending(CheckpointName.name(of: commit)))"))
    }

    /// Opens a separate engine, which is not shared.
    ///
    /// - Parameter checkpoint: the commit of the checkpoint with which it is opened; nil = none.
    private func engine(checkpoint: UInt64? = nil, hashSeed: UInt64? = nil) throws(StoreError)
        -> Engine
    {
        var opener = StoreOpener(folder: folder, options: options)
        opener.usesCheckpoints = checkpoint != nil
        opener.checkpoint = checkpoint
        guard let lock = try opener.openLockFile(),
            var opened = try opener.open(lock: lock, schema: nil)
        else {
            throw StoreError(
                .openFailed, "the store was removed in the meantime",
                context: .init(path: "\(folder)"))
        }
        if let hashSeed { opened.hashSeed = hashSeed }
        return try Engine(opened, options: options)
    }
}
