// Large values that are written before the save that refers to them.
//
// Threads: any.

import CairnFormat
import CairnModel
import CairnStore
import Synchronization

/// Reclaims the space of values that will not be saved.
final class StagingUpkeep: EngineUpkeep {
    func begin(_ engine: Engine) {
        let link = engine.link
        engine.tools.staging.onRelease { link.engine?.scheduleStagingTrim() }
    }

    func willEndLog(_ engine: Engine, _ turn: Engine.Turn) { engine.dropStaged(turn) }
}

extension Engine {
    /// Begins a value for a column of an object; nil if the value must be built in memory because its bytes
    /// are compared.
    func beginValue(column: Int, of id: ObjectID, entity: Int) throws(StoreError) -> StagedWriter? {
        let (catalog, commit) = registry.read { ($0.catalog, $0.commit) }
        let stored = catalog.entities[entity]
        guard stored.columns[column].kind == .bytes, !id.isTemporary,
            identity.owns(id, entity: entity), let number = UInt32(exactly: id.reference),
            !stored.uniques.contains(where: { catalog.uniques[$0].form.comparesBytes(of: column) }),
            !catalog.fetchIndexesOfEntity[entity].contains(where: {
                catalog.fetchIndexes[$0].parts.contains { $0.column == column }
            }),
            // Derived values are computed from its bytes.
            !catalog.schema.derivations.concerns[entity]
        else { return nil }
        // What a failed commit has adopted is truncated before it can be overwritten. After a failed sync it
        // is unknown what was adopted, so this requires the write lock.
        let known = try withTurn { turn throws(StoreError) in
            repair(&turn)
            try checkWritable(turn)
            return tools.staging.take(
                upTo: min(
                    sizes.largestSegmentBytes,
                    max(sizes.segmentBytes, turn.segments.bytes(to: turn.end) / 64)))
        }
        let (segment, end): (Segment, LogEnd)
        if let known {
            (segment, end) = known
        } else {
            (segment, end) = try makeSideSegment(commit: commit)
            tools.staging.add(segment, end)
        }
        return StagedWriter(
            self, segment, end, commit: commit,
            owner: .init(
                tree: catalog.trees[stored.tree].id, number: number,
                property: stored.columns[column].propertyID))
    }

    /// Schedules reclaiming the space of values that will not be used.
    func scheduleStagingTrim() {
        housekeeper.schedule(after: 0) { [link] in
            guard let engine = link.engine else { return }
            try? engine.withTurn { turn throws(StoreError) in
                engine.repair(&turn)
                // If a sync failed, more values may be adopted on disk than are known here.
                try engine.checkWritable(turn)
                engine.tools.staging.trim()
            }
        }
    }

    /// Removes values that wait for a save that will not come, because the store is being closed.
    fileprivate func dropStaged(_ turn: Turn) {
        let isKept = tools.staging.isKept.load(ordering: .relaxed)
        for segment in tools.staging.segments {
            // A removed file stays readable for processes that have it open; a truncated one does not.
            if isKept, tools.staging.isInUse(segment.number),
                turn.segments.sides.contains(where: { $0.segment.number == segment.number })
            {
                continue
            }
            trim(segment, turn)
        }
    }
}
