// The store that killed writers write, and how a change is carried out on it.

package import CairnLog
import CairnMigration
package import CairnModel
import CairnStore
import FoundationEssentials

package enum WriterStore {
    package static let model: ManagedObjectModel = {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("key", .string, optional: false), .init("owner", .integer16),
                .init("value", .integer64), .init("note", .string),
            ], uniquenessConstraints: [["key"]])
        item.relationships = [
            RelationshipDescription("next", to: "Item", inverse: "befores"),
            RelationshipDescription("befores", to: "Item", toMany: true, inverse: "next"),
        ]
        return ManagedObjectModel(entities: [item])
    }()

    /// The next version: keys have to be read for it, and an attribute is to be computed.
    package static let nextModel: ManagedObjectModel = {
        var next = model
        var upper = AttributeDescription("upper", .string)
        upper.derivationExpression = "uppercase:(note)"
        next.entities[0].attributes.append(upper)
        next.entities[0].uniquenessConstraints.append(["owner", "value"])
        return next
    }()

    /// Leads the store to the next version.
    ///
    /// - Parameter tell: told each stage when it begins.
    package static func migrate(
        _ path: String, timeout: Double = 0.25, _ tell: @escaping @Sendable (String) -> Void
    ) throws {
        var options = options(.full)
        options.timeout = timeout
        // In the background it would take what the store was made of before, where the process ends late.
        options.sizes.compactionFloor = 1 << 40
        options.migrationProgress = { progress in
            if progress.done == 0 { tell(progress.stage.rawValue) }
            return true
        }
        try LogStore.migrate(at: path, to: try Schema(nextModel), options: options)
    }

    /// Opens the store with sizes at which everything happens often.
    package static func open(
        _ path: String, _ durability: LogStoreOptions.Durability, isReadOnly: Bool = false,
        tracksHistory: Bool? = nil, model: ManagedObjectModel = WriterStore.model,
        timeout: Double = 0.25
    ) throws -> LogStore {
        var options = options(durability)
        options.persistentHistoryTracking = tracksHistory
        options.isReadOnly = isReadOnly
        options.timeout = timeout
        return try LogStore.open(
            at: path, schema: isReadOnly ? nil : try Schema(model), options: options)
    }

    static func options(_ durability: LogStoreOptions.Durability) -> LogStoreOptions {
        var options = LogStoreOptions()
        options.durability = durability
        options.sizes.rowsPerBlock = 32
        options.sizes.mergedBlocks = 4
        options.sizes.segmentBytes = 24_000
        options.sizes.fillBytes = 4096
        options.sizes.mostFillBytes = 16_384
        options.sizes.checkpointBytes = 8000
        options.sizes.closingCheckpointBytes = 3000
        options.sizes.groupSeconds = 0.001
        options.sizes.compactionBlocks = 3
        options.sizes.compactionFloor = 6000
        options.sizes.askedCompactionFloor = 1000
        return options
    }

    /// The stored objects by thread and key, of one snapshot.
    package static func content(_ store: LogStore) throws -> [Int: [String: WriterModel.Values]] {
        var fetch = StoreFetch(entity: 0)
        fetch.includesRows = true
        let found = try store.snapshot().fetch(fetch)
        let columns = try Columns(store)
        var keys: [ObjectID: String] = [:]
        for (id, row) in zip(found.ids, found.rows) { keys[id] = columns.text(row, columns.key) }
        var content: [Int: [String: WriterModel.Values]] = [:]
        for (id, row) in zip(found.ids, found.rows) {
            guard let key = keys[id], case .integer(let owner) = columns.value(row, columns.owner),
                case .integer(let value) = columns.value(row, columns.value)
            else { throw Unexpected(what: "a row without key, owner or value") }
            var next: String?
            if case .objectID(let target) = columns.value(row, columns.next) {
                guard let name = keys[target] else {
                    throw Unexpected(what: "a reference to what is not there")
                }
                next = name
            }
            let values = WriterModel.Values(
                value: value, note: columns.text(row, columns.note) ?? "", next: next)
            guard content[Int(owner), default: [:]].updateValue(values, forKey: key) == nil else {
                throw Unexpected(what: "key \(key) twice")
            }
        }
        return content
    }

    /// Carries out a change as one commit.
    static func carryOut(_ change: WriterModel.Change, _ thread: Int, _ store: LogStore) throws {
        switch change {
        case .upsert(let rows):
            var request = BatchInsertRequest(
                entityName: "Item",
                objects: rows.map { key, values -> [String: Any] in
                    ["key": key, "owner": thread, "value": values.value, "note": values.note]
                })
            request.mergePolicy = .mergeByPropertyObjectTrump
            request.author = "thread \(thread)"
            _ = try store.execute(request)
        case .delete(let limit):
            let predicate = PredicateNode.and([
                .compare("owner", .equal, .integer(Int64(thread))),
                .compare("value", .less, .integer(limit)),
            ])
            var request = BatchDeleteRequest(.fetch(StoreFetch(entity: 0, predicate: predicate)))
            request.author = "thread \(thread)"
            _ = try store.execute(request)
        case .save(let inserted, let links, let deleted):
            try save(inserted, links, deleted, thread, store)
        }
    }

    private static func save(
        _ inserted: [(key: String, values: WriterModel.Values)],
        _ links: [(key: String, next: String?)], _ deleted: [String], _ thread: Int,
        _ store: LogStore
    ) throws {
        var fetch = StoreFetch(
            entity: 0, predicate: .compare("owner", .equal, .integer(Int64(thread))))
        fetch.includesRows = true
        let found = try store.snapshot().fetch(fetch)
        let columns = try Columns(store)
        var rows: [String: (id: ObjectID, row: Row)] = [:]
        for (id, row) in zip(found.ids, found.rows) {
            if let key = columns.text(row, columns.key) { rows[key] = (id, row) }
        }
        var request = SaveRequest()
        request.author = "thread \(thread)"
        var ids = rows.mapValues(\.id)
        for (index, object) in inserted.enumerated() {
            let id = ObjectID(
                temporary: UInt64(index + 1), hierarchy: store.identity.hierarchies[0],
                context: store.identity.identifier)
            ids[object.key] = id
            var values = [Value](repeating: .null, count: columns.entity.columns.count)
            values[columns.key] = .string(object.key)
            values[columns.owner] = .integer(Int64(thread))
            values[columns.value] = .integer(object.values.value)
            values[columns.note] = .string(object.values.note)
            request.inserted.append(.init(id: id, entity: 0, values: values, assigned: []))
        }
        for link in links {
            guard let known = rows[link.key] else { throw Unexpected(what: "\(link.key) is gone") }
            let target = link.next.flatMap { ids[$0] }
            request.updated.append(
                .init(
                    id: known.id, entity: 0, base: known.row,
                    changes: [(columns.next, target.map { .objectID($0) } ?? .null)]))
        }
        for key in deleted {
            guard let known = rows[key] else { throw Unexpected(what: "\(key) is gone") }
            request.deleted.append(.init(id: known.id, entity: 0, version: nil))
        }
        guard case .saved = try store.save(request) else {
            throw Unexpected(what: "a conflict where nobody else writes")
        }
    }

    /// Where the properties are.
    private struct Columns {
        let entity: SchemaEntity
        let identity: StoreIdentity
        let key, owner, value, note, next: Int

        init(_ store: LogStore) throws {
            let entity = store.schema.entities[0]
            func column(_ name: String) throws -> Int {
                guard let index = entity.columns.firstIndex(where: { $0.name == name }) else {
                    throw Unexpected(what: "no column \(name)")
                }
                return index
            }
            self.entity = entity
            identity = store.identity
            key = try column("key")
            owner = try column("owner")
            value = try column("value")
            note = try column("note")
            next = try column("next")
        }

        func value(_ row: Row, _ column: Int) -> Value {
            row.cells.value(column, of: entity, in: identity)
        }

        func text(_ row: Row, _ column: Int) -> String? {
            if case .string(let text) = value(row, column) { text } else { nil }
        }
    }

    /// What must not happen.
    struct Unexpected: Error {
        let what: String
    }
}
