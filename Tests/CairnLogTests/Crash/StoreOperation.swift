// The alphabet of the campaigns: what can happen to a store, small, and possible in any state of it.
//
// Whoever adds an operation adds a case and what it does: every campaign takes it up.
//
// Items "a0", "a1", … are there from the beginning in most campaigns; "a0" is never deleted, so that `rejected`
// fails there.

import CairnModel
import CairnStore
import Foundation
import SystemPackage

@testable import CairnLog

/// One step of a workload.
enum StoreOperation: String, Sendable, CaseIterable {
    /// A batch of one row.
    case insertOne
    /// A batch of rows that are there already, and one that may be.
    case upsert
    /// A batch of as many rows as make blocks that are merged.
    case insertMany
    /// A batch update of all items, which writes full blocks anew as they are, but for one column.
    case updateAll
    /// A batch delete, by predicate or by ids.
    case delete
    /// A save of objects that refer to each other.
    case saveGraph
    /// A save with a value that gets frames of its own.
    case saveLarge
    /// A save that deletes, changes, and hands a unique key over.
    case saveChanges
    /// A batch that fails in its turn, with some of its frames written.
    case rejected
    case synchronize
    case checkpoint
    case compact
    /// What the scheduler has to do: zeros ahead, syncs of groups, checkpoints, compaction.
    case background
    case reopen
    /// Deletes the older half of the history, if one is kept.
    case trimHistory
    /// Gives the older half of the past states up, if some are kept.
    case purgePast

    /// Whether what was committed is durable when it returns.
    func isDurable(_ durability: LogStoreOptions.Durability) -> Bool {
        switch self {
        case .synchronize, .checkpoint, .reopen: true
        case .background: durability == .grouped
        case .rejected: false
        default: durability == .full
        }
    }
}

extension StoreOperation {
    static let identifier = UUID(uuid: (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16))

    static let schema: Schema = {
        var item = EntityDescription(
            "Item",
            attributes: [
                .init("key", .string, optional: false), .init("value", .integer32),
                .init("note", .string),
            ], uniquenessConstraints: [["key"]])
        item.relationships = [
            RelationshipDescription("box", to: "Box", inverse: "items"),
            RelationshipDescription("tags", to: "Box", toMany: true),
        ]
        var box = EntityDescription("Box", attributes: [.init("name", .string)])
        box.relationships = [
            RelationshipDescription("items", to: "Item", toMany: true, inverse: "box")
        ]
        do {
            return try Schema(ManagedObjectModel(entities: [item, box]))
        } catch {
            preconditionFailure("the model of the campaigns is sound: \(error)")
        }
    }()

    static let item = 0
    static let box = 1
    static let key = column("key", item)
    static let value = column("value", item)
    static let note = column("note", item)
    static let boxOfItem = column("box", item)
    static let name = column("name", box)

    private static func column(_ name: String, _ entity: Int) -> Int {
        guard let column = schema.entities[entity].columns.firstIndex(where: { $0.name == name })
        else { preconditionFailure("the model has \(name)") }
        return column
    }

    /// Carries the operation out; reopening is the business of whoever has the store.
    func perform(_ store: LogStore, _ scheduler: ManualScheduler, step: Int) throws {
        switch self {
        case .insertOne: try Self.insert(store, ["n\(step)": step])
        case .upsert:
            try Self.insert(
                store, ["a0": 100 + step, "a1": step, "n\(step - 1)": step + 50],
                setOnly: step % 2 == 0)
        case .insertMany:
            try Self.insert(
                store, Dictionary(uniqueKeysWithValues: (0..<7).map { ("m\(step)-\($0)", $0) }))
        case .updateAll: try Self.updateAll(store, step)
        case .delete: try Self.delete(store, step)
        case .saveGraph: try Self.saveGraph(store, step)
        case .saveLarge: try Self.saveLarge(store, step)
        case .saveChanges: try Self.saveChanges(store, step)
        case .rejected: try Self.reject(store, step)
        case .synchronize: try store.synchronize()
        case .checkpoint: try store.engine.takeCheckpoint()
        case .compact: _ = try store.compact()
        case .background: scheduler.run(atMost: 1000)
        case .trimHistory: try Self.trimHistory(store)
        case .purgePast:
            guard let bounds = try store.pastStateBounds() else { return }
            try store.purgePastStates(before: (bounds.horizon + bounds.last) / 2)
        case .reopen: preconditionFailure("a store cannot reopen itself")
        }
    }

    /// What is there when a campaign begins.
    static func populate(_ store: LogStore) throws {
        try insert(store, ["a0": 100, "a1": 1, "a2": 2, "a3": 3])
        try saveGraph(store, -2)
    }

    // MARK: Batches

