// The engine, which computes what has to be computed anew, against a store that computes everything after each change.
//
// Both are asked for the same by the same random numbers: saves of graphs, races of two contexts under all policies, new objects
// with keys that are taken, batches that insert, update and prune, batch deletes. Between these the engine's store is closed and
// opened again, or compacted. After each step both must hold the same, derived attributes and versions too; of moments, whether
// they moved.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import Foundation
import StoreBackends
import Testing

/// One of the two stores, with what is asked of it.
private final class Side {
    private(set) var store: any PersistentStore
    private let options: LogStoreOptions?
    /// The moments that objects had when they were last looked at.
    private var moments: [ObjectID: [Value]] = [:]

    init(_ schema: Schema, _ options: LogStoreOptions?) throws {
        self.options = options
        if let options {
            store = try LogStore.open(at: "/store", schema: schema, options: options)
        } else {
            store = DictionaryStore(schema)
        }
    }

    func context(_ policy: MergePolicy = .error) -> ManagedObjectContext {
        let context = ManagedObjectContext(store: store)
        context.mergePolicy = policy
        return context
    }

    /// Closes and opens the engine's store, or compacts it.
    func disturb(_ random: inout RandomSource) throws {
        let compacts = random.oneIn(2)
        guard let options, let log = store as? LogStore else { return }
        if compacts {
            _ = try log.compact()
        } else {
            try log.close()
            store = try LogStore.open(at: "/store", schema: log.schema, options: options)
        }
    }

    func findings() throws -> [String] {
        try (store as? LogStore)?.check().findings.map { "\($0)" } ?? []
    }

    /// Everything that is stored, a line for each object.
    func describe() throws -> [String] {
        let snapshot = try store.snapshot()
        let schema = store.schema
        var rows: [Row] = []
        for entity in schema.entities where entity.parent == nil {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesRows = true
            rows += try snapshot.fetch(fetch).rows
        }
        var names: [ObjectID: String] = [:]
        for row in rows {
            let entity = schema.entities[row.entity]
            guard let column = entity.columnIndex(named: "name") else { continue }
            let name = row.cells.value(column, of: entity, in: snapshot.identity)
            names[row.id] = "\(schema.entities[entity.root].name) \(name)"
        }
        var before = moments
        swap(&before, &moments)
        moments = [:]
        return try rows.map { row in
            let entity = schema.entities[row.entity]
            var parts = [entity.name, "version \(row.version)"]
            var now: [Value] = []
            for (index, column) in entity.columns.enumerated() {
                let value = row.cells.value(index, of: entity, in: snapshot.identity)
                if column.attribute?.derivationExpression == "now()" {
                    now.append(value)
                } else if case .objectID(let id) = value {
                    parts.append("\(column.name) \(names[id] ?? "gone")")
                } else {
                    parts.append("\(column.name) \(value)")
                }
            }
            for (index, relationship) in entity.relationships.enumerated() {
                guard case .pairs = relationship.storage else { continue }
                let members = try snapshot.members(
                    ofRelationship: index, entity: entity.index, owners: [row.id])[0]
                let list = members.map { names[$0] ?? "gone" }.sorted().joined(separator: ", ")
                parts.append("\(relationship.description.name) [\(list)]")
            }
            if !now.isEmpty {
                parts.append(now.contains(.null) ? "no moment" : "moment")
                parts.append(before[row.id] == now ? "stays" : "moved")
                moments[row.id] = now
            }
            return parts.joined(separator: "; ")
        }.sorted()
    }
}

/// Random questions, asked by names alone: both sides answer the same.
private struct Asker {
    let schema: Schema
    /// Names that were given: no two objects of a hierarchy have one.
    var nextName = 0

    private func roots() -> [SchemaEntity] { schema.entities.filter { $0.parent == nil } }

    private func pick<T>(_ items: [T], _ random: inout RandomSource) -> T? {
        items.randomElement(using: &random)
    }

    /// The objects of an entity by their names, which are the same on both sides.
    private func objects(_ entity: SchemaEntity, _ context: ManagedObjectContext) throws
        -> [ManagedObject]
    {
        try context.all(entity.name)
            .filter { !$0.isDeleted }
            .sorted { ($0.string("name") ?? "") < ($1.string("name") ?? "") }
    }

    private mutating func newName() -> String {
        nextName += 1
        return ["Ä", "b", "É c", "D"][nextName % 4] + "\(nextName)"
    }

    private func value(_ type: AttributeType, _ random: inout RandomSource) -> Any? {
        if random.oneIn(6) { return nil }
        let number = Int.random(in: 0..<40, using: &random)
        switch type {
        case .string: return ["Köln", "köln", "Paris", "ROM"][number % 4]
        case .double: return Double(number) / 4
        default: return number
        }
    }

