// A small store with ordered relationships of each kind.

import CairnModel
import CairnStore
import Testing

@testable import CairnLog

/// Airports in folders, tours that stop at them, partners among them.
struct OrderedSample {
    let store: LogStore

    init(_ store: LogStore) { self.store = store }

    static let model: ManagedObjectModel = {
        func many(_ name: String, to other: String, inverse: String? = nil)
            -> RelationshipDescription
        {
            var relationship = RelationshipDescription(
                name, to: other, toMany: true, inverse: inverse)
            relationship.isOrdered = true
            return relationship
        }
        let airport = EntityDescription(
            "Airport",
            attributes: [.init("code", .string, optional: false), .init("name", .string)],
            relationships: [
                RelationshipDescription("folder", to: "Folder", inverse: "airports"),
                many("tours", to: "Tour", inverse: "stops"),
                many("partners", to: "Airport", inverse: "partners"),
            ], uniquenessConstraints: [["code"]])
        var heliport = EntityDescription("Heliport", attributes: [.init("pads", .integer16)])
        heliport.superentityName = "Airport"
        let folder = EntityDescription(
            "Folder", attributes: [.init("name", .string)],
            relationships: [
                many("airports", to: "Airport", inverse: "folder"),
                RelationshipDescription("parent", to: "Folder", inverse: "children"),
                many("children", to: "Folder", inverse: "parent"),
            ])
        let tour = EntityDescription(
            "Tour", attributes: [.init("name", .string)],
            relationships: [
                many("stops", to: "Airport", inverse: "tours"), many("extras", to: "Folder"),
            ])
        return ManagedObjectModel(entities: [airport, heliport, folder, tour])
    }()

    static func schema() throws -> Schema { try Schema(model) }

    /// An ordered relationship of an object.
    struct List {
        let owner: ObjectID
        let key: String

        init(owner: ObjectID, _ key: String) {
            self.owner = owner
            self.key = key
        }
    }

    private func entity(_ name: String) throws -> SchemaEntity {
        try #require(store.schema.entity(named: name))
    }

    private func place(of list: List) throws -> (entity: SchemaEntity, index: Int) {
        for entity in store.schema.entities
        where entity.parent == nil && store.identity.owns(list.owner, entity: entity.index) {
            if let index = entity.relationshipIndex(named: list.key) { return (entity, index) }
        }
        throw StoreError(.invalidRequest, "no such list")
    }

    private func ids(_ name: String) throws -> [ObjectID] {
        try store.snapshot().fetch(StoreFetch(entity: try entity(name).index)).ids
    }

    var airports: [ObjectID] {
        get throws { try ids("Airport").sorted { $0.reference < $1.reference } }
    }
    var tours: [ObjectID] { get throws { try ids("Tour").sorted { $0.reference < $1.reference } } }
    var folders: [ObjectID] {
        get throws { try ids("Folder").sorted { $0.reference < $1.reference } }
    }

    /// Every list there is.
    var all: [List] {
        get throws {
            try airports.flatMap { [List(owner: $0, "tours"), List(owner: $0, "partners")] }
                + folders.flatMap { [List(owner: $0, "airports"), List(owner: $0, "children")] }
                + tours.flatMap { [List(owner: $0, "stops"), List(owner: $0, "extras")] }
        }
    }

    func members(_ list: List) throws -> [ObjectID] {
        let (entity, index) = try place(of: list)
        return try store.snapshot().members(
            ofRelationship: index, entity: entity.index, owners: [list.owner])[0]
    }

    @discardableResult
    func save(_ request: SaveRequest) throws -> SaveResult {
        guard case .saved(let result) = try store.save(request) else {
            throw StoreError(.mergeConflict, "the sample meets no conflict")
        }
        return result
    }

    /// A change of an order.
    func change(_ list: List, _ order: [ObjectID], from base: [ObjectID]?) throws
        -> SaveRequest.OrderChange
    {
        let (entity, index) = try place(of: list)
        return SaveRequest.OrderChange(
            owner: list.owner, entity: entity.index, relationship: index, members: order, base: base
        )
    }

    @discardableResult
    func reorder(_ list: List, _ order: [ObjectID], from base: [ObjectID]?) throws -> SaveResult {
        var request = SaveRequest()
        request.orderChanges = [try change(list, order, from: base)]
        return try save(request)
    }

    private func temporary(_ number: Int, _ name: String) throws -> ObjectID {
        ObjectID(
            temporary: UInt64(number),
            hierarchy: store.identity.hierarchies[try entity(name).index],
            context: store.identity.identifier)
    }

    private func inserted(_ number: Int, _ name: String, _ values: [String: Value]) throws
        -> SaveRequest.Inserted
    {
        let entity = try entity(name)
        return SaveRequest.Inserted(
            id: try temporary(number, name), entity: entity.index,
            values: entity.columns.map { values[$0.name] ?? .null }, assigned: [])
    }

