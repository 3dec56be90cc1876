import CairnFileSystem
import CairnFormat
import CairnStore

extension Engine {
    func pastBounds() throws(StoreError) -> PastStateBounds? {
        let (settings, last) = registry.read { ($0.catalog.metadata?.asOf, $0.commit) }
        guard let settings else { return nil }
        return PastStateBounds(
            horizon: min(try pastHorizon(settings), last), last: last,
            retention: PastStateRetention(settings), bytes: try heldFileBytes(settings))
    }

    /// The size in bytes of files that are kept only for past states.
    private func heldFileBytes(_ settings: AsOfSettings) throws(StoreError) -> UInt64 {
        if !isReadOnly { return heldBytes }
        var bytes: UInt64 = 0
        for held in settings.held {
            if let file = try? files.fileSystem.open(files.path(held.segment), .read) {
                bytes += (try? file.size()) ?? 0
            }
        }
        return bytes
    }

    /// Pins the state after a commit.
    func pinPast(_ number: UInt64) throws(StoreError) -> PinnedState<EngineState> {
        let pin = registry.pin()
        if pin.epoch == number { return pin }
        guard let settings = pin.state.catalog.metadata?.asOf else { throw StoreError.noPastStates }
        try Self.checkPast(number, from: settings.horizon, to: pin.epoch)
        do throws(StoreError) {
            return try past.pin(number, self) { () throws(StoreError) in
                try Self.checkPast(number, from: try pastHorizon(settings), to: pin.epoch)
            }
        } catch {
            guard error.code == .damaged else { throw error }
            // A writer may have released it in the meantime, here or in another process.
            if isReadOnly {
                _ = try? refreshUntold()
                changes.deliverElsewhere()
            }
            let (now, last) = registry.read { ($0.catalog.metadata?.asOf, $0.commit) }
            guard let now else { throw StoreError.noPastStates }
            try Self.checkPast(number, from: try pastHorizon(now), to: last)
            throw error
        }
    }

    private static func checkPast(_ number: UInt64, from horizon: UInt64, to last: UInt64)
        throws(StoreError)
    {
        if number > last {
            throw StoreError(
                .pastStateUnavailable,
                "commit \(number) does not exist yet: the last one is \(last)")
        }
        if number < horizon {
            throw StoreError(
                .pastStateUnavailable,
                "the state after commit \(number) is not kept: the earliest one is after commit \(horizon)"
            )
        }
    }

    // MARK: Moments

    /// Returns the last commit up to a moment, whose state is kept.
    func pastCommit(at time: Double) throws(StoreError) -> UInt64 {
        let pin = registry.pin()
        guard let settings = pin.state.catalog.metadata?.asOf else { throw StoreError.noPastStates }
        let horizon = try pastHorizon(settings)
        var search = SegmentSearch(files)
        let found = try search.run()
        // Earlier commits have earlier clock times: a commit later than the moment ends the search.
        let mains = found.whole.values.filter { $0.segment.header.kind == .main }
            .sorted { $0.segment.number < $1.segment.number }
        let ends = Dictionary(
            mains.map { ($0.segment.header.predecessor, $0.segment.header.predecessorEnd) },
            uniquingKeysWith: { _, last in last })
        var commit: UInt64 = 0
        for main in mains.reversed() where main.segment.header.created <= time {
            commit = main.segment.header.commit
            var scanner = try FrameScanner(
                main.segment, chain: main.chain, storeTag: storeID.tag,
                end: ends[main.segment.number])
            while let (header, payload) = try scanner.next() {
                guard header.kind == .commit, header.commit <= pin.epoch else { continue }
                guard let record = try? CommitPayload(decoding: payload), record.time <= time else {
                    break
                }
                commit = header.commit
            }
            break
        }
        guard commit >= horizon else {
            throw StoreError(
                .pastStateUnavailable,
                "the state at that time is not kept: the earliest one is after commit \(horizon)"
            )
        }
        return min(commit, pin.epoch)
    }
}
