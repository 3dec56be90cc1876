// A fixed state of a store, as readers have it.
//
// Threads: any; the state does not change while this lives.

import CairnModel
import CairnStore

/// A pinned state.
final class LogSnapshot: StoreSnapshot {
    private let engine: Engine
    private let pin: PinnedState<EngineState>

    init(engine: Engine, pin: PinnedState<EngineState>) {
        self.engine = engine
        self.pin = pin
    }

    /// The state; its pages are there as long as this object is.
    var state: EngineState { pin.state }

    var commit: UInt64 { pin.state.commit }

    /// Runs a closure over the state, which is all there if nothing is thrown.
    private func reading<R>(_ body: () throws(StoreError) -> R) throws(StoreError) -> R {
        let result = try withExtendedLifetime(self) { () throws(StoreError) in try body() }
        try engine.checkImage()
        return result
    }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        try reading { () throws(StoreError) in
            try FetchRunner(engine: engine, state: pin.state, fetch: request).result()
        }
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        try reading { () throws(StoreError) in
            try FetchRunner(engine: engine, state: pin.state, fetch: request).count()
        }
    }

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        try reading { () throws(StoreError) in
            var rows: [Row?] = []
            rows.reserveCapacity(ids.count)
            let state = pin.state
            for id in ids { rows.append(try row(id, state)) }
            return rows
        }
    }

    private func row(_ id: ObjectID, _ state: EngineState) throws(StoreError) -> Row? {
        guard !id.isTemporary, id.store == engine.identity.identifier,
            let tree = state.catalog.treeIndex(id: id.hierarchy),
            let number = UInt32(exactly: id.reference)
        else { return nil }
        let cell = state.directories[tree][number]
        guard !cell.isEmpty else { return nil }
        let entity = Int(state.blocks.entry(cell.handle).entity)
        let runner = try FetchRunner(
            engine: engine, state: state, fetch: StoreFetch(entity: entity))
        return try runner.rows([FetchRunner.Hit(number: number, cell: cell, entity: entity)]).first
    }

    func members(ofRelationship relationship: Int, entity: Int, owners: [ObjectID])
        throws(StoreError) -> [[ObjectID]]
    {
        try reading { () throws(StoreError) in
            var result: [[ObjectID]] = []
            result.reserveCapacity(owners.count)
            let reader = MemberReader(engine: engine, state: pin.state)
            for owner in owners {
                result.append(try reader.members(relationship, entity: entity, owner: owner))
            }
            return result
        }
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        try reading { () throws(StoreError) in
            try MemberReader(engine: engine, state: pin.state)
                .referrers(target, relationship: relationship, entity: entity)
        }
    }
}
