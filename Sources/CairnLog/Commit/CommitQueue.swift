// Commits that are sealed and not yet published: written, synced and published in order.
//
//   seal     the holder of the write lock appends a commit's frames and its state
//   lead     one thread at a time takes everything that is sealed: one write, one sync if any commit must be
//            durable when it returns, and then each is published
//   await    a committer leads if no thread does, else it waits until its commit is published or has failed
//
// Committers that come while a sync is in progress share the next one. Nothing changes its thread: the leader
// is one of the committers. A commit that needs no sync bypasses the queue if that is empty and no other
// thread wants the write lock: its holder writes and publishes.
//
// A failure leaves the queue broken: no thread leads and nothing more is sealed until the holder of the write
// lock has truncated the log (`currentFailure`, `finishFailure`), because a commit in progress is based on
// states that will never exist. What was sealed in the meantime fails too.
//
// Invariants: publication is in the order of commits (CM1); bytes that are sealed and not written are kept
// here, because commits in progress may read them.
// Threads: any.

import CairnFormat
package import CairnStore
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// The commits that are being written to disk.
package final class CommitQueue: Sendable {
    /// A failure of writing or syncing, with all commits that fail with it.
    struct Failure: Sendable {
        let error: StoreError
        /// Whether the content of the disk is unknown from then on.
        let isFinal: Bool
        let commits: [SealedCommit]
    }

    fileprivate struct Contents {
        var waiting: [SealedCommit] = []
        var waitingChunks: [LogChunk] = []
        var waitingBytes = 0
        var written: [LogChunk] = []
        var isLeading = false
        /// The duration of the last sync.
        var syncSeconds = 0.0
        var failure: Failure?
        /// The end of what is written and published.
        var end: LogEnd
        /// The LSN below which the log is durable.
        var durable: UInt64
        /// The reason why nothing is written any longer.
        var cause: StoreError?
        /// An unused state, whose memory is for the next one.
        var spare: HeldState<EngineState>?
    }

    private let contents: Monitor<Contents>
    private let disk: CommitDisk
    private let registry: StateRegistry<EngineState>
    /// The feed of what is published.
    private let changes: CommitFeed
    /// The number of threads that hold the write lock or wait for it.
    let committers = Atomic<Int>(0)
    /// The number of commits that are likely to share the next sync.
    private let sharers = Atomic<Int>(0)

    /// The maximum size of a group, in bytes and commits, before its committers have to wait.
    static let groupBytes = 8 << 20
    static let groupCommits = 1024

    init(
        end: LogEnd, durable: UInt64, disk: CommitDisk, registry: StateRegistry<EngineState>,
        changes: CommitFeed
    ) {
        self.changes = changes
        contents = Monitor(Contents(end: end, durable: durable))
        self.disk = disk
        self.registry = registry
    }

    /// The LSN below which the log is durable.
    var durable: UInt64 { contents.withLock { $0.durable } }

    /// The reason why nothing is written any longer; nil if there is none.
    var cause: StoreError? { contents.withLock { $0.cause } }

    /// What the holder of the write lock must know before it makes a commit, read at once.
    struct Outlook {
        /// Whether nothing has failed and another commit may wait.
        let isClear: Bool
        /// The LSNs below which the log is written and published, and durable.
        let written: UInt64
        let durable: UInt64
    }

    /// Returns what must be known before the next commit, and a state for its memory if there is one and the
    /// caller has none.
    func outlook(_ spare: inout HeldState<EngineState>?) -> Outlook {
        contents.withLock {
            if spare == nil { swap(&spare, &$0.spare) }
            return Outlook(
                isClear: $0.failure == nil && $0.cause == nil && !$0.isFull, written: $0.end.lsn,
                durable: $0.durable)
        }
    }

    /// The LSNs below which the log is written and published, and durable.
    var progress: (written: UInt64, durable: UInt64) {
        contents.withLock { ($0.end.lsn, $0.durable) }
    }

    /// The number of commits that are sealed and not yet taken to be written.
    var waitingCount: Int { contents.withLock { $0.waiting.count } }

    // MARK: Sealing

    /// Takes a commit from the holder of the write lock; returns false if the queue is broken.
    func seal(_ commit: SealedCommit, _ chunk: LogChunk?) -> Bool {
        contents.withLock { contents in
            guard contents.failure == nil, contents.cause == nil else { return false }
            contents.waiting.append(commit)
            if let chunk, !chunk.bytes.isEmpty {
                contents.waitingBytes += chunk.bytes.count
                let last = contents.waitingChunks.count - 1
                if last >= 0, contents.waitingChunks[last].segment === chunk.segment,
                    contents.waitingChunks[last].start
                        + UInt64(contents.waitingChunks[last].bytes.count) == chunk.start
                {
                    contents.waitingChunks[last].bytes += chunk.bytes
                } else {
                    contents.waitingChunks.append(chunk)
                }
            }
            return true
        }
    }

    /// Whether a commit may bypass the queue: it is empty, and nothing has failed. It stays so while the
    /// caller holds the write lock, unless something fails.
    var isIdle: Bool {
        contents.withLock {
            !$0.isLeading && $0.waiting.isEmpty && $0.failure == nil && $0.cause == nil
        }
    }

    /// Publishes a commit that bypassed the queue and is written. The caller holds the write lock. Returns
    /// the state published before if it has no reader.
    func publish(
        _ held: HeldState<EngineState>, _ pages: borrowing SealedPages, _ origin: CommitOrigin
    ) -> HeldState<EngineState>? {
        pages.giveUnused(to: held.pool)
        var transition: StateTransition<EngineState>?
        let before = registry.publish(held, replaced: pages.replaced, transition: &transition)
        if let transition { changes.post(transition, origin) }
        contents.withLock { $0.end = held.state.end }
        return before
    }

    /// Whether as much is sealed as a group may hold: the next commit must wait.
    var isFull: Bool { contents.withLock { $0.isFull } }

    /// The payload of a frame of rows that is sealed and may not be written yet; nil if it is not here.
    func rows(in segment: UInt32, at offset: UInt64) -> StoredPayload? {
        contents.withLock { contents in
            contents.written.rows(in: segment, at: offset)
                ?? contents.waitingChunks.rows(in: segment, at: offset)
        }
    }

    // MARK: Leading

    /// How the wait for a commit ended.
    enum Ending {
        case published
        case failed(StoreError)
        /// The queue is broken: the caller must acquire the write lock, truncate the log, and try again.
        case broken
    }

    /// Waits until a commit is published, and leads if no other thread does. The caller does not hold the
    /// write lock.
    func wait(for ticket: CommitTicket) -> Ending {
        while true {
            let outcome = contents.wait { contents -> Result<Void, StoreError>?? in
                if let outcome = ticket.outcome { return .some(outcome) }
                return contents.beginLeading() ? .some(nil) : nil
            }
            switch outcome {
            case .success: return .published
            case .failure(let error): return .failed(error)
            case nil:
                gather()
                if !lead() { return .broken }
            }
        }
    }

    /// Publishes everything that is sealed; returns false if the queue is broken. The caller holds the write
    /// lock.
    func drain() -> Bool {
        while true {
            enum Next { case isEmpty, lead, isBroken }
            let next = contents.wait { contents -> Next? in
                if contents.failure != nil { return .isBroken }
                if contents.waiting.isEmpty, !contents.isLeading { return .isEmpty }
                return contents.beginLeading() ? .lead : nil
            }
            switch next {
            case .isEmpty: return true
            case .isBroken: return false
            case .lead:
                if !lead() { return false }
            }
        }
    }

    /// Writes, syncs and publishes everything that is sealed; returns false if that failed.
    private func lead() -> Bool {
        let (commits, chunks) = contents.withLock { $0.takeGroup() }
        guard let last = commits.last else {
            contents.update { $0.isLeading = false }
            return true
        }
        do {
            for chunk in chunks { try disk.write(chunk) }
        } catch {
            fail(commits, error, isFinal: false)
            return false
        }
        var durable: UInt64?
        var syncSeconds: Double?
        if commits.contains(where: \.isFull) {
            let start = MonotonicTime.now
            do {
                try disk.synchronize(last.held.state)
            } catch {
                fail(commits, error, isFinal: true)
                return false
            }
            syncSeconds = -start.secondsFromNow
            durable = last.held.state.end.lsn
            // Committers that are gone are waited for a few times at most.
            let expected = sharers.load(ordering: .relaxed)
            sharers.store(max(commits.count, expected - 1), ordering: .relaxed)
        }
        var spare: HeldState<EngineState>?
        for (index, commit) in commits.enumerated() {
            commit.pages.giveUnused(to: commit.held.pool)
            var transition: StateTransition<EngineState>?
            let before = registry.publish(
                commit.held, replaced: commit.pages.replaced, transition: &transition)
            if let transition { changes.post(transition, commit.origin) }
            // The others are states of the group, which still refers to them.
            if index == 0 { spare = before }
        }
        let isSpare = empty(&spare)
        contents.update { contents in
            if isSpare { contents.spare = spare }
            contents.written = []
            contents.end = last.held.state.end
            if let durable { contents.durable = max(contents.durable, durable) }
            if let syncSeconds { contents.syncSeconds = syncSeconds }
            contents.isLeading = false
            for commit in commits { commit.ticket.outcome = .success(()) }
        }
        return true
    }

    /// Whether nothing else refers to a state that was published before. If so, it keeps only its memory.
    func empty(_ held: inout HeldState<EngineState>?) -> Bool {
        guard registry.isUnused(&held) else { return false }
        held?.forgetSegments()
        return true
    }

    /// Gives other threads that are about to seal a moment, so that they share the sync: those that hold the
    /// write lock or wait for it, and as many as shared the syncs before, because the previous leader is back
    /// sooner than the threads that it wakes.
    private func gather() {
        for _ in 0..<40 where committers.load(ordering: .relaxed) > 0 { sched_yield() }
        let expected = sharers.load(ordering: .relaxed)
        guard expected > 1 else { return }
        let end =
            MonotonicTime.now + contents.withLock { min($0.syncSeconds / 2, Self.mostSeconds) }
        while contents.withLock({ $0.waiting.count }) < expected, end.secondsFromNow > 0 {
            sched_yield()
        }
    }

    /// The maximum time that a leader waits for those that shared the syncs before, in seconds: waiting
    /// longer than half of a sync would not pay.
    private static let mostSeconds = 50e-6

    // MARK: Failing

    private func fail(_ commits: [SealedCommit], _ error: StoreError, isFinal: Bool) {
        contents.update { contents in
            contents.failure = Failure(
                error: error, isFinal: isFinal, commits: commits + contents.waiting)
            contents.waiting = []
        }
    }

    /// The failure, for the holder of the write lock, which must undo it and call `finishFailure`.
    func currentFailure() -> (failure: Failure, end: LogEnd)? {
        contents.withLock { contents in contents.failure.map { ($0, contents.end) } }
    }

    /// Ends a failure that was undone, or that cannot be undone: then nothing is written any longer.
    func finishFailure(cause: StoreError?) {
        contents.update { contents in
            guard let failure = contents.failure else { return }
            for commit in failure.commits {
                commit.pages.giveAll(to: commit.held.pool)
                commit.ticket.outcome = .failure(failure.error)
            }
            contents.written = []
            contents.waitingChunks = []
            contents.waitingBytes = 0
            contents.failure = nil
            contents.isLeading = false
            if contents.cause == nil { contents.cause = cause }
        }
    }

    /// Stops all further writing.
    package func poison(_ cause: StoreError) {
        contents.update { if $0.cause == nil { $0.cause = cause } }
    }

    // MARK: The holder of the turn, when nothing is sealed

    /// Records that what is published is durable below an LSN.
    func advance(durable: UInt64) {
        contents.update { $0.durable = max($0.durable, durable) }
    }

    /// Records that the log is durable up to an end, which a frame other than a commit may have moved.
    func advance(to end: LogEnd, durable: UInt64) {
        contents.update {
            $0.end = end
            $0.durable = max($0.durable, durable)
        }
    }
}

extension CommitQueue.Contents {
    /// Whether as much is sealed as a group may hold.
    fileprivate var isFull: Bool {
        waitingBytes >= CommitQueue.groupBytes || waiting.count >= CommitQueue.groupCommits
    }

    /// Makes the caller the leader if possible; returns whether it is.
    fileprivate mutating func beginLeading() -> Bool {
        guard !isLeading, failure == nil else { return false }
        isLeading = true
        return true
    }

    fileprivate mutating func takeGroup() -> ([SealedCommit], [LogChunk]) {
        defer {
            written = waitingChunks
            waiting = []
            waitingChunks = []
            waitingBytes = 0
        }
        return (waiting, waitingChunks)
    }
}

extension [LogChunk] {
    /// The payload of the frame of rows at an offset, if the frame is in one of the chunks.
    fileprivate func rows(in segment: UInt32, at offset: UInt64) -> StoredPayload? {
        for chunk in self
        where chunk.segment.number == segment && chunk.start <= offset
            && offset < chunk.start + UInt64(chunk.bytes.count)
        {
            return chunk.bytes.withUnsafeBytes {
                LogWriter.rows(ofFrameAt: Int(offset - chunk.start), in: $0)
            }
        }
        return nil
    }
}