    /// A folder with airports.
    func makeFolder(_ count: Int) throws -> List {
        var request = SaveRequest()
        request.inserted.append(try inserted(1, "Folder", [:]))
        let folder = try temporary(1, "Folder")
        for index in 0..<count {
            request.inserted.append(
                try inserted(
                    index + 2, "Airport",
                    ["code": .string("A\(index)"), "folder": .objectID(folder)]))
        }
        let result = try save(request)
        return List(owner: try #require(result.permanentIDs[folder]), "airports")
    }

    /// One airport more.
    func insertAirport(into folder: List) throws -> ObjectID {
        var request = SaveRequest()
        request.inserted = [
            try inserted(
                1, "Airport", ["code": .string("late"), "folder": .objectID(folder.owner)])
        ]
        return try #require(try save(request).permanentIDs.values.first)
    }

    /// The order keys that a row has of its own.
    func orderKeys(of id: ObjectID) throws -> [Int64?] {
        let engine = store.engine
        let state = engine.registry.published()
        let entity = try #require(
            store.schema.entities.first { store.identity.owns(id, entity: $0.index) })
        let cell = state.directories[state.catalog.entities[entity.index].tree][
            UInt32(id.reference)]
        let entry = state.blocks.entry(cell.handle)
        let reader = RowReader(
            catalog: state.catalog, identity: store.identity, entity: Int(entry.entity))
        return try reader.orderKeys(try engine.reader.block(entry, in: state), cell.slot)
    }

    /// How many objects have been written more than once, and how many pairs.
    func rewritten() throws -> Int {
        try SampleStore.text(store).split(separator: "\n").count {
            $0.contains("\"version\":") && !$0.contains("\"version\":1,")
        }
    }

    /// Two folders, one in the other, twelve airports, three tours; nothing is in an order of its own.
    func fillPlain() throws {
        var request = SaveRequest()
        let folders = try (0..<3).map { try temporary(100 + $0, "Folder") }
        for index in 0..<3 {
            request.inserted.append(
                try inserted(
                    100 + index, "Folder",
                    [
                        "name": .string("f\(index)"),
                        "parent": index > 0 ? .objectID(folders[0]) : .null,
                    ]))
        }
        let airports = try (0..<12).map { try temporary($0, "Airport") }
        for index in 0..<12 {
            request.inserted.append(
                try inserted(
                    index, index % 4 == 3 ? "Heliport" : "Airport",
                    [
                        "code": .string("A\(index)"),
                        "folder": .objectID(folders[index % 5 == 0 ? 1 : 0]),
                    ]))
        }
        let tours = try (0..<3).map { try temporary(200 + $0, "Tour") }
        for index in 0..<3 {
            request.inserted.append(
                try inserted(200 + index, "Tour", ["name": .string("t\(index)")]))
        }
        let pairs = store.schema.pairs
        func pair(_ name: String) throws -> Int {
            try #require(pairs.firstIndex { $0.name == name })
        }
        let (stops, partners, extras) = (
            try pair("Airport.tours"), try pair("Airport.partners"), try pair("Tour.extras")
        )
        for airport in 0..<12 {
            for tour in 0..<3 where (airport + tour) % 3 != 0 {
                request.pairChanges.append(
                    .init(
                        pairs: stops, source: airports[airport], destination: tours[tour],
                        isAddition: true))
            }
            request.pairChanges.append(
                .init(
                    pairs: partners, source: airports[airport],
                    destination: airports[(airport + 5) % 12], isAddition: true))
        }
        for tour in 0..<3 {
            for folder in 0..<3 {
                request.pairChanges.append(
                    .init(
                        pairs: extras, source: tours[tour], destination: folders[folder],
                        isAddition: true))
            }
        }
        try save(request)
    }

    /// The same, and lists are put in other orders in some commits.
    func fill() throws {
        try fillPlain()
        for (index, list) in try all.enumerated() {
            let now = try members(list)
            guard now.count > 1 else { continue }
            let order: [ObjectID]
            switch index % 3 {
            case 0: order = now.reversed()
            case 1: order = Array(now.dropFirst(2)) + now.prefix(2)
            default: order = [now[now.count - 1]] + now.dropLast()
            }
            try reorder(list, order, from: now)
        }
    }

    /// Writes all airports and folders anew.
    func renameAll() throws {
        for name in ["Airport", "Folder"] {
            var request = SaveRequest()
            for row in try store.snapshot().rows(try ids(name)) {
                let row = try #require(row)
                let column = try #require(
                    store.schema.entities[row.entity].columnIndex(named: "name"))
                request.updated.append(
                    .init(
                        id: row.id, entity: row.entity, base: row,
                        changes: [(column: column, value: .string("renamed"))]))
            }
            try save(request)
        }
    }
}