    private func attributes(of entity: SchemaEntity) -> [AttributeDescription] {
        entity.attributes.map(\.description)
            .filter { $0.derivationExpression == nil && $0.name != "name" }
    }

    private func setAttributes(_ object: ManagedObject, _ random: inout RandomSource) {
        for attribute in attributes(of: object.entity) where random.oneIn(2) {
            object[attribute.name] = value(attribute.type, &random)
        }
    }

    /// Changes a relationship.
    private func relate(
        _ object: ManagedObject, _ context: ManagedObjectContext, _ random: inout RandomSource,
        isContested: Bool = false
    ) throws {
        // If both sides are to-one and in conflict, the order of steps says what comes out.
        let relationships = object.entity.relationships.filter {
            !isContested || !["badge", "holder"].contains($0.description.name)
        }
        guard let relationship = pick(relationships, &random) else { return }
        let name = relationship.description.name
        let others = try objects(schema.entities[relationship.destination], context)
        if relationship.description.isToMany {
            let some = others.filter { _ in random.oneIn(3) }
            switch Int.random(in: 0..<3, using: &random) {
            case 0: object[name] = Set(some)
            case 1: object[name] = object.members(name).union(some.prefix(2))
            default: object[name] = object.members(name).subtracting(some)
            }
        } else {
            object[name] = random.oneIn(4) ? nil : pick(others, &random)
        }
    }

    private mutating func make(_ context: ManagedObjectContext, _ random: inout RandomSource)
        -> ManagedObject
    {
        let entity = pick(schema.entities, &random) ?? schema.entities[0]
        let object = context.insert(entity.name)
        object["name"] = newName()
        setAttributes(object, &random)
        return object
    }

    /// One change of a stored or new object.
    private mutating func change(
        _ context: ManagedObjectContext, _ random: inout RandomSource, deletes: Bool = true
    ) throws {
        let entity = pick(roots(), &random) ?? schema.entities[0]
        let all = try objects(entity, context)
        guard all.count > 2, !random.oneIn(5), let object = pick(all, &random) else {
            let new = make(context, &random)
            try relate(new, context, &random)
            return
        }
        switch Int.random(in: 0..<8, using: &random) {
        case 0..<3: setAttributes(object, &random)
        case 3: object["name"] = newName()
        case 4 where deletes: context.delete(object)
        default: try relate(object, context, &random)
        }
    }

    /// Saves, or lets the changes go; what became of it.
    private func save(_ context: ManagedObjectContext) throws -> String {
        guard let error = storeError({ try context.save() }) else {
            #expect(!context.hasChanges)
            return "saved"
        }
        context.rollback()
        return "\(error.code)"
    }

    // MARK: Steps

    /// A graph is changed and saved.
    mutating func edit(_ side: Side, _ random: inout RandomSource) throws -> String {
        let context = side.context()
        for _ in 0..<Int.random(in: 1..<15, using: &random) { try change(context, &random) }
        let outcome = try save(context)
        try compare(context, side)
        return outcome
    }

    /// Two contexts change the same objects.
    mutating func race(_ side: Side, _ random: inout RandomSource) throws -> String {
        let kind = pick(MergePolicyKind.allCases, &random) ?? .error
        let (mine, other) = (side.context(MergePolicy(merge: kind)), side.context())
        let entity = pick(roots(), &random) ?? schema.entities[0]
        let own = try objects(entity, mine).filter { _ in random.oneIn(3) }.prefix(5)
        for object in own { _ = object["name"] }
        for object in try objects(entity, other) where random.oneIn(3) {
            if random.oneIn(8) {
                other.delete(object)
            } else if random.oneIn(2) {
                setAttributes(object, &random)
            } else {
                try relate(object, other, &random, isContested: true)
            }
        }
        var outcome = try save(other)
        for object in own {
            if random.oneIn(6) {
                mine.delete(object)
            } else {
                setAttributes(object, &random)
                if random.oneIn(3) { try relate(object, mine, &random, isContested: true) }
            }
        }
        outcome += try " " + save(mine)
        mine.refreshAllObjects()
        return "\(kind) \(outcome)"
    }

    /// New objects have keys of stored ones, or of each other.
    mutating func collide(_ side: Side, _ random: inout RandomSource) throws -> String {
        let kind = pick(MergePolicyKind.allCases, &random) ?? .error
        let context = side.context(MergePolicy(merge: kind, setOnly: random.oneIn(2)))
        let root = pick(roots().filter { $0.family.count == 1 }, &random) ?? schema.entities[0]
        var new: [ManagedObject] = []
        for object in try objects(root, context).prefix(8) where random.oneIn(3) {
            let twin = context.insert(root.name)
            twin["name"] = object.string("name")
            setAttributes(twin, &random)
            new.append(twin)
        }
        for object in new where random.oneIn(2) {
            try relate(object, context, &random, isContested: true)
        }
        return try "\(kind) " + save(context)
    }

