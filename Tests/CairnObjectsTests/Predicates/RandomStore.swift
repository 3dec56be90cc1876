// A random model, and a store of it with random objects: inserted, changed and deleted in many commits.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import CairnTestSupport
import FoundationEssentials

struct RandomStore {
    let model: ManagedObjectModel
    let schema: Schema
    private let options: LogStoreOptions
    private(set) var store: LogStore
    /// Whether texts have no U+0000, which PostgreSQL does not take.
    let isPlain: Bool
    private var keys: Int64 = 0

    /// - Parameter hasManyBlocks: whether a few hundred rows are enough for a scan by several threads.
    init(hasManyBlocks: Bool = false, _ random: inout RandomSource) throws {
        model = Self.model(&random)
        isPlain = random.oneIn(2)
        schema = try Schema(model)
        var options = LogStoreOptions()
        options.fileSystem = MemoryFileSystem()
        options.durability = .relaxed
        options.sizes.rowsPerBlock =
            hasManyBlocks ? 4 : RandomValue.pick([4, 16, 64, 256, 1024], &random)
        options.sizes.largeValueBytes = RandomValue.pick([64, 64, 4096], &random)
        options.sizes.closingCheckpointBytes = RandomValue.pick([1, 1 << 30], &random)
        // Of stores with many blocks several answers are asked of indexes, which would not pay with fewer.
        options.sizes.hashBits = RandomValue.pick([hasManyBlocks ? 10 : 5, 32], &random)
        options.scanThreads = hasManyBlocks ? 4 : RandomValue.pick([1, 2, 4], &random)
        self.options = options
        store = try LogStore.open(at: "/store", schema: schema, options: options)
    }

    mutating func reopen() throws {
        try store.close()
        store = try LogStore.open(at: "/store", schema: schema, options: options)
    }

    /// The same files, to be read by one thread and without the model's fetch indexes.
    func plain() throws -> LogStore {
        // Readers see what is on the disk.
        try store.synchronize()
        var model = model
        for index in model.entities.indices { model.entities[index].indexes = [] }
        var options = options
        options.isReadOnly = true
        options.followsWriter = false
        options.scanThreads = 1
        return try LogStore.open(at: "/store", schema: Schema(model), options: options)
    }

    // MARK: Models

    private static let types: [AttributeType] = [
        .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .string, .string,
        .boolean, .date, .binary, .uuid, .uri, .transformable,
    ]

    private static func model(_ random: inout RandomSource) -> ManagedObjectModel {
        var entities = (0..<Int.random(in: 2...4, using: &random)).map { index in
            var entity = EntityDescription("E\(index)")
            for (place, type) in types.enumerated() where !random.oneIn(4) {
                entity.attributes.append(.init("e\(index)\(type.rawValue)\(place)", type))
            }
            if random.oneIn(2) {
                var place = AttributeDescription("e\(index)place", .composite)
                place.elements = [.init("lat", .double), .init("city", .string)]
                entity.attributes.append(place)
            }
            if random.oneIn(2) {
                var note = AttributeDescription("e\(index)note", .string)
                note.isTransient = true
                entity.attributes.append(note)
            }
            // Blocks know their columns by other numbers than their places.
            entity.attributes.shuffle(using: &random)
            return entity
        }
        if random.oneIn(2) {
            // With an index, which equalities ask.
            let types: [AttributeType] = [.integer64, .integer32, .string, .double, .decimal]
            entities[0].attributes.append(.init("key", RandomValue.pick(types, &random)))
            entities[0].uniquenessConstraints = [["key"]]
            let second = entities[0].attributes.first { [.string, .integer32].contains($0.type) }
            if let second, !second.isTransient, second.name != "key", random.oneIn(2) {
                entities[0].uniquenessConstraints = [["key", second.name]]
            }
        }
        for index in 1..<entities.count where random.oneIn(3) {
            entities[index].superentityName = "E\(Int.random(in: 0..<index, using: &random))"
        }
        for number in 0..<Int.random(in: 2...6, using: &random) {
            let one = Int.random(in: 0..<entities.count, using: &random)
            let other = Int.random(in: 0..<entities.count, using: &random)
            let (there, back) = ("r\(number)", "b\(number)")
            let kind = Int.random(in: 0..<6, using: &random)
            func add(_ name: String, _ from: Int, _ to: Int, _ toMany: Bool, _ inverse: String?) {
                entities[from].relationships.append(
                    .init(name, to: "E\(to)", toMany: toMany, inverse: inverse))
            }
            switch kind {
            case 0: add(there, one, other, false, nil)
            case 1: add(there, one, other, true, nil)
            case 2: add(there, one, one, true, there)
            default:
                add(there, one, other, kind == 3, back)
                add(back, other, one, kind != 5, there)
            }
        }
        for index in entities.indices where !random.oneIn(3) {
            entities[index].indexes = Self.indexes(of: entities[index], &random)
        }
        return ManagedObjectModel(entities: entities)
    }

