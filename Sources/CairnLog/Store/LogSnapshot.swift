// A snapshot of a store for readers.
//
// It pins its state as long as it lives, unless it expires: then running operations end first, and later ones
// throw (ST4).
//
// Threads: any; the state does not change while it is read.

package import CairnModel
package import CairnStore
import Synchronization

/// A pinned state.
package final class LogSnapshot: StoreSnapshot, RowStream {
    let engine: Engine
    private let pin: SnapshotPin
    /// Whether its state is a past one, which is not in the engine's registry.
    private let isPast: Bool
    package let schema: Schema

    /// - Parameter state: a past state; nil: the newest published one.
    package init(engine: Engine, name: String? = nil, state: PinnedState<EngineState>? = nil) {
        self.engine = engine
        isPast = state != nil
        let state = state ?? engine.registry.pin()
        schema = state.catalog.schema
        pin = SnapshotPin(state, name: name)
        engine.snapshots.add(pin)
    }

    deinit {
        engine.snapshots.remove(pin)
        // The files that it retained may be removed now.
        if isPast, engine.registry.tellsOfReleases { engine.scheduleSweep() }
    }

    package var commit: UInt64 { pin.commit }

    package var identity: StoreIdentity { engine.identity }

    /// Its state, unless it expired.
    var pinned: PinnedState<EngineState>? { pin.state }

    /// Returns its state, or throws the reason for its expiry.
    package func readable() throws(StoreError) -> PinnedState<EngineState> { try pin.readable() }

    /// Runs a closure over the state, which is complete if no error is thrown.
    func reading<R>(_ body: (PinnedState<EngineState>) throws(StoreError) -> R) throws(StoreError)
        -> R
    {
        let pinned = try readable()
        defer { withExtendedLifetime(pinned) {} }
        return try engine.reader.withWholeState { () throws(StoreError) in try body(pinned) }
    }

    package func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        try reading { pinned throws(StoreError) in
            if let result = try KeyFetch.result(request, engine.reader, pinned) { return result }
            return try FetchRunner.planned(engine.reader, pinned.state, request, wantsOrder: true)
                .result()
        }
    }

    package func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        try check(request.entity, request.columns)
        try reading { pinned throws(StoreError) in
            try BatchReader(request, engine.reader, pinned).run(body)
        }
    }

    package func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, request.columns)
        try reading { pinned throws(StoreError) in
            var lookup = try KeyLookup(request, engine.reader, pinned)
            try lookup.run(keys: keys, body)
        }
    }

    package func readRelatedBatches(
        _ request: StoreRelated, of owners: [ObjectID], _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, [])
        try check(request.destination, request.columns)
        try reading { pinned throws(StoreError) in
            var reader = RelatedReader(request, engine.reader, pinned)
            try reader.run(owners, body)
        }
    }

    package func streamRows(_ request: StoreFetch, _ body: (StreamedRows) -> Void)
        throws(StoreError)
    {
        try reading { pinned throws(StoreError) in
            let runner = try FetchRunner.planned(
                engine.reader, pinned.state, request, wantsOrder: false)
            if let hits = try runner.indexed()?.hits {
                return try HitStreamer(reader: engine.reader, pinned: pinned).run(hits, body)
            }
            try RowStreamer(runner: runner).run(body)
        }
    }

    package func streamRowsInOrder(_ request: StoreFetch, _ body: (StreamedRows) -> Void)
        throws(StoreError)
    {
        try reading { pinned throws(StoreError) in
            if let (hits, _) = FirstRows.hits(request, pinned.state) {
                return try HitStreamer(reader: engine.reader, pinned: pinned).run(hits, body)
            }
            let runner = try FetchRunner.planned(
                engine.reader, pinned.state, request, wantsOrder: true)
            let hits = try runner.hits().hits
            try HitStreamer(reader: engine.reader, pinned: pinned).run(hits, body)
        }
    }

    package func table(_ request: StoreTableFetch) throws(StoreError) -> StoreTable {
        try reading { pinned throws(StoreError) in
            try TableRunner(reader: engine.reader, state: pinned.state, request: request).table()
        }
    }

    package func explain(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        try reading { pinned throws(StoreError) in
            try QueryExplanation(reader: engine.reader, state: pinned.state).plan(of: request)
        }
    }

    package func explain(_ request: StoreTableFetch) throws(StoreError) -> QueryPlan {
        try reading { pinned throws(StoreError) in
            try QueryExplanation(reader: engine.reader, state: pinned.state).plan(of: request)
        }
    }

    package func explainCount(_ request: StoreFetch) throws(StoreError) -> QueryPlan {
        try reading { pinned throws(StoreError) in
            try QueryExplanation(reader: engine.reader, state: pinned.state).plan(ofCount: request)
        }
    }

    package func count(_ request: StoreFetch) throws(StoreError) -> Int {
        try reading { pinned throws(StoreError) in
            let request = try request.bound(to: pinned.state, engine.identity)
            let planner = QueryPlanner.prepared(request, pinned.state, engine.identity)
            if let planner, planner.outline.isAlone, let count = planner.counted() {
                return request.cut(count)
            }
            return try FetchRunner(
                reader: engine.reader, state: pinned.state, bound: request, planner: planner,
                isAnswered: planner?.isAnswer(wantsOrder: false) == true
            ).count()
        }
    }

    package func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        try reading { pinned throws(StoreError) in
            let state = pinned.state
            var hits: [RowHit] = []
            hits.reserveCapacity(ids.count)
            var places: [Int?] = []
            places.reserveCapacity(ids.count)
            for id in ids {
                let hit = hit(id, state)
                places.append(hit.map { _ in hits.count })
                if let hit { hits.append(hit) }
            }
            let rows = try engine.reader.rows(hits, in: state)
            return places.map { $0.map { rows[$0] } }
        }
    }

    /// Returns the place of an object's row; nil if there is none.
    func hit(_ id: ObjectID, _ state: EngineState) -> RowHit? {
        guard !id.isTemporary, id.store == engine.identity.identifier,
            let tree = state.catalog.treeIndex(id: id.hierarchy),
            let number = UInt32(exactly: id.reference),
            let hit = state.hit(number, in: state.directories[tree]),
            // Pairs of a relationship are rows too.
            hit.entity < schema.entities.count
        else { return nil }
        return hit
    }

    package func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        try reading { pinned throws(StoreError) in
            var result: [[ObjectID]] = []
            result.reserveCapacity(owners.count)
            let reader = MemberReader(reader: engine.reader, state: pinned.state)
            for owner in owners {
                result.append(try reader.members(relationship, entity: entity, owner: owner))
            }
            return result
        }
    }

    package func redirectedObjectID(for id: ObjectID) throws(StoreError) -> ObjectID? {
        let pinned = try readable()
        if pinned.state.redirects == nil { return nil }
        return try reading { pinned throws(StoreError) in
            pinned.state.redirected(id, engine.identity)
        }
    }

    package func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        try reading { pinned throws(StoreError) in
            try MemberReader(reader: engine.reader, state: pinned.state)
                .referrers(target, relationship: relationship, entity: entity)
        }
    }
}
