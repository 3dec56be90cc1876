// Writes metadata to the log.                                                         Format 75
//
//   1. Who sets them says so here: the next save writes them, in its commit.
//   2. The first time a segment is begun whose header says that there may be metadata (F-755): a version that knows none
//      may read the store from then on, and does not write to it, as it would lose them.
//   3. The commit has a metadata frame, and its state has them, in the catalog.
//
// Invariants: a save that fails leaves them waiting. Of two that set them at once the last one wins.
// Threads: any.

package import CairnFormat
package import CairnModel
package import CairnStore
package import FoundationEssentials

extension Engine {
    /// The metadata as last set.
    package func currentMetadata() -> (values: [String: Value], identifier: UUID) {
        // In this order: what waits no more is in the state.
        let pending = tools.metadata.waiting
        let stored = registry.read { $0.catalog.metadata }
        let override = pending.map(\.identifier) ?? stored?.identifier
        return (pending?.values ?? stored?.values ?? [:], override ?? storeID.uuid)
    }

    /// Lets the next save write metadata.
    ///
    /// - Parameter identifier: what the store is to be called by; nil: as before.
    /// - Returns: Which setting it was, and what waited before.
    @discardableResult
    package func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError)
        -> (turn: UInt64, before: PendingMetadata?)
    {
        if isReadOnly { throw StoreError(.readOnly, "the store is open for reading only") }
        var values = values
        for (key, value) in values {
            if case .null = value { values[key] = nil }
            if case .objectID = value {
                throw StoreError(
                    .invalidRequest, "an object id cannot be a value of a store's metadata",
                    context: .init(key: key))
            }
        }
        let wanted = values
        return try tools.metadata.set { before throws(StoreError) in
            let stored = registry.read { $0.catalog.metadata }
            let override = identifier ?? (before.map(\.identifier) ?? stored?.identifier)
            let name = override == storeID.uuid ? nil : override
            // What does not fit would make every save fail, and what cannot be read every opening.
            try MetadataDocument.check(wanted, identifier: name)
            return PendingMetadata(values: wanted, identifier: name)
        }
    }

    /// A commit of a save, with the metadata that wait for one.
    ///
    /// - Parameter isSilent: whether it changes no object, so that nobody is told.
    func commitSave<R>(
        author: String?, contextName: String?, isSilent: Bool = false,
        _ body: (inout CommitBuilder) throws(StoreError) -> R
    ) throws(StoreError) -> (R, UInt64?) {
        // Before the commit, as it may need a new segment.
        let isWaiting = tools.metadata.isWaiting
        if isWaiting { try allowMetadata() }
        var written: UInt64?
        let result = try commit(author: author, contextName: contextName, isSilent: isSilent) {
            builder throws(StoreError) in
            let result = try body(&builder)
            // Here, where nobody else commits: what was set before another save has ended is not to come after it.
            if isWaiting, let pending = tools.metadata.waiting {
                try builder.write(pending)
                written = pending.turn
            }
            return result
        }
        if let written { tools.metadata.endWaiting(written) }
        return result
    }

    /// Writes the metadata that wait, in a commit of their own; nothing is done if there are none.
    package func writeMetadata() throws(StoreError) {
        _ = try commitSave(author: nil, contextName: nil, isSilent: true) { _ throws(StoreError) in
        }
    }

    /// Begins a segment that says that metadata may be in it, and in all after it, unless the newest one does.
    package func allowMetadata() throws(StoreError) {
        try withLease { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            if turn.segments.current.header.flags.allowsMetadata { return }
            try beginSegment(&turn, adding: .metadata)
        }
    }
}

extension CommitBuilder {
    /// Makes metadata those in force, unless they are that already.
    mutating func write(_ pending: PendingMetadata) throws(StoreError) {
        let before = catalog.metadata
        if let before {
            if before.values == pending.values, before.identifier == pending.identifier { return }
        } else if pending.values.isEmpty, pending.identifier == nil {
            return
        }
        try write(
            pending.values, identifier: pending.identifier, history: before?.history,
            asOf: before?.asOf)
    }

    /// Makes metadata those in force. If they are too long, with all that is held for past states, the oldest of those are given
    /// up: a commit does not fail for them.
    package mutating func write(
        _ values: [String: Value], identifier: UUID?, history: HistorySettings?,
        asOf: AsOfSettings?
    ) throws(StoreError) {
        let revision = (catalog.metadata?.revision ?? 0) + 1
        guard revision < MetadataPayload.endOfRevisions else {
            throw StoreError(.invalidRequest, "the metadata has been written too often")
        }
        func metadata(_ settings: AsOfSettings?) -> StoredMetadata {
            StoredMetadata(
                place: .none, revision: revision, identifier: identifier, values: values,
                history: history, asOf: settings)
        }
        var written = metadata(asOf)
        var json = try written.json()
        while json.count > MetadataPayload.maximumDocument, var settings = written.asOf {
            let gone = settings.giveUp(bytes: json.count - MetadataPayload.maximumDocument)
            if gone.isEmpty { break }
            tools.retired.noteRelease(of: gone, lsn: .max)
            written = metadata(settings)
            json = try written.json()
        }
        state.catalog = catalog.with(written.placed(at: try log.append(written, json)))
        hasChanges = true
    }
}
