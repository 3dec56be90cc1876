// How long past states of a store are kept.                                                       Format 79
//
// The settings are part of the metadata: the oldest commit whose state is kept, the horizon; how it moves on;
// and the segments that were retired after it, whose files stay. Each commit that retires segments lists them
// there, so that every process that opens the store knows why a file is kept.
//
//   1. Keeping past states begins with a segment that declares it (F-797), followed by a commit with the
//      settings: its own state is the first that is kept.
//   2. The horizon moves in a commit of its own, which drops the segments that were retired up to it; when
//      that is durable, their files are removed unless they are still needed.
//
// Invariants: PS1: the files of all segments that were retired after the horizon exist, except in a copy of
// the store. PS2: no file is removed before it is durable that no past state needs it.
// Threads: any.

import CairnFileSystem
import CairnFormat
import CairnStore

extension Engine {
    /// Past states that were read recently.
    var past: PastStates { upkeep() }

    /// How past states are kept; nil if they are not.
    var pastSettings: AsOfSettings? { registry.read { $0.catalog.metadata?.asOf } }

    /// The segments whose files stay for past states.
    var heldSegments: Set<UInt32> { Set(pastSettings?.held.map(\.segment) ?? []) }

    /// The bytes of the files that exist only for past states.
    var heldBytes: UInt64 {
        let held = heldSegments
        return tools.retired.all.reduce(0) { $0 + (held.contains($1.number) ? $1.bytes : 0) }
    }

    /// Starts or stops keeping past states, or changes how they are kept.
    func setPastStates(_ retention: PastStateRetention) throws(StoreError) {
        try retention.check()
        // An engine that only reads removes nothing.
        guard !isReadOnly, retention != PastStateRetention(pastSettings) else { return }
        if retention == .off {
            try changePast { settings, _ in settings = nil }
            return giveBackReleased()
        }
        let isNew = pastSettings == nil
        if isNew { try allowPastStates() }
        try changePast { settings, number in
            var changed = settings ?? AsOfSettings(horizon: number)
            changed.transactions = retention.keptTransactions
            changed.seconds = retention.keptSeconds
            settings = changed
        }
        // Without a checkpoint the first states would be built from the whole log.
        if isNew, sizes.checkpointBytes != .max { try? takeCheckpoint() }
    }

