// How metadata get into the log.                                                      Format 75
//
//   1. Who sets them says so here: the next save writes them, in its commit.
//   2. The first time a segment is begun whose header says that there may be metadata (F-755): a version that knows none
//      may read the store from then on, and does not write to it, as it would lose them.
//   3. The commit has a metadata frame, and its state has them, in the catalog.
//
// Invariants: a save that fails leaves them waiting. Of two that set them at once the last one wins.
// Threads: any.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials
import Synchronization

/// Metadata that wait to be written.
struct PendingMetadata: Sendable {
    var values: [String: Value]
    /// What the store is to be called by when it is opened the next time; nil: by its store id.
    var identifier: UUID?
    /// Which setting it was.
    var turn = 0
}

extension Engine {
    /// The metadata as they were set last.
    func currentMetadata() -> (values: [String: Value], identifier: UUID) {
        let stored = registry.read { $0.catalog.metadata }
        let pending = pendingMetadata.withLock { $0 }
        let override = pending.map(\.identifier) ?? stored?.identifier
        return (pending?.values ?? stored?.values ?? [:], override ?? storeID.uuid)
    }

    /// Lets the next save write metadata.
    ///
    /// - Parameter identifier: what the store is to be called by; nil: as before.
    func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError) {
        if isReadOnly { throw StoreError(.readOnly, "the store is opened for reading only") }
        var values = values
        for (key, value) in values {
            if case .null = value { values[key] = nil }
            if case .objectID = value {
                throw StoreError(
                    .invalidRequest, "an object id is no value of a store's metadata",
                    context: .init(key: key))
            }
        }
        // What does not fit would make every save fail.
        _ = try MetadataDocument.encode(values, identifier: identifier)
        let stored = registry.read { $0.catalog.metadata }
        pendingMetadata.withLock { pending in
            let override = identifier ?? (pending.map(\.identifier) ?? stored?.identifier)
            pending = PendingMetadata(
                values: values, identifier: override == storeID.uuid ? nil : override,
                turn: (pending?.turn ?? 0) &+ 1)
            hasPendingMetadata.store(true, ordering: .relaxed)
        }
    }

    /// A commit of a save, with the metadata that wait for one.
    ///
    /// - Parameter isSilent: whether it changes no object, so that nobody is told.
    func commitSave<R>(
        author: String?, contextName: String?, isSilent: Bool = false,
        _ body: (inout CommitBuilder) throws(StoreError) -> R
    ) throws(StoreError) -> (R, UInt64?) {
        guard hasPendingMetadata.load(ordering: .relaxed),
            let pending = pendingMetadata.withLock({ $0 })
        else {
            return try commit(
                author: author, contextName: contextName, isSilent: isSilent, body)
        }
        try allowMetadata()
        let result = try commit(author: author, contextName: contextName, isSilent: isSilent) {
            builder throws(StoreError) in
            let result = try body(&builder)
            try builder.write(pending)
            return result
        }
        pendingMetadata.withLock { waiting in
            guard waiting?.turn == pending.turn else { return }
            waiting = nil
            hasPendingMetadata.store(false, ordering: .relaxed)
        }
        return result
    }

    /// Writes the metadata that wait, in a commit of their own; nothing is done if there are none.
    func writeMetadata() throws(StoreError) {
        _ = try commitSave(author: nil, contextName: nil, isSilent: true) { _ throws(StoreError) in
        }
    }

    /// Begins a segment that says that metadata may be in it, and in all after it, unless the newest one does.
    func allowMetadata() throws(StoreError) {
        try withTurn { turn throws(StoreError) in
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
        let metadata = StoredMetadata(
            place: .none, revision: (before?.revision ?? 0) + 1, identifier: pending.identifier,
            values: pending.values)
        state.catalog = catalog.with(metadata.placed(at: try log.append(metadata)))
        hasChanges = true
    }
}
