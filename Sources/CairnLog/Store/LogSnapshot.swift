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
    /// Why a snapshot was given up.
    struct Expiry: Sendable {
        /// Bytes of files that it kept from being removed.
        let keptBytes: UInt64
        /// What all snapshots together may keep.
        let limit: UInt64
    }

    private struct Pin: Sendable {
        var state: PinnedState<EngineState>?
        var expiry: Expiry?
        /// The state after expiry, as long as something still runs on it.
        weak var rest: PinnedState<EngineState>?
    }

    let engine: Engine
    private let pin: Mutex<Pin>
    let commit: UInt64
    let schema: Schema
    /// Who has it, as far as that was said.
    let name: String?

    init(engine: Engine, name: String? = nil) {
        self.engine = engine
        self.name = name
        let pinned = engine.registry.pin()
        commit = pinned.state.commit
        schema = pinned.state.catalog.schema
        pin = Mutex(Pin(state: pinned))
        engine.snapshots.withLock { $0[ObjectIdentifier(self)] = WeakSnapshot(self) }
    }

    deinit { engine.snapshots.withLock { $0[ObjectIdentifier(self)] = nil } }

    /// Lets go of the state, as soon as nothing runs on it; false if that was done before.
    func expire(_ expiry: Expiry) -> Bool {
        // What ends with the state must not end under the lock.
        let state = pin.withLock { pin -> PinnedState<EngineState>? in
            guard let state = pin.state else { return nil }
            pin = Pin(state: nil, expiry: expiry, rest: state)
            return state
        }
        return state != nil
    }

    /// Whether the state is kept, for whatever runs on it if the snapshot is expired.
    var isHeld: Bool { pin.withLock { $0.state != nil || $0.rest != nil } }

    /// Its state, unless it is expired.
    var pinned: PinnedState<EngineState>? { pin.withLock { $0.state } }

    /// Its state, or the error that says why it is expired.
    func readable() throws(StoreError) -> PinnedState<EngineState> {
        let (state, expiry) = pin.withLock { ($0.state, $0.expiry) }
        if let state { return state }
        let who = name.map { "the snapshot \"\($0)\"" } ?? "the snapshot"
        let why = expiry.map {
            ": it kept \($0.keptBytes) bytes of files from being removed after compaction, and all snapshots may keep \($0.limit) (snapshotLimit)"
        }
        throw StoreError(
            .snapshotExpired,
            "\(who) of commit \(commit) was given up\(why ?? ""); take a new one")
    }

    /// Runs a closure over the state, which is all there if nothing is thrown.
    private func reading<R>(_ body: (EngineState) throws(StoreError) -> R) throws(StoreError) -> R {
        let pinned = try readable()
        return try withExtendedLifetime(pinned) { () throws(StoreError) in
            try engine.withWholeState { () throws(StoreError) in try body(pinned.state) }
        }
    }

    func fetch(_ request: StoreFetch) throws(StoreError) -> StoreFetchResult {
        try reading { state throws(StoreError) in
            try FetchRunner(engine: engine, state: state, fetch: request).result()
        }
    }

    func readBatches(_ request: StoreRead, _ body: (borrowing RowBatch) -> Bool)
        throws(StoreError)
    {
        try check(request.entity, request.columns)
        let pinned = try readable()
        try engine.withWholeState { () throws(StoreError) in
            try BatchReader(request, engine, pinned).run(body)
        }
    }

    func lookUpBatches(
        _ request: StoreLookup, keys: (borrowing RowWriter) -> Bool,
        _ body: (borrowing RowBatch) -> Bool
    ) throws(StoreError) {
        try check(request.entity, request.columns)
        let pinned = try readable()
        try engine.withWholeState { () throws(StoreError) in
            var lookup = try KeyLookup(request, engine, pinned)
            try lookup.run(keys: keys, body)
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