    /// A batch inserts, updates and may prune.
    mutating func insert(_ side: Side, _ random: inout RandomSource) throws -> String {
        let entity = pick(schema.entities, &random) ?? schema.entities[0]
        let known = try objects(entity, side.context()).compactMap { $0.string("name") }
        var rows: [[String: Any]] = []
        for name in known where random.oneIn(3) { rows.append(["name": name]) }
        for _ in 0..<Int.random(in: 0..<6, using: &random) { rows.append(["name": newName()]) }
        rows.shuffle(using: &random)
        for index in rows.indices {
            for attribute in attributes(of: entity) where random.oneIn(2) {
                rows[index][attribute.name] = value(attribute.type, &random) ?? NSNull()
            }
        }
        var request = BatchInsertRequest(entityName: entity.name, objects: rows)
        request.mergePolicy =
            random.oneIn(5) ? .mergeByPropertyStoreTrump : .mergeByPropertyObjectTrump
        request.setOnly = random.oneIn(2)
        request.prunesMissing = random.oneIn(6)
        request.allowsEmpty = true
        return try outcome {
            let result = try side.store.execute(request)
            return "\(result.insertedCount) \(result.updatedCount) \(result.unchangedCount)"
        }
    }

    mutating func delete(_ side: Side, _ random: inout RandomSource) throws -> String {
        let entity = pick(schema.entities, &random) ?? schema.entities[0]
        let ids = try objects(entity, side.context()).filter { _ in random.oneIn(6) }
            .map(\.objectID)
        return try outcome {
            let result = try side.store.execute(
                BatchDeleteRequest(.ids(ids, entity: entity.index)))
            return "\(result.deletedCount) \(result.cascadedCount)"
        }
    }

    private func outcome(_ body: () throws -> String) throws -> String {
        do {
            return try body()
        } catch let error as StoreError {
            return "\(error.code)"
        }
    }

    /// What a context shows is what a fresh one reads.
    private func compare(_ context: ManagedObjectContext, _ side: Side) throws {
        let fresh = side.context()
        for entity in roots() {
            for object in try objects(entity, context) {
                let other = try fresh.existingObject(with: object.objectID)
                for attribute in object.entity.attributes {
                    let name = attribute.description.name
                    let (shown, stored) = (object[name], other[name])
                    #expect(
                        shown.map { "\($0)" } == stored.map { "\($0)" },
                        "\(object.entity.name).\(name)")
                }
            }
        }
    }
}

@Suite("Random derived attributes")
struct RandomDerivedTests {
    @Test("What is computed by need is what is computed from everything")
    func rounds() throws {
        try Rounds.run("random derived attributes", everyDay: 2, whole: 400) { random in
            let schema = try Schema(Models.press)
            var options = LogStoreOptions()
            options.fileSystem = MemoryFileSystem()
            options.durability = .relaxed
            options.sizes.rowsPerBlock = [4, 16, 1024][Int.random(in: 0..<3, using: &random)]
            options.sizes.largeValueBytes = random.oneIn(2) ? 4 : 4096
            options.sizes.hashBits = [4, 32].randomElement(using: &random) ?? 32
            let sides = [try Side(schema, nil), try Side(schema, options)]
            var asker = Asker(schema: schema)
            for step in 0..<40 {
                let choice = Int.random(in: 0..<12, using: &random)
                var outcomes: [String] = []
                var (next, names) = (random, asker)
                for side in sides {
                    (next, names) = (random, asker)
                    outcomes.append(try Self.take(choice, side, &names, &next))
                }
                (random, asker) = (next, names)
                let seed = "seed \(random.seed), step \(step), choice \(choice)"
                try #require(outcomes[0] == outcomes[1], "\(seed)")
                let (plain, stored) = (try sides[0].describe(), try sides[1].describe())
                let differing = Set(plain).symmetricDifference(stored).sorted()
                try #require(
                    differing.isEmpty,
                    "\(seed) \(outcomes[0])\n\(differing.joined(separator: "\n"))")
            }
            #expect(try sides[1].findings().isEmpty)
        }
    }

    private static func take(
        _ choice: Int, _ side: Side, _ asker: inout Asker, _ random: inout RandomSource
    ) throws -> String {
        switch choice {
        case 0..<5: return try asker.edit(side, &random)
        case 5, 6: return try asker.race(side, &random)
        case 7: return try asker.collide(side, &random)
        case 8, 9: return try asker.insert(side, &random)
        case 10: return try asker.delete(side, &random)
        default:
            try side.disturb(&random)
            return "disturbed"
        }
    }
}
