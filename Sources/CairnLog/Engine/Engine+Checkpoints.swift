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
}

extension Engine {
    /// Lets the parts of the checkpoint be loaded that nobody has asked for: who writes needs them before the log goes
    /// on to another segment.
    func scheduleLoading() {
        guard let image, image.isToBeLoaded() else { return }
        housekeeper.schedule(after: 1) { [link] in link.engine?.image?.loadAll() }
    }

    /// Lets a checkpoint be taken if enough was written since the last one.
    func scheduleCheckpoint() {
        let written = volume(at: queue.progress.written)
        let isDue = checkpoint.withLock { checkpoint in
            guard !checkpoint.isScheduled, written > checkpoint.volume,
                written - checkpoint.volume >= max(sizes.checkpointBytes, 2 * checkpoint.bytes)
            else { return false }
            checkpoint.isScheduled = true
            return true
        }
        guard isDue else { return }
        housekeeper.schedule(after: 0) { [link] in
            guard let engine = link.engine else { return }
            // Without one, opening takes longer: that is all.
            try? engine.takeCheckpoint()
            engine.checkpoint.withLock { $0.isScheduled = false }
        }
    }

    /// Takes a checkpoint if opening had to build fetch indexes, so that the next one need not. Only for who says which there
    /// are to be: others would take from the checkpoint what an app has beside those of the stored model.
    func keepBuiltIndexes() {
        guard !isReadOnly, sizes.checkpointBytes != .max,
            lacksFetchIndexes.exchange(false, ordering: .relaxed)
        else { return }
        do {
            if registry.read({ $0.commitEnd.lsn }) <= checkpoint.withLock({ $0.lsn }) {
                // One of the same state would have to take the place of the other.
                _ = try commit(author: nil, contextName: nil, isSilent: true) { builder in
                    builder.hasChanges = true
                }
            }
            try takeCheckpoint()
        } catch {
            // Without one, opening takes longer: that is all.
        }
    }

    /// Writes the published state as a checkpoint, while others read and write. If there is one of this state
    /// already nothing is done: to write it again it would have to go first (FS2).
    package func takeCheckpoint() throws(StoreError) {
        // CK2: what a checkpoint holds is durable before.
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

    /// Takes a checkpoint at close if opening would have much to read without. The log is durable.
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

    /// Which checkpoints stay, as things are now.
    var checkpointShelf: CheckpointShelf {
        var shelf = CheckpointShelf(files: files, storeID: storeID)
        for upkeep in upkeeps { upkeep.keepCheckpoints(self, on: &shelf) }
        return shelf
    }

    private func write(_ state: EngineState) throws(StoreError) {
        // Another process may be at it, or have written one of a later state.
        guard try files.begin(.checkpoints) else { return }
        defer { files.end(.checkpoints) }
        let commits =
            files.hasOtherWriters ? (try? CheckpointReader.commits(in: files)) ?? [] : []
        if commits.contains(where: { $0 > state.commit }) { return }
        if commits.contains(state.commit) {
            // To write it again it would have to go first (FS2).
            return checkpoint.withLock { $0.lsn = max($0.lsn, state.commitEnd.lsn) }
        }
        // Parts that could not be read are empty: a checkpoint with those would be believed.
        image?.loadWhole()
        try image?.repair()
        // What is adopted meanwhile counts as a part of it: then the next one is due a little later.
        let volume = volume(at: state.commitEnd.lsn)
        let bytes = try CheckpointWriter.write(
            state, storeID: storeID, files: files,
            lastSegment: lastSegment.load(ordering: .relaxed), shelf: checkpointShelf)
        writes.addCheckpoint(bytes)
        checkpoint.withLock {
            $0.lsn = state.commitEnd.lsn
            $0.volume = volume
            $0.bytes = bytes
        }
    }
}
