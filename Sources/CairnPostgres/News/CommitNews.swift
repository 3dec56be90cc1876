// Reports all commits, of any origin and in order, to the observers of a store.
//
//   1. A commit of this store is noted in the lock that it ends in. If it is the next one it waits to be told; else others have
//      committed before it, and it is put aside.
//   2. What others have committed is read from the tables of the history, in which every commit is written: by the thread that
//      has committed where something is put aside, and by a thread of its own (NewsReader) as long as anybody observes.
//   3. A store that keeps no history keeps its last some thousand commits for this. Who has not read for longer is told that
//      anything may have changed.
//
// Invariants: sets are posted in the order of commits; nothing is read from the network under a lock.
// Threads: any.

import CairnLog
import CairnStore
import Synchronization

final class CommitNews: Sendable {
    private struct State {
        /// Everything up to this commit has been delivered, or was committed before the store was observed.
        var told: UInt64 = 0
        /// Commits of this store that others' come before.
        var own: [UInt64: ChangeSet] = [:]
        var isRead = false
    }

    private let core: StoreCore
    private let board = ChangeBoard()
    private let state = Mutex(State())
    private let isClosed = Atomic(false)

    init(_ core: StoreCore) { self.core = core }

    /// Whether somebody wants to know.
    var isWatched: Bool { board.isObserved && !isClosed.load(ordering: .acquiring) }

    /// Has a closure told of every commit from now on.
    func observe(_ receive: @escaping @Sendable (ChangeSet) -> Void) -> ChangeObservation {
        // What has been noted so far is in every state that is asked for from now on.
        state.withLock { state in
            if !board.isObserved { state.told = max(state.told, core.noted) }
        }
        let observation = board.observe(receive)
        beginReading()
        return observation
    }

    /// Ends reading.
    func close() { isClosed.store(true, ordering: .releasing) }

    private func beginReading() {
        guard core.options.looksForNews else { return }
        let isToBegin = state.withLock { state in
            defer { state.isRead = true }
            return !state.isRead
        }
        guard isToBegin else { return }
        // Without a thread what others commit is told of when this store commits.
        if !SystemThread.start({ NewsReader(core: self.core, news: self).run() }) {
            state.withLock { $0.isRead = false }
        }
    }

    /// Whether the thread that reads may end: nobody wants to know any more.
    func endsReading() -> Bool {
        state.withLock { state in
            if isWatched { return false }
            state.isRead = false
            return true
        }
    }

    // MARK: Commits of this store

    /// Notes a commit of this store. The caller holds `core.committing` since before it was committed.
    func note(_ set: ChangeSet) {
        core.note(set.commit)
        state.withLock { state in
            guard board.isObserved else {
                state.told = max(state.told, set.commit)
                state.own = [:]
                return
            }
            if set.commit <= state.told { return }
            if set.commit == state.told + 1 {
                board.post(set)
                state.told = set.commit
            } else {
                state.own[set.commit] = set
            }
        }
    }

    /// Tells what was noted, and what others have committed before it. The caller has nothing locked.
    func deliver() {
        // What cannot be read now is told by the thread that reads.
        if state.withLock({ !$0.own.isEmpty }) {
            _ = try? catchUp { questions throws(StoreError) in
                try core.ask(questions, inOneState: true)
            }
        }
        board.deliver()
    }

    // MARK: Commits of others

    /// Reads what is committed, and posts it; whether there was anything to post.
    ///
    /// Who reads and finds nothing leaves telling to those who have committed here: they are told when their commit returns.
    func catchUp(
        _ ask: ([Statement]) throws(StoreError) -> [PostgresResult]
    ) throws(StoreError) -> Bool {
        var hasPosted = false
        while true {
            let page = HistoryPage(core: core, number: state.withLock { $0.told })
            let answer = try page.answer(try ask(page.questions))
            core.note(answer.lastCommit)
            // A commit of this store that was read is noted once the lock it ended in is free.
            core.committing.withLock { _ in }
            if state.withLock({ post(answer, &$0) }) { hasPosted = true }
            if !answer.isFull || !board.isObserved { return hasPosted }
        }
    }

    private func post(_ answer: HistoryPage.Answer, _ state: inout State) -> Bool {
        guard board.isObserved else { return false }
        let before = state.told
        if answer.horizon > state.told {
            post(unknown: state.told + 1...answer.horizon, &state)
        }
        for transaction in answer.transactions where transaction.transactionNumber > state.told {
            postOwn(before: transaction.transactionNumber, &state)
            let number = transaction.transactionNumber
            board.post(state.own.removeValue(forKey: number) ?? set(of: transaction))
            state.told = number
        }
        // Commits that changed no object are not in the history.
        if !answer.isFull, answer.lastCommit > state.told {
            postOwn(before: answer.lastCommit + 1, &state)
            state.told = answer.lastCommit
        }
        return state.told > before
    }

    /// Posts commits of this store that changed no object, so that those who wait for a number learn that it is there.
    private func postOwn(before number: UInt64, _ state: inout State) {
        for own in state.own.keys.filter({ $0 < number }).sorted() {
            if let set = state.own.removeValue(forKey: own) { board.post(set) }
        }
    }

    private func post(unknown commits: ClosedRange<UInt64>, _ state: inout State) {
        state.own = state.own.filter { $0.key > commits.upperBound }
        board.post(
            ChangeSet(
                identity: core.identity, commits: commits, author: nil, contextName: nil,
                isFromAnotherProcess: true, source: ForgottenChanges()))
        state.told = commits.upperBound
    }

    private func set(of transaction: PersistentHistoryTransaction) -> ChangeSet {
        let number = transaction.transactionNumber
        return ChangeSet(
            identity: core.identity, commits: number...number, author: transaction.author,
            contextName: transaction.contextName, isFromAnotherProcess: true,
            source: CommittedChanges(StoreChanges(transaction)))
    }
}
