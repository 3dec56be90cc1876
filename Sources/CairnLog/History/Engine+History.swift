// How the history of a store is kept, and its retained range.                                       Format 77
//
// The settings are part of the metadata, in commits of their own: whether commits are recorded; the horizon,
// up to which nothing is retained; and the consumers, which keep the horizon from passing what they have
// seen. From the first such commit on, segments declare that there may be a history, so that no version
// writes that would leave a gap in it.
//
// Invariants: HY2: if commits are recorded, there are changes of each commit after the horizon that changed
// an object. Switching recording off ends the history, as it would have a gap: all retained changes are
// deleted, and so are the consumers.
// Threads: any.

package import CairnFormat
package import CairnStore
import Synchronization

extension Engine {
    /// The history settings of the published state; nil if it never had a history.
    var historySettings: HistorySettings? {
        registry.read { $0.catalog.metadata?.history }
    }

    /// Whether commits are recorded.
    var tracksHistory: Bool { registry.read { $0.catalog.tracksHistory } }

    /// Starts or stops recording commits.
    func setHistoryTracking(_ isWanted: Bool) throws(StoreError) {
        // An engine that only reads leaves no gap.
        guard !isReadOnly, tracksHistory != isWanted else { return }
        if isWanted { try allowHistory() }
        _ = try changeHistory { settings, number in
            guard settings?.isTracked ?? false != isWanted else { return }
            settings = HistorySettings(isTracked: isWanted, horizon: number)
        }
    }

    /// Deletes the history up to a commit, as far as all consumers have seen it; returns the number of
    /// deleted transactions.
    func deleteHistory(through number: UInt64) throws(StoreError) -> Int {
        try changeHistory { settings, now throws(StoreError) in
            guard var changed = settings, changed.isTracked else { throw StoreError.noHistory }
            // A horizon beyond the last commit would delete the changes of future commits.
            let last = min(number, now - 1)
            changed.horizon = max(
                changed.horizon, min(last, changed.consumers.values.min() ?? last))
            settings = changed
        }
    }

    /// Records how far a consumer has seen the history; nil: removes the consumer.
    func setHistoryConsumer(_ name: String, seen number: UInt64?, mustExist: Bool)
        throws(StoreError)
    {
        guard name.utf8.count <= CommitPayload.maximumText else {
            throw StoreError(
                .invalidRequest,
                "the consumer's name has more than \(CommitPayload.maximumText) bytes")
        }
        _ = try changeHistory { settings, now throws(StoreError) in
            guard var changed = settings, changed.isTracked else { throw StoreError.noHistory }
            let known = changed.consumers[name]
            if mustExist, known == nil { throw StoreError.noSuchConsumer }
            if let number, number >= now { throw StoreError.unseenCommit }
            changed.consumers[name] = number.map { max($0, known ?? changed.horizon) }
            settings = changed
        }
    }

    /// Commits other settings; returns how many transactions are no longer retained.
    ///
    /// - Parameter change: receives the number of the commit. If a history is kept, segments declare that
    ///   already.
    private func changeHistory(
        _ change: (inout HistorySettings?, UInt64) throws(StoreError) -> Void
    ) throws(StoreError) -> Int {
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        return try commit(author: nil, contextName: nil, isSilent: true) {
            builder throws(StoreError) in
            var settings = builder.catalog.metadata?.history
            try change(&settings, builder.number)
            return try builder.write(settings)
        }.0
    }

