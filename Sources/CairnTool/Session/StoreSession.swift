// A store that a command has open, with the questions that commands ask.

import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// An open store, closed when the command is done with it.
struct StoreSession {
    let store: LogStore
    let path: String

    /// Opens a store to read it: beside whoever writes.
    static func reading<Result>(
        _ path: String, _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        var options = LogStoreOptions()
        options.isReadOnly = true
        options.followsWriter = false
        options.createsIfMissing = false
        // It is open for a moment, and not while another machine has it open to write.
        options.allowsSharedDisk = true
        return try with(path, nil, options, body)
    }

    /// Opens a store that exists to change it.
    ///
    /// - Parameters:
    ///   - wait: how long to wait for others who write it.
    ///   - allowsSharedDisk: whether it may be on a disk that other machines may have too.
    ///   - tracksHistory: whether a history is kept from now on; nil: as before.
    ///   - pastStates: how far back states are kept from now on; nil: as before.
    static func writing<Result>(
        _ path: String, wait: WaitingTime, allowsSharedDisk: Bool = false,
        tracksHistory: Bool? = nil, pastStates: PastStateRetention? = nil,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        var options = LogStoreOptions()
        options.createsIfMissing = false
        options.timeout = wait.seconds
        options.allowsSharedDisk = allowsSharedDisk
        options.persistentHistoryTracking = tracksHistory
        options.pastStates = pastStates
        return try with(path, nil, options, body)
    }

    /// Opens a store to change it, or makes it with a schema.
    static func making<Result>(
        _ path: String, wait: WaitingTime, allowsSharedDisk: Bool = false, _ schema: Schema?,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        var options = LogStoreOptions()
        options.timeout = wait.seconds
        options.allowsSharedDisk = allowsSharedDisk
        return try with(path, schema, options, body)
    }

    /// Whether a folder holds a store, or something of one.
    static func isStore(_ path: String) -> Bool {
        FileManager.default.fileExists(atPath: "\(path)/lock")
    }

    private static func with<Result>(
        _ path: String, _ schema: Schema?, _ options: LogStoreOptions,
        _ body: (StoreSession) throws -> Result
    ) throws -> Result {
        do {
            let store = try LogStore.open(at: path, schema: schema, options: options)
            let result: Result
            do {
                result = try body(StoreSession(store: store, path: path))
            } catch {
                // What went wrong first is what is told.
                try? store.close()
                throw error
            }
            try store.close()
            return result
        } catch var error as StoreError where error.context.path == nil && error.context.row == nil
        {
            error.context.path = path
            throw error
        }
    }

    var schema: Schema { store.schema }

    /// The entity of that name.
    func entity(_ name: String) throws -> SchemaEntity {
        if let entity = schema.entity(named: name) { return entity }
        let names = schema.entities.map(\.name).joined(separator: ", ")
        throw Failure("\(path) has no entity \(name). It has: \(names)")
    }

    /// The state that was asked for; without that the newest one.
    func snapshot(_ moment: MomentOptions) throws -> any StoreSnapshot {
        guard let text = moment.at else { return try store.snapshot() }
        return try store.snapshot(at: try commit(text, option: "--at"))
    }

    /// The commit of that number, or the last one up to that time.
    func commit(_ text: String, option: String) throws -> UInt64 {
        if let number = UInt64(text) {
            try requireKept([.pastStates])
            return number
        }
        guard case .value(.date(let date)) = CellConversion(text: text, as: .date) else {
            throw Failure(
                "\(option) takes the number of a commit or a time, not \(PlainText.visible(text))",
                code: .usage)
        }
        try requireKept([.pastStates])
        return try store.transactionNumber(at: date)
    }

    /// A fetch of an entity with the condition that a person wrote.
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

    /// A condition that a person wrote, in which objects are named as everywhere else: p17, or a URI.
    func condition(_ format: String, of entity: SchemaEntity) throws -> PredicateNode {
        let node = try PredicateNode(format: format)
        var naming = naming(of: entity)
        do {
            return try naming.named(node)
        } catch let failure as Failure {
            throw Failure("the condition: \(failure.message)", code: failure.code)
        }
    }

    /// What finds the objects that are named in a condition.
    func naming(of entity: SchemaEntity) -> ObjectNaming {
        ObjectNaming(of: entity, in: schema) { text, entity in try objectID(text, of: entity) }
    }

    /// The index of a column.
    func column(_ name: String, of entity: SchemaEntity) throws -> Int {
        if let index = entity.columnIndex(named: name) { return index }
        let names = entity.columns.map(\.name).joined(separator: ", ")
        throw Failure("\(entity.name) has no attribute \(name). It has: \(names)")
    }

    /// The value of a row's column.
    func value(_ column: Int, _ row: Row) -> Value {
        row.cells.value(column, of: schema.entities[row.entity], in: store.identity)
    }
}
