// A fixed state of a store, as readers have it.
//
// It pins its state as long as it lives, unless it is expired: then whatever runs on it ends first, and everything after
// throws (ST4).
//
// Threads: any; the state does not change while it is read.

import CairnModel
import CairnStore
import Synchronization

/// A pinned state.
final class LogSnapshot: StoreSnapshot {
    private let engine: Engine
    private let pin: Mutex<PinnedState<EngineState>?>
    let commit: UInt64
    /// Who has it, as far as that was said.
    let name: String?

    init(engine: Engine, name: String? = nil) {
        self.engine = engine
        self.name = name
        let pinned = engine.registry.pin()
        commit = pinned.state.commit
        pin = Mutex(pinned)
        engine.snapshots.withLock { $0[ObjectIdentifier(self)] = WeakSnapshot(self) }
    }

    deinit { engine.snapshots.withLock { $0[ObjectIdentifier(self)] = nil } }

    /// Lets go of the state, as soon as nothing runs on it; false if that was done before.
    func expire() -> Bool {
        // What ends with the state must not end under the lock.
        let pinned = pin.withLock { pin -> PinnedState<EngineState>? in
            defer { pin = nil }
            return pin
        }
        return pinned != nil
    }

    /// Its state, unless it is expired.
    var pinned: PinnedState<EngineState>? { pin.withLock { $0 } }

    /// Runs a closure over the state, which is all there if nothing is thrown.
    private func reading<R>(_ body: (EngineState) throws(StoreError) -> R) throws(StoreError) -> R {
        guard let pinned else {
            throw StoreError(
                .snapshotExpired,
                "the snapshot of commit \(commit) was given up, as it kept too much space from being given back; take a new one"
            )
        }
        return try withExtendedLifetime(pinned) { () throws(StoreError) in
            try engine.withWholeState { () throws(StoreError) in try body(pinned.state) }
        }
    }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        try reading { state throws(StoreError) in
            try FetchRunner(engine: engine, state: state, fetch: request).result()
        }
    }

    func count(_ request: StoreFetch) throws(StoreError) -> Int {
        try reading { state throws(StoreError) in
            try FetchRunner(engine: engine, state: state, fetch: request).count()
        }
    }

    func rows(_ ids: [ObjectID]) throws(StoreError) -> [Row?] {
        try reading { state throws(StoreError) in
            var rows: [Row?] = []
            rows.reserveCapacity(ids.count)
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
        try reading { state throws(StoreError) in
            var result: [[ObjectID]] = []
            result.reserveCapacity(owners.count)
            let reader = MemberReader(engine: engine, state: state)
            for owner in owners {
                result.append(try reader.members(relationship, entity: entity, owner: owner))
            }
            return result
        }
    }

    func referrers(toTarget target: ObjectID, relationship: Int, entity: Int)
        throws(StoreError) -> [ObjectID]
    {
        try reading { state throws(StoreError) in
            try MemberReader(engine: engine, state: state)
                .referrers(target, relationship: relationship, entity: entity)
        }
    }
}

/// A snapshot that somebody has.
struct WeakSnapshot: Sendable {
    weak let snapshot: LogSnapshot?

    init(_ snapshot: LogSnapshot) { self.snapshot = snapshot }
}