    /// Starts a segment that declares that past states are kept, unless the newest one does.
    private func allowPastStates() throws(StoreError) {
        try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            let flags = turn.segments.current.header.flags
            if flags.allowsMetadata, flags.allowsPastStates { return }
            try beginSegment(&turn, adding: .metadata.union(.pastStates))
        }
    }

    // MARK: The horizon

    /// Returns the oldest commit whose state can be read. A copy of the store lacks the files that older
    /// states need.
    func pastHorizon(_ settings: AsOfSettings) throws(StoreError) -> UInt64 {
        if settings.held.isEmpty { return settings.horizon }
        let numbers: Set<UInt32>
        do {
            numbers = Set(try files.segmentNumbers())
        } catch {
            throw StoreError(error)
        }
        let lost = settings.held.filter { !numbers.contains($0.segment) }.map(\.commit).max()
        return max(settings.horizon, lost ?? 0)
    }

    /// Moves the horizon to a commit, or as far as the retention allows if that releases a segment; then
    /// releases it.
    func releasePast(before number: UInt64? = nil) throws(StoreError) {
        guard !isReadOnly, let settings = pastSettings else { return }
        let now = clock.now()
        if number == nil {
            let last = registry.read { $0.commit }
            let horizon = max(
                settings.horizon(last: last, now: now), try pastHorizon(settings))
            guard settings.held.contains(where: { $0.commit <= horizon }) else { return }
        }
        let lost = try pastHorizon(settings)
        try changePast { settings, commit in
            guard var changed = settings else { return }
            let wanted = number ?? changed.horizon(last: commit - 1, now: now)
            changed.horizon = max(changed.horizon, min(max(wanted, lost), commit - 1))
            changed.held.removeAll { $0.commit <= changed.horizon }
            settings = changed
        }
    }

    /// Commits other settings. Segments that it releases are removed when it is durable.
    ///
    /// - Parameter change: receives the number of the commit.
    private func changePast(_ change: (inout AsOfSettings?, UInt64) -> Void) throws(StoreError) {
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        var gone: Set<UInt32> = []
        do throws(StoreError) {
            _ = try commit(author: nil, contextName: nil, isSilent: true) {
                builder throws(StoreError) in
                let before = builder.catalog.metadata
                var settings = before?.asOf
                change(&settings, builder.number)
                guard settings != before?.asOf else { return }
                gone = Set(before?.asOf?.held.map(\.segment) ?? [])
                gone.subtract(settings?.held.map(\.segment) ?? [])
                // Before the commit is published, so that no thread removes its files before it is durable.
                tools.retired.noteRelease(of: gone, lsn: .max)
                try builder.write(
                    before?.values ?? [:], identifier: before?.identifier,
                    history: before?.history, asOf: settings)
            }
        } catch {
            tools.retired.noteRelease(of: gone, lsn: 0)
            throw error
        }
        // The commit ends here at the latest.
        let (end, horizon) = registry.read {
            ($0.end.lsn, $0.catalog.metadata?.asOf?.horizon)
        }
        tools.retired.noteRelease(of: gone, lsn: end)
        past.removeAll(before: horizon ?? .max)
        try? inFolder { () throws(StoreError) in
            // Here, where no other thread takes a checkpoint: there is none of a later commit.
            checkpointShelf.prune(upTo: registry.read { $0.commit })
        }
    }

    /// Finds out which commits that release segments are published: their end is not after that of the log.
    func settleReleases() {
        let (end, settings) = registry.read { ($0.end.lsn, $0.catalog.metadata?.asOf) }
        tools.retired.settleReleases(end: end, held: Set(settings?.held.map(\.segment) ?? []))
    }

    // MARK: Checking

    /// Reports contradictions in the settings.                                                   F-792, F-793
    func checkPast(_ state: EngineState, _ report: inout StoreCheckReport) {
        guard let metadata = state.catalog.metadata, let settings = metadata.asOf else { return }
        let place = metadata.place
        func find(_ message: String) {
            report.find(
                .damaged(message, segment: place.segment, offset: UInt64(place.byteOffset)))
        }
        if settings.horizon > state.commit {
            find(
                "states are kept from commit \(settings.horizon) on, which is still to come (F-792)"
            )
        }
        for held in settings.held {
            if state.segments[held.segment] != nil {
                find("segment \(held.segment) is kept for past states, but is not retired (F-793)")
            }
            if held.commit <= settings.horizon || held.commit > state.commit {
                find(
                    "segment \(held.segment) is kept as retired by commit \(held.commit), which is not behind the horizon (F-793)"
                )
            }
        }
    }
}

extension AsOfSettings {
    /// Returns how far the horizon may move.
    fileprivate func horizon(last: UInt64, now: Double) -> UInt64 {
        if let transactions { return max(horizon, last - min(last, transactions)) }
        guard let seconds else { return horizon }
        let oldest = now - Double(seconds)
        // Only segments that can be released matter.
        return held.reduce(horizon) { Double($1.time) <= oldest ? max($0, $1.commit) : $0 }
    }
}

extension CommitBuilder {
    /// Keeps segments that this commit retires for past states, if those are kept.                      F-793
    mutating func hold(_ retired: Set<UInt32>) throws(StoreError) {
        guard let metadata = catalog.metadata, var settings = metadata.asOf else { return }
        let most = Double(AsOfSettings.limit / 2)
        let time = Int64(max(-most, min(most, tools.clock.now().rounded(.up))))
        for number in retired {
            settings.hold(.init(segment: number, commit: self.number, time: time))
        }
        try write(
            metadata.values, identifier: metadata.identifier, history: metadata.history,
            asOf: settings)
    }
}