    static func insert(_ store: LogStore, _ rows: [String: Int], setOnly: Bool = false) throws {
        var request = BatchInsertRequest(
            entityName: "Item",
            objects: rows.sorted { $0.key < $1.key }.map { ["key": $0.key, "value": $0.value] })
        request.mergePolicy = .mergeByPropertyObjectTrump
        request.setOnly = setOnly
        _ = try store.execute(request)
    }

    private static func reject(_ store: LogStore, _ step: Int) throws {
        var rows = (0..<12).map { ["key": "r\(step)-\($0)", "value": $0] as [String: Any] }
        rows.append(["key": "a0", "value": -1])
        var request = BatchInsertRequest(entityName: "Item", objects: rows)
        request.failsOnConflict = true
        do {
            _ = try store.execute(request)
        } catch {
            guard error.code == .constraintConflict else { throw error }
        }
    }

    private static func updateAll(_ store: LogStore, _ step: Int) throws {
        var request = BatchUpdateRequest(entityName: "Item")
        request.propertiesToUpdate["value"] = .expression(
            .function(.add, [.keyPath("value"), .constant(.integer(Int64(step % 3)))]))
        _ = try store.execute(request)
    }

    private static func delete(_ store: LogStore, _ step: Int) throws {
        if step % 2 == 0 {
            let few = PredicateNode.compare("value", .equal, .integer(Int64(step % 4)))
            _ = try store.execute(
                BatchDeleteRequest(.fetch(StoreFetch(entity: item, predicate: few))))
        } else {
            let boxes = try store.snapshot().fetch(StoreFetch(entity: box)).ids
            _ = try store.execute(BatchDeleteRequest(.ids(Array(boxes.prefix(1)), entity: box)))
        }
    }

    private static func trimHistory(_ store: LogStore) throws {
        guard try store.historyBounds() != nil else { return }
        let all = try store.execute(.fetchHistory(after: nil)).transactions
        guard all.count > 1 else { return }
        try store.execute(.deleteHistory(before: all[all.count / 2]))
    }

    // MARK: Saves

    static func temporary(_ number: Int, _ entity: Int, _ store: LogStore) -> ObjectID {
        ObjectID(
            temporary: UInt64(number), hierarchy: store.identity.hierarchies[entity],
            context: store.identity.identifier)
    }

    static func inserted(
        _ id: ObjectID, _ entity: Int, _ values: [Int: Value]
    ) -> SaveRequest.Inserted {
        var cells = Array(repeating: Value.null, count: schema.entities[entity].columns.count)
        for (column, value) in values { cells[column] = value }
        return SaveRequest.Inserted(id: id, entity: entity, values: cells, assigned: [])
    }

    private static func save(_ store: LogStore, _ request: SaveRequest) throws {
        var request = request
        request.resolution = .policy(.mergeByPropertyObjectTrump)
        _ = try store.save(request)
    }

    private static func saveGraph(_ store: LogStore, _ step: Int) throws {
        var request = SaveRequest()
        let container = temporary(1, box, store)
        request.inserted.append(inserted(container, box, [name: .string("box \(step)")]))
        for number in 2...3 {
            let id = temporary(number, item, store)
            request.inserted.append(
                inserted(
                    id, item,
                    [
                        key: .string("g\(step)-\(number)"), value: .integer(Int64(number)),
                        boxOfItem: .objectID(container),
                    ]))
            request.pairChanges.append(
                .init(pairs: 0, source: id, destination: container, isAddition: true))
        }
        try save(store, request)
    }

    private static func saveLarge(_ store: LogStore, _ step: Int) throws {
        var request = SaveRequest()
        let text = String(repeating: "large \(step) ", count: 90)
        request.inserted.append(
            inserted(
                temporary(1, item, store), item,
                [key: .string("l\(step)"), value: .integer(7), note: .string(text)]))
        try save(store, request)
    }

    private static func saveChanges(_ store: LogStore, _ step: Int) throws {
        var fetch = StoreFetch(entity: item)
        fetch.includesRows = true
        let rows = try store.snapshot().fetch(fetch).rows.filter {
            $0.cells.value(key, of: schema.entities[item], in: store.identity) != .string("a0")
        }
        var request = SaveRequest()
        if rows.count > 2 {
            let last = rows[rows.count - 1]
            request.deleted.append(.init(id: last.id, entity: item, version: last.version))
            let lost = last.cells.value(key, of: schema.entities[item], in: store.identity)
            request.updated.append(
                .init(
                    id: rows[1].id, entity: item, base: rows[1],
                    changes: [(column: key, value: lost), (column: value, value: .integer(9))]))
        }
        if let first = rows.first {
            request.updated.append(
                .init(
                    id: first.id, entity: item, base: first,
                    changes: [(column: note, value: .string("changed \(step)"))]))
        }
        try save(store, request)
    }
}