    /// Starts a segment that declares that it and all later ones may contain a history, unless the newest one
    /// does.
    package func allowHistory() throws(StoreError) {
        try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            let flags = turn.segments.current.header.flags
            if flags.allowsMetadata, flags.allowsHistory { return }
            try beginSegment(&turn, adding: .metadata.union(.history))
        }
    }

    // MARK: Reading

    /// Returns a cursor over the transactions after a commit.
    func historyReader(after number: UInt64) throws(StoreError) -> HistoryReader {
        let pin = registry.pin()
        guard let settings = pin.state.catalog.metadata?.history, settings.isTracked else {
            throw StoreError.noHistory
        }
        guard number >= settings.horizon else {
            throw StoreError(
                .historyTokenExpired, "some of the history after the transaction was deleted")
        }
        return HistoryReader(self, pin, after: number)
    }

    /// Returns the newest retained transaction up to a commit, and its time.
    func historyMoment(through number: UInt64) throws(StoreError) -> (
        transaction: UInt64, time: Double
    )? {
        let pin = registry.pin()
        let state = pin.state
        guard state.catalog.tracksHistory,
            let (commit, frame) = state.history.last(through: min(number, state.commit))
        else { return nil }
        // Code that reports a commit calls this right after the commit.
        let recorded = tools.recordedHistory.withLock { $0 }
        if recorded.commit == commit { return (commit, recorded.time) }
        return (commit, try historyHead(commit, frame, state).time)
    }

    /// Returns the newest retained transaction that was written before a moment.
    func historyTransaction(before time: Double) throws(StoreError) -> UInt64? {
        let pin = registry.pin()
        let state = pin.state
        guard state.catalog.tracksHistory else { throw StoreError.noHistory }
        var behind = state.commit
        while let (commit, frame) = state.history.last(through: behind) {
            do throws(StoreError) {
                if try historyHead(commit, frame, state).time < time { return commit }
            } catch {
                // The search continues with older ones: these can be deleted all the same.
                if error.code != .damaged { throw error }
            }
            behind = commit - 1
        }
        return nil
    }

    /// Reads the head of a commit's changes, which precedes their entries.
    private func historyHead(_ commit: UInt64, _ frame: HistoryFrame, _ state: EngineState)
        throws(StoreError) -> ChangesPayload.Head
    {
        guard let segment = state.segments[frame.place.segment] else {
            throw .damaged(
                "the segment of changes is missing (F-779)", segment: frame.place.segment)
        }
        let (header, payload) = try segment.frame(
            at: UInt64(frame.place.byteOffset), storeTag: storeID.tag)
        do throws(FormatError) {
            guard header.kind == .changes else {
                throw FormatError(.malformed, "F-774", "there is a frame of another kind here")
            }
            let head = try ChangesPayload.head(of: payload.bytes)
            guard head.commit == commit, head.part == 0 else {
                throw FormatError(.malformed, "F-775", "these are the changes of another commit")
            }
            return head
        } catch {
            throw StoreError(error, at: frame.place)
        }
    }

    /// Reads everything that is retained in a state, and reports what cannot be read.                     HY1
    func checkHistory(_ pin: PinnedState<EngineState>, _ report: inout StoreCheckReport) {
        guard let settings = pin.state.catalog.metadata?.history else { return }
        let last = max(settings.horizon, settings.consumers.values.max() ?? 0)
        if last > pin.state.commit {
            report.find(
                .damaged(
                    "the history is purged or seen up to commit \(last), which is still to come (F-778)",
                    segment: pin.state.catalog.metadata?.place.segment ?? 0))
        }
        if let first = pin.state.history.next(after: 0), first.commit <= settings.horizon {
            report.find(
                .damaged(
                    "changes of commit \(first.commit) are kept although they were purged (HY1)",
                    segment: first.frame.place.segment))
        }
        let reader = HistoryReader(self, pin, after: 0)
        while true {
            do throws(StoreError) {
                if try reader.next() == nil { return }
            } catch {
                // The reader continues after what cannot be read, unless all of it is gone.
                report.find(error)
                if error.code == .snapshotExpired { return }
            }
        }
    }
}

extension CommitBuilder {
    /// Replaces the history settings, unless they are equal; returns how many transactions are no longer
    /// retained.
    @discardableResult
    package mutating func write(_ settings: HistorySettings?) throws(StoreError) -> Int {
        let before = catalog.metadata
        if settings == before?.history { return 0 }
        try write(
            before?.values ?? [:], identifier: before?.identifier, history: settings,
            asOf: before?.asOf)
        return state.history.drop(through: settings?.horizon ?? number, in: &pages)
    }
}