    /// Indexes of one to three properties in any direction.
    private static func indexes(of entity: EntityDescription, _ random: inout RandomSource)
        -> [FetchIndexDescription]
    {
        var names = entity.attributes.filter {
            !$0.isTransient && $0.type != .composite && $0.type != .transformable
        }.map(\.name)
        names += entity.relationships.filter { !$0.isToMany }.map(\.name)
        return (0..<Int.random(in: 1...4, using: &random)).map { number in
            names.shuffle(using: &random)
            return FetchIndexDescription(
                "\(entity.name)Index\(number)",
                elements: names.prefix(Int.random(in: 1...3, using: &random)).map {
                    .init($0, ascending: random.oneIn(2))
                })
        }
    }

    // MARK: Rows

    /// Inserts, changes and deletes objects in some commits.
    mutating func fill(_ random: inout RandomSource, commits: Int, objects: ClosedRange<Int>)
        throws
    {
        let context = ManagedObjectContext(store: store)
        for _ in 0..<commits {
            insert(Int.random(in: objects, using: &random), into: context, &random)
            try context.save()
            let known = try all(context)
            for object in known {
                if random.oneIn(3) { change(object, all: random.oneIn(4), &random) }
                relate(object, known, &random)
            }
            try context.save()
            for object in known where random.oneIn(12) { context.delete(object) }
            try context.save()
        }
    }

    /// Inserts, changes and deletes some objects of a context that nobody saves.
    mutating func disturb(_ context: ManagedObjectContext, _ random: inout RandomSource) throws {
        insert(Int.random(in: 0...6, using: &random), into: context, &random)
        let known = try all(context)
        for object in known where random.oneIn(8) {
            if random.oneIn(2) { change(object, all: false, &random) }
            if random.oneIn(2) { relate(object, known, &random) }
        }
        for object in known where random.oneIn(20) { context.delete(object) }
    }

    private func all(_ context: ManagedObjectContext) throws -> [ManagedObject] {
        try schema.entities.filter { $0.parent == nil }.flatMap {
            try context.fetch(FetchRequest(entityName: $0.name))
        }
    }

    private mutating func insert(
        _ count: Int, into context: ManagedObjectContext, _ random: inout RandomSource
    ) {
        for _ in 0..<count {
            guard let entity = schema.entities.randomElement(using: &random) else { continue }
            let object = context.insert(entity.name)
            change(object, all: true, &random)
            if let column = entity.columnIndex(named: "key"),
                case .attribute(let type) = entity.columns[column].kind
            {
                keys += 1
                let key: Value = type == .string ? .string("\(keys)") : .integer(keys)
                object["key"] = key.literal(of: type)?.any
            }
        }
    }

    private func change(_ object: ManagedObject, all: Bool, _ random: inout RandomSource) {
        for attribute in object.entity.attributes where !attribute.description.isTransient {
            if attribute.description.name == "key" { continue }
            guard all || random.oneIn(3) else { continue }
            for column in attribute.columns {
                guard case .attribute(let type) = object.entity.columns[column].kind else {
                    continue
                }
                var value = random.oneIn(5) ? Value.null : RandomValue.stored(type, &random)
                if isPlain, case .string(let text) = value {
                    value = .string(text.replacing("\0", with: ""))
                }
                object[object.entity.columns[column].name] = value.any
            }
        }
    }

    private func relate(
        _ object: ManagedObject, _ known: [ManagedObject], _ random: inout RandomSource
    ) {
        for relationship in object.entity.relationships where random.oneIn(3) {
            let entity = schema.entities[relationship.destination]
            let others = known.filter { $0.entity.isKind(of: entity) }
            let name = relationship.description.name
            if relationship.description.isToMany {
                let count = Int.random(in: 0...4, using: &random)
                object[name] = Set(
                    (0..<count).compactMap { _ in others.randomElement(using: &random) })
            } else {
                object[name] = random.oneIn(6) ? nil : others.randomElement(using: &random)
            }
        }
    }
}
