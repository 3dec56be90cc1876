// A store that a command has open, with the operations that commands share.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore

/// An open store, closed at the end of the command.
struct StoreSession {
    let store: any CommandStore
    /// The place for output.
    let path: String
    private let kind: any StoreKind

    /// Opens a store read-only, also while other processes write.
    static func reading<Result>(
        _ place: String, _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        try with(place, .reading, body)
    }

    /// Opens an existing store for writing.
    ///
    /// - Parameters:
    ///   - turn: how to wait for the write lock.
    ///   - tracksHistory: whether to keep a history from now on; nil: no change.
    ///   - pastStates: how far back to keep states from now on; nil: no change.
    static func writing<Result>(
        _ place: String, _ turn: WaitOptions, tracksHistory: Bool? = nil,
        pastStates: PastStateRetention? = nil, _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        var access = turn.access
        access.tracksHistory = tracksHistory
        access.pastStates = pastStates
        return try with(place, access, body)
    }

    /// Opens a store for writing, or creates it with a schema. A new store is removed if the body throws.
    ///
    /// - Parameter body: receives whether the store is new.
    static func making<Result>(
        _ place: String, _ access: StoreAccess, _ schema: Schema?,
        _ body: (StoreSession, Bool) throws -> Result
    ) throws -> Result {
        let kind = try StoreKinds.current.kind(of: place)
        let title = kind.title(of: place)
        return try locating(title) {
            if let store = HeldStore.store(at: place, access) {
                return try body(StoreSession(store: store, path: title, kind: kind), false)
            }
            return try kind.making(place, schema, access) { store, isNew in
                try body(StoreSession(store: store, path: title, kind: kind), isNew)
            }
        }
    }

    /// Opens a store in a folder as one of the log-structured engine.
    static func log<Result>(
        _ folder: String, _ access: StoreAccess, _ body: (LogStore) throws -> Result
    ) throws -> Result {
        try locating(folder) { try FolderKind().usingLog(folder, access, body) }
    }

    /// Opens an existing store.
    static func with<Result>(
        _ place: String, _ access: StoreAccess, _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        let kind = try StoreKinds.current.kind(of: place)
        let title = kind.title(of: place)
        return try locating(title) {
            try kind.using(place, access) {
                try body(StoreSession(store: $0, path: title, kind: kind))
            }
        }
    }

    // MARK: Places

    /// Returns whether there is a store at a place, or a part of one.
    static func isStore(_ place: String) throws -> Bool {
        let kind = try StoreKinds.current.kind(of: place)
        return try locating(kind.title(of: place)) { try kind.isStore(place) }
    }

    /// Returns the description of the store at a place by its kind.
    static func printout(
        of place: String, _ body: (any StoreKind) throws -> StorePrintout
    ) throws -> StorePrintout {
        let kind = try StoreKinds.current.kind(of: place)
        let title = kind.title(of: place)
        return try locating(title) {
            var printout = try body(kind)
            printout.failure = printout.failure.map { located($0, title) }
            return printout
        }
    }

    /// Runs a body with a migrator for the store at a place.
    static func migrating<Result>(
        _ place: String, _ access: StoreAccess, _ body: (any StoreMigrator) throws -> Result
    ) throws -> Result {
        let kind = try StoreKinds.current.kind(of: place)
        return try locating(kind.title(of: place)) {
            try body(kind.migrator(of: place, access))
        }
    }

    /// Runs a body; adds the place to an error without one.
    private static func locating<Result>(_ title: String, _ body: () throws -> Result) throws
        -> Result
    {
        do {
            return try body()
        } catch {
            throw located(error, title)
        }
    }

    private static func located(_ error: any Error, _ title: String) -> any Error {
        guard var error = error as? StoreError, error.context.path == nil,
            error.context.row == nil
        else { return error }
        error.context.path = title
        return error
    }

    // MARK: Questions

    /// Passes the content of a state to `body` in pieces, as canonical JSON lines.
    func export(
        _ snapshot: any StoreSnapshot, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        try kind.export(snapshot, of: store, body)
    }

    /// The fetch indexes of the store's model that it does not keep, and the reasons.
    var leftOutIndexes: [(name: String, entity: String, reason: String)] {
        Catalog.leftOutIndexes(of: schema.model, in: schema).map {
            ($0.name, $0.entity, $0.reason)
        }
    }

    var schema: Schema { store.schema }

    /// Returns the entity with that name.
    func entity(_ name: String) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        let names = schema.entities.map(\.name).joined(separator: ", ")
        throw Failure("\(path) has no entity \(name). It has: \(names)").ofAbsence
    }

    /// Returns the requested state; without a request the newest one.
    func snapshot(_ moment: MomentOptions) throws -> any StoreSnapshot {
        guard let text = moment.at else { return try store.snapshot() }
        let number = try commit(text, option: "--at")
        return try pastStore().snapshot(at: number)
    }

    /// Returns the store if its kind can provide past states.
    func pastStore() throws -> any PastStore {
        if let store = store as? any PastStore { return store }
        throw FolderFeature.pastStates.refusal(of: path)
    }

    /// Returns the commit with that number, or the last one up to that time.
    func commit(_ text: String, option: String) throws -> UInt64 {
        let store = try pastStore()
        if let number = UInt64(text) {
            try requireKept([.pastStates])
            return number
        }
        guard case .value(.date(let date)) = CellConversion(text: text, as: .date) else {
            throw Failure(
                "\(option) takes a commit number or a time, not \(PlainText.visible(text))",
                code: .usage)
        }
        try requireKept([.pastStates])
        return try store.transactionNumber(at: date)
    }

    /// Returns a fetch of an entity with the user's condition.
    func fetch(_ entity: SchemaEntity, _ which: ConditionOptions) throws -> StoreFetch {
        var fetch = StoreFetch(entity: entity.index)
        fetch.nullSemantics = which.nullSemantics
        guard let format = which.condition else { return fetch }
        let predicate = try condition(format, of: entity)
        do {
            fetch.predicate = try predicate.bound(
                to: entity, in: schema, nullSemantics: which.nullSemantics)
            return fetch
        } catch {
            throw Failure("the condition: \(error.description)")
        }
    }

    /// Parses the user's condition, in which objects have their usual names: p17, or a URI.
    func condition(_ format: String, of entity: SchemaEntity) throws -> PredicateNode {
        let node = try PredicateNode(format: format)
        var naming = naming(of: entity)
        do {
            return try naming.named(node)
        } catch let failure as Failure {
            throw Failure("the condition: \(failure.message)", code: failure.code)
        }
    }

    /// Returns the resolver for objects that a condition names.
    func naming(of entity: SchemaEntity) -> ObjectNaming {
        ObjectNaming(of: entity, in: schema) { text, entity in try objectID(text, of: entity) }
    }

    /// Returns the index of a column.
    func column(_ name: String, of entity: SchemaEntity) throws -> Int {
        if let index = entity.columnIndex(named: name) { return index }
        let names = entity.columns.map(\.name).joined(separator: ", ")
        throw Failure("\(entity.name) has no attribute \(name). It has: \(names)").ofAbsence
    }

    /// Returns the value of a row's column.
    func value(_ column: Int, _ row: Row) -> Value {
        row.cells.value(column, of: schema.entities[row.entity], in: store.identity)
    }
}
