// Writes metadata to the log.                                                         Format 75
//
//   1. Metadata that are set are pending at first: the next save writes them in its commit.
//   2. The first time, a segment is started whose header declares that there may be metadata (F-755): from
//      then on, a version without support for them may read the store, but does not write to it, as it would
//      lose them.
//   3. The commit has a metadata frame, and its state has them, in the catalog.
//
// Invariants: a failed save leaves them pending. If they are set twice at the same time, the last one wins.
// Threads: any.

package import CairnFormat
package import CairnModel
package import CairnStore
package import FoundationEssentials

extension Engine {
    /// The metadata as last set.
    package func currentMetadata() -> (values: [String: Value], identifier: UUID) {
        // In this order: metadata that are no longer pending are in the state.
        let pending = tools.metadata.waiting
        let stored = registry.read { $0.catalog.metadata }
        let override = pending.map(\.identifier) ?? stored?.identifier
        return (pending?.values ?? stored?.values ?? [:], override ?? storeID.uuid)
    }

    /// Sets metadata for the next save to write.
    ///
    /// - Parameter identifier: the store's new identifier; nil: no change.
    /// - Returns: The number of this setting, and what was pending before.
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
            // Metadata that do not fit would make every save fail, and metadata that cannot be read, every
            // opening.
            try MetadataDocument.check(wanted, identifier: name)
            return PendingMetadata(values: wanted, identifier: name)
        }
    }

    /// Commits a save, together with pending metadata.
    ///
    /// - Parameter isSilent: whether it changes no object, so that observers are not notified.
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
            // Read here, where no other thread commits: otherwise metadata could be written after newer ones
            // of another save.
            if isWaiting, let pending = tools.metadata.waiting {
                try builder.write(pending)
                written = pending.turn
            }
            return result
        }
        if let written { tools.metadata.endWaiting(written) }
        return result
    }

    /// Writes pending metadata in their own commit; does nothing if there are none.
    package func writeMetadata() throws(StoreError) {
        _ = try commitSave(author: nil, contextName: nil, isSilent: true) { _ throws(StoreError) in
        }
    }

    /// Starts a segment that declares that it and all later ones may contain metadata, unless the newest one
    /// does.
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
    /// Writes pending metadata, unless they equal those in force.
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

    /// Writes metadata, which are in force from then on. If they are too long, including all that is held for
    /// past states, the oldest of those are given up: a commit does not fail because of them.
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
