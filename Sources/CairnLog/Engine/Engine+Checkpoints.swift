// Decides when checkpoints are taken: by volume of the log while it is written, and at close.

import CairnFormat
package import CairnStore
import Synchronization

/// What is known about the newest checkpoint.
struct CheckpointProgress: Sendable {
    /// Where the log ended in its state.
    var lsn: UInt64
    /// How much was written up to there since the store was opened; see `Engine.volume(at:)`.
    var volume: UInt64
    var bytes: UInt64
    var isScheduled = false
    /// Set once the store has turned out to be too large for a checkpoint: it is opened from its log, and another attempt would
    /// write as much in vain.
    var isTooLarge = false
}

extension Engine {
    /// Schedules loading of the checkpoint parts that no request has needed: a writer needs them, whole, before
    /// the log continues in another segment, and requests need them after so many others.
    func scheduleLoading(wholly: Bool) {
        guard let image, image.isToBeLoaded(wholly: wholly) else { return }
        housekeeper.schedule(after: wholly ? 1 : 0) { [link] in
            link.engine?.image?.loadAhead(wholly: wholly)
        }
    }

    /// Schedules a checkpoint if enough was written since the last one.
    func scheduleCheckpoint() {
        let written = volume(at: queue.progress.written)
        let isDue = checkpoint.withLock { checkpoint in
            guard !checkpoint.isScheduled, !checkpoint.isTooLarge, written > checkpoint.volume,
                written - checkpoint.volume >= max(sizes.checkpointBytes, 2 * checkpoint.bytes)
            else { return false }
            checkpoint.isScheduled = true
            return true
        }
        guard isDue else { return }
        housekeeper.schedule(after: 0) { [link] in
            guard let engine = link.engine else { return }
            // Without one, opening only takes longer.
            try? engine.takeCheckpoint()
            engine.checkpoint.withLock { $0.isScheduled = false }
        }
    }

    /// Takes a checkpoint if opening had to build fetch indexes, so that the next opening need not. Only for
    /// callers that specify the fetch indexes: others would take over from the checkpoint the indexes that an
    /// app has in addition to those of the stored model.
    func keepBuiltIndexes() {
        guard !isReadOnly, sizes.checkpointBytes != .max,
            lacksFetchIndexes.exchange(false, ordering: .relaxed)
        else { return }
        do {
            if registry.read({ $0.commitEnd.lsn }) <= checkpoint.withLock({ $0.lsn }) {
                // A second checkpoint of the same state would have to replace the first.
                _ = try commit(author: nil, contextName: nil, isSilent: true) { builder in
                    builder.hasChanges = true
                }
            }
            try takeCheckpoint()
        } catch {
            // Without one, opening only takes longer.
        }
    }

    /// Writes the published state as a checkpoint, concurrently with readers and writers. Does nothing if
    /// there is already one of this state: to rewrite it, it would have to be removed first (FS2).
    package func takeCheckpoint() throws(StoreError) {
        // CK2: the content of a checkpoint is durable first.
        try synchronize()
        // One at a time: each removes all others.
        try inFolder { () throws(StoreError) in
            let pin = registry.pin()
            try withExtendedLifetime(pin) { () throws(StoreError) in
                guard pin.state.commitEnd.lsn <= queue.durable,
                    pin.state.commitEnd.lsn > checkpoint.withLock({ $0.lsn })
                else { return }
                try write(pin.state)
            }
        }
    }

    /// Takes a checkpoint at close if opening would have much to read without it. The log is durable.
    func checkpointAtClose(_ state: EngineState) {
        try? inFolder { () throws(StoreError) in
            let last = checkpoint.withLock { $0 }
            guard state.commitEnd.lsn > last.lsn,
                volume(at: state.commitEnd.lsn) - last.volume
                    > max(sizes.closingCheckpointBytes, last.bytes / 8)
            else { return }
            try write(state)
        }
    }

    /// The checkpoints that are currently kept.
    var checkpointShelf: CheckpointShelf {
        var shelf = CheckpointShelf(files: files, storeID: storeID)
        for upkeep in upkeeps { upkeep.keepCheckpoints(self, on: &shelf) }
        return shelf
    }

    private func write(_ state: EngineState) throws(StoreError) {
        if checkpoint.withLock({ $0.isTooLarge }) { return }
        // Another process may be writing one, or have written one of a later state.
        guard try files.begin(.checkpoints) else { return }
        defer { files.end(.checkpoints) }
        let commits =
            files.hasOtherWriters ? (try? CheckpointReader.commits(in: files)) ?? [] : []
        if commits.contains(where: { $0 > state.commit }) { return }
        if commits.contains(state.commit) {
            // To rewrite it, it would have to be removed first (FS2).
            return checkpoint.withLock { $0.lsn = max($0.lsn, state.commitEnd.lsn) }
        }
        // Parts that could not be read are empty: a checkpoint with those would be trusted.
        image?.loadWhole()
        try image?.repair()
        // What is adopted in the meantime counts as part of it: the next one is due a little later then.
        let volume = volume(at: state.commitEnd.lsn)
        let bytes = try CheckpointWriter.write(
            state, storeID: storeID, files: files,
            lastSegment: lastSegment.load(ordering: .relaxed), shelf: checkpointShelf,
            mostContents: sizes.checkpointContentsBytes)
        guard let bytes else {
            return checkpoint.withLock {
                $0.isTooLarge = true
                $0.bytes = 0
            }
        }
        writes.addCheckpoint(bytes)
        checkpoint.withLock {
            $0.lsn = state.commitEnd.lsn
            $0.volume = volume
            $0.bytes = bytes
        }
    }
}
