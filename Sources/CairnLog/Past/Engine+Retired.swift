// What happens to the segments that compaction has retired.
//
// A retired segment's file is removed when the commit that retired it is durable, no state of this process
// needs it, and no checkpoint on disk does. Snapshots that together keep too much of them expire, oldest
// first.                                                                                             FS2, ST3
//
// Threads: any.

import CairnFileSystem
import CairnFormat
import CairnStore
import Synchronization

/// Removes the files of segments that are no longer needed.
final class RetirementUpkeep: EngineUpkeep {
    func noteRelease(_ engine: Engine) { engine.scheduleSweep() }

    func didEndLog(_ engine: Engine) { engine.sweepRetired(isClosing: true) }
}

extension Engine {
    /// Schedules the removal of files that were needed only by states that are no longer read.
    func scheduleSweep() {
        guard tools.retired.beginWaitingForSweep() else { return }
        // States are released often: once a second is enough.
        housekeeper.schedule(after: 1) { [link] in
            guard let engine = link.engine else { return }
            engine.tools.retired.endWaitingForSweep()
            engine.sweepRetired()
        }
    }

    /// Removes what was retired and is not kept for past states, and replaces a checkpoint that needs it.
    func giveBackReleased() {
        let lsn = checkpoint.withLock { $0.lsn }
        let isNeeded = unheldRetired.contains { $0.lsn > lsn }
        if isNeeded, sizes.checkpointBytes != .max { try? takeCheckpoint() }
        sweepRetired()
    }

    /// Snapshots, oldest first, with the bytes of retired segments that each keeps from being removed.
    var pinnedSpace: [(snapshot: SnapshotPin, bytes: UInt64)] {
        let all = snapshots.all
            .filter(\.isHeld).sorted { $0.commit < $1.commit }
        let retired = unheldRetired
        return all.map { snapshot in
            let kept = retired.filter { $0.isNeeded(by: snapshot.commit) }
            return (snapshot, kept.reduce(0) { $0 + $1.bytes })
        }
    }

    /// Retired segments except those that are kept for past states, whatever snapshots exist.
    var unheldRetired: [RetiredSegment] {
        let held = heldSegments
        return tools.retired.all.filter { !held.contains($0.number) }
    }

    /// Expires the oldest snapshots while together they keep more than the limit.
    private func expireSnapshots() {
        var snapshots = pinnedSpace.filter { $0.bytes > 0 }[...]
        let retired = unheldRetired
        while let oldest = snapshots.first {
            let kept = retired.reduce(0) { sum, segment in
                snapshots.contains { segment.isNeeded(by: $0.snapshot.commit) }
                    ? sum + segment.bytes : sum
            }
            guard kept > snapshotLimit else { return }
            _ = oldest.snapshot.expire(.init(keptBytes: oldest.bytes, limit: snapshotLimit))
            snapshots.removeFirst()
        }
    }

    /// Removes the files of retired segments that are no longer needed.
    ///
    /// - Parameter isClosing: whether the store is closing, so that remaining readers use files that are
    ///   open.
    func sweepRetired(isClosing: Bool = false) {
        if isReadOnly { return }
        settleReleases()
        if !isClosing { expireSnapshots() }
        try? inFolder { () throws(StoreError) in removeRetired(isClosing: isClosing) }
    }

    private func removeRetired(isClosing: Bool) {
        let durable = queue.durable
        // First the states, then the checkpoint: a checkpoint pins the state that it is created from until it
        // is noted.
        let epochs =
            isClosing
            ? [] : registry.epochs + snapshots.all.filter(\.isHeld).map(\.commit)
        let held = heldSegments
        let (checkpointLSN, hasCheckpoint) = checkpoint.withLock { ($0.lsn, $0.bytes > 0) }
        let unneeded = tools.retired.remove(keeping: held) { segment in
            max(segment.lsn, segment.releaseLSN) <= durable
                && (!hasCheckpoint || segment.lsn <= checkpointLSN)
                && !epochs.contains { segment.isNeeded(by: $0) }
        } then: { left in
            registry.tellsOfReleases = !left.allSatisfy { held.contains($0.number) }
        }
        // Past states open what they need. Snapshots outlive the closing, and their files are open.
        if !isClosing {
            for retired in unneeded { reader.largeValues.remove(retired.number) }
        }
        let removed = unneeded.filter { !held.contains($0.number) }
        guard !removed.isEmpty else { return }
        reader.cache.remove(segments: Set(removed.map(\.number)))
        for retired in removed {
            // A file that stays is removed by the next writer.
            try? files.fileSystem.unlink(files.path(retired.number))
        }
        // Otherwise they would come back after a power failure, until the store is opened for writing.
        try? files.fileSystem.syncDirectory(files.folder)
    }
}
