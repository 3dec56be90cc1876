// Commits that are sealed and not yet published: written, synced and published in order.
//
//   seal     the holder of the turn appends a commit's frames and its state
//   lead     one thread at a time takes all that is sealed: one write, one sync if any of them is to be
//            durable at its return, and then each is published
//   await    a committer leads if nobody does, else it waits until its commit is published or has failed
//
// So committers who come while a sync is under way share the next one. Nothing changes its thread: the leader
// is one of the committers. A commit that needs no sync goes past the queue if nothing is in it and nobody else
// wants the turn: its holder writes and publishes.
//
// A failure leaves the queue broken: nobody leads and nothing more is sealed until the holder of the turn has
// cut the log back (`takeFailure`, `finishFailure`), because a commit that is being made stands on states that
// will never be. What was sealed meanwhile fails too.
//
// Invariants: publication is in the order of commits (CM1); bytes that are sealed and not written are kept
// here, since commits that are being made may read them.
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
    /// A failure of writing or syncing, with all that fails with it.
    struct Failure: Sendable {
        let error: StoreError
        /// Whether nothing is known of the disk any more.
        let isFinal: Bool
        let commits: [SealedCommit]
    }

    fileprivate struct Contents {
        var waiting: [SealedCommit] = []
        var waitingChunks: [LogChunk] = []
        var waitingBytes = 0
        var written: [LogChunk] = []
        var isLeading = false
        /// How long the last sync took.
        var syncSeconds = 0.0
        var failure: Failure?
        /// Where what is written and published ends.
        var end: LogEnd
        /// The LSN below which the log is durable.
        var durable: UInt64
        /// Why nothing is written any more.
        var cause: StoreError?
        /// A state that nobody has any more, for the memory of the next one.
        var spare: HeldState<EngineState>?
    }

    private let contents: Monitor<Contents>
    private let disk: CommitDisk
    private let registry: StateRegistry<EngineState>
    /// Who is told of what is published.
    private let changes: CommitFeed
    /// Threads that have the turn or wait for it.
    let committers = Atomic<Int>(0)
    /// How many commits are likely to share the next sync.
    private let sharers = Atomic<Int>(0)

    /// What a group may hold before its committers are made to wait.
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

    /// Why nothing is written any more; nil if all is well.
    var cause: StoreError? { contents.withLock { $0.cause } }

    /// What the holder of the turn must know before it makes a commit, in one glance.
    struct Outlook {
        /// Whether nothing has failed and a commit more may wait.
        let isClear: Bool
        /// The LSNs below which the log is written and published, and durable.
        let written: UInt64
        let durable: UInt64
    }

    /// What a commit that is about to be made has to know, and a state for its memory if there is one and none is known.
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

    /// How many commits are sealed and not yet taken to be written.
    var waitingCount: Int { contents.withLock { $0.waiting.count } }

    // MARK: Sealing

    /// Takes over a commit from the holder of the turn; false if the queue is broken.
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

    /// Whether a commit may go past the queue: nothing is in it, and nothing has failed. It stays so while the caller
    /// has the turn, unless something fails.
    var isIdle: Bool {
        contents.withLock {
            !$0.isLeading && $0.waiting.isEmpty && $0.failure == nil && $0.cause == nil
        }
    }

    /// Publishes a commit that went past the queue and is written. The caller has the turn.
    /// Gives the state published before if it has no reader.
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

    /// Whether as much is sealed as a group may hold: the next commit is to wait.
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

    /// Waits until a commit is published, leading if nobody does. The caller does not have the turn.
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

    /// Publishes all that is sealed; false if the queue is broken. The caller has the turn.
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

    /// Writes, syncs and publishes all that is sealed; false if that failed.
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
            // Who is gone is waited for a few times at most.
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
            // Those of the group are still in it.
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

    /// Whether nobody else has a state that was published once. Then it keeps nothing but its memory.
    func empty(_ held: inout HeldState<EngineState>?) -> Bool {
        guard registry.isUnused(&held) else { return false }
        held?.forgetSegments()
        return true
    }

    /// Gives others who are about to seal a moment, so that they share the sync: those who have the turn or wait for
    /// it, and as many as shared the syncs before, since whoever led is back sooner than those whom it wakes.
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

    /// How long a leader waits for those who shared the syncs before, at most: for longer than half of what a sync
    /// takes it would not pay.
    private static let mostSeconds = 50e-6

    // MARK: Failing

    private func fail(_ commits: [SealedCommit], _ error: StoreError, isFinal: Bool) {
        contents.update { contents in
            contents.failure = Failure(
                error: error, isFinal: isFinal, commits: commits + contents.waiting)
            contents.waiting = []
        }
    }

    /// What failed, for the holder of the turn, who is to undo it and call `finishFailure`.
    func currentFailure() -> (failure: Failure, end: LogEnd)? {
        contents.withLock { contents in contents.failure.map { ($0, contents.end) } }
    }

    /// Ends a failure that was undone, or that nothing can be undone of: then nothing is written any more.
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

    /// Says that nothing can be written any more.
    package func poison(_ cause: StoreError) {
        contents.update { if $0.cause == nil { $0.cause = cause } }
    }

    // MARK: The holder of the turn, when nothing is sealed

    /// Says that what is published is durable below an LSN.
    func advance(durable: UInt64) {
        contents.update { $0.durable = max($0.durable, durable) }
    }

    /// Says that the log is durable up to an end, which a frame other than a commit may have moved.
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

    /// True if the caller leads from now on.
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
