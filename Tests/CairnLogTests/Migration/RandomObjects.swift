// Random objects for any model: every type of attribute, every kind of relationship.
//
//   1. Some objects of every entity that may have any.
//   2. Pairs of objects where both ends are to-one. Who must have a partner and finds none is left out again, and so is
//      whoever must lead to him.
//   3. References and pairs as they come, lists in an order at random.
//
// One save writes all of it, so that nothing is ever without what it must have.
//
// Threads: one.

import CairnModel
import CairnStore
import CairnTestSupport
import Foundation

@testable import CairnLog

struct RandomObjects {
    /// The names of attributes whose values differ in all objects, whatever the entity: those of uniqueness constraints.
    private let distinct: Set<String>
    /// Goes up with every value that is to be another one.
    private var counter: Int64 = 0

    /// - Parameter models: the models whose constraints the objects are to agree with, sooner or later.
    init(agreeingWith models: [ManagedObjectModel]) {
        var names: Set<String> = []
        for entity in models.flatMap(\.entities) {
            let constraints = entity.uniquenessConstraints + entity.uniquenessRules.map(\.names)
            names.formUnion(constraints.joined())
        }
        // Under whatever name it is known in another version.
        for attribute in models.flatMap(\.entities).flatMap(\.attributes) {
            guard let identifier = attribute.renamingIdentifier else { continue }
            if names.contains(attribute.name) { names.insert(identifier) }
            if names.contains(identifier) { names.insert(attribute.name) }
        }
        distinct = names
    }

    /// Writes objects of every entity in one save.
    ///
    /// - Returns: how many objects were written.
    @discardableResult
    mutating func fill(
        _ log: LogStore, ofEach counts: ClosedRange<Int>, _ random: inout RandomSource
    ) throws -> Int {
        var graph = Graph(log)
        for entity in log.schema.entities where !entity.isAbstract {
            for _ in 0..<Int.random(in: counts, using: &random) { graph.add(entity) }
        }
        graph.matchPartners(&random)
        graph.dropTheLonely()
        for index in graph.objects.indices where graph.objects[index].isAlive {
            let entity = log.schema.entities[graph.objects[index].entity]
            for (column, description) in entity.columns.enumerated() {
                guard let attribute = description.attribute else { continue }
                graph.objects[index].values[column] = value(attribute, description, &random)
            }
        }
        graph.connect(&random)
        var request = graph.request
        request.resolution = .policy(.error)
        _ = try log.save(request)
        return request.inserted.count
    }

    // MARK: Values

    private mutating func value(
        _ attribute: AttributeDescription, _ column: SchemaColumn, _ random: inout RandomSource
    ) -> Value {
        counter += 1
        if column.isOptional, random.oneIn(4) { return .null }
        let isDistinct = distinct.contains(attribute.name)
        let number = isDistinct || random.oneIn(3) ? counter : Self.pick(Self.integers, &random)
        switch attribute.type {
        case .integer16: return .integer(Int64(Int16(truncatingIfNeeded: number)))
        case .integer32: return .integer(Int64(Int32(truncatingIfNeeded: number)))
        case .integer64: return .integer(number)
        case .decimal: return .decimal(Decimal(number) / 8)
        case .double:
            return .double(
                isDistinct ? Double(number) / 4 : Self.pick(Self.doubles, &random))
        case .float:
            return .float(
                isDistinct ? Float(number) / 4 : Float(Self.pick(Self.doubles, &random)))
        case .boolean: return .boolean(random.oneIn(2))
        case .date: return .date(Date(timeIntervalSinceReferenceDate: Double(number) / 16))
        case .string: return .string(text(isDistinct, &random))
        case .uri: return .uri(URL(fileURLWithPath: "/\(isDistinct ? counter : number % 7)"))
        case .binary, .transformable:
            let bytes = random.bytes(random.oneIn(12) ? 6_000 : Int(random.next() % 40))
            return .binary(Data("\(counter) ".utf8) + bytes)
        case .uuid:
            return .uuid(
                UUID(
                    uuid: (
                        1, 2, 3, 4, 5, 6, 0x47, 8, 0x89, 10, 11, 12, 13,
                        UInt8(truncatingIfNeeded: counter >> 16),
                        UInt8(truncatingIfNeeded: counter >> 8), UInt8(truncatingIfNeeded: counter)
                    )))
        case .undefined, .composite, .objectID: return .null
        }
    }

    private func text(_ isDistinct: Bool, _ random: inout RandomSource) -> String {
        let text = Self.pick(Self.texts, &random)
        if isDistinct { return "\(counter) \(text)" }
        // Long enough for frames of its own.
        return random.oneIn(20) ? String(repeating: "long \(counter) ", count: 700) : text
    }

    private static let texts = ["", "a", "A", "cafe\u{301}", "straße", "日本", "👩‍👩‍👧", "x\u{0}y"]
    private static let integers: [Int64] = [
        0, 1, -1, 2, 32_767, -32_768, 2_147_483_647, -2_147_483_648, .max, .min,
    ]
    private static let doubles: [Double] = [
        0, -0.0, 1, -2.5, 0.1, 1e30, .infinity, .leastNonzeroMagnitude, .nan,
    ]

    fileprivate static func pick<T>(_ items: [T], _ random: inout RandomSource) -> T {
        items[Int.random(in: 0..<items.count, using: &random)]
    }
}

/// Objects that are to be saved, and who is connected with whom.
private struct Graph {
    struct Object {
        let id: ObjectID
        let entity: Int
        var values: [Value]
        var isAlive = true
    }

    let log: LogStore
    let schema: Schema
    var objects: [Object] = []
    private var pairs: Set<SaveRequest.PairChange> = []
    /// The lists, in their order, of relationships that have one.
    private var orders: [SaveRequest.OrderChange] = []

    init(_ log: LogStore) {
        self.log = log
        schema = log.schema
    }

    mutating func add(_ entity: SchemaEntity) {
        let id = ObjectID(
            temporary: UInt64(objects.count + 1),
            hierarchy: log.identity.hierarchies[entity.index], context: log.identity.identifier)
        objects.append(
            Object(
                id: id, entity: entity.index,
                values: Array(repeating: .null, count: entity.columns.count)))
    }

    private func alive(_ entity: Int) -> [Int] {
        let family = schema.entities[entity].family
        return objects.indices.filter {
            objects[$0].isAlive && family.contains(objects[$0].entity)
        }
    }

    // MARK: Partners

    /// References from both ends: by the entity that declares them.
    private var partnerships: [(one: SchemaRelationship, other: SchemaRelationship)] {
        var result: [(SchemaRelationship, SchemaRelationship)] = []
        for entity in schema.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.index {
                guard case .column(let column) = relationship.storage,
                    let inverse = relationship.inverse
                else { continue }
                let other = schema.entities[relationship.destination].relationships[inverse]
                guard case .column(let back) = other.storage else { continue }
                // Each once: from the end that comes first.
                if (entity.index, column) <= (other.declaringEntity, back) {
                    result.append((relationship, other))
                }
            }
        }
        return result
    }

    private static func column(_ relationship: SchemaRelationship) -> Int? {
        if case .column(let column) = relationship.storage { column } else { nil }
    }

    mutating func matchPartners(_ random: inout RandomSource) {
        for (one, other) in partnerships {
            guard let column = Self.column(one), let back = Self.column(other) else { continue }
            var left = alive(one.declaringEntity).shuffled(using: &random)
            var right = alive(one.destination).shuffled(using: &random)
            let isNeeded = !one.description.isOptional || !other.description.isOptional
            while let owner = left.popLast() {
                guard objects[owner].values[column].isNull else { continue }
                guard let place = right.lastIndex(where: { objects[$0].values[back].isNull }) else {
                    break
                }
                let partner = right.remove(at: place)
                if !isNeeded, random.oneIn(3) { continue }
                objects[owner].values[column] = .objectID(objects[partner].id)
                objects[partner].values[back] = .objectID(objects[owner].id)
            }
        }
    }

    /// Leaves out who lacks what he must have, until nobody does.
    mutating func dropTheLonely() {
        var goesOn = true
        while goesOn {
            goesOn = false
            let known = Set(objects.filter(\.isAlive).map(\.id))
            for index in objects.indices where objects[index].isAlive {
                let entity = schema.entities[objects[index].entity]
                for (column, description) in entity.columns.enumerated() {
                    guard
                        let relationship = description.relationship.map({ entity.relationships[$0] }
                        )
                    else { continue }
                    if case .objectID(let target) = objects[index].values[column],
                        !known.contains(target)
                    {
                        objects[index].values[column] = .null
                    }
                    let isMatched =
                        relationship.inverse.map {
                            Self.column(schema.entities[relationship.destination].relationships[$0])
                                != nil
                        } ?? false
                    if description.isOptional { continue }
                    if isMatched
                        ? objects[index].values[column].isNull
                        : alive(relationship.destination).isEmpty
                    {
                        objects[index].isAlive = false
                        goesOn = true
                        break
                    }
                }
            }
        }
    }

    // MARK: References and pairs

    mutating func connect(_ random: inout RandomSource) {
        let matched = Set(
            partnerships.flatMap { [$0.one, $0.other] }.compactMap { relationship in
                Self.column(relationship).map { Link(relationship.declaringEntity, $0) }
            })
        for index in objects.indices where objects[index].isAlive {
            let entity = schema.entities[objects[index].entity]
            for (column, description) in entity.columns.enumerated() {
                guard let relationship = description.relationship.map({ entity.relationships[$0] }),
                    !matched.contains(Link(relationship.declaringEntity, column))
                else { continue }
                if description.isOptional, random.oneIn(4) { continue }
                let targets = alive(relationship.destination)
                if targets.isEmpty { continue }
                objects[index].values[column] = .objectID(
                    objects[RandomObjects.pick(targets, &random)].id)
            }
        }
        for (number, pair) in schema.pairs.enumerated() {
            let targets = alive(pair.destination)
            if targets.isEmpty { continue }
            for source in alive(pair.source) {
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let target = RandomObjects.pick(targets, &random)
                    pairs.insert(
                        .init(
                            pairs: number, source: objects[source].id,
                            destination: objects[target].id, isAddition: true))
                }
            }
        }
        putInOrder(&random)
    }

    private struct Link: Hashable {
        let entity: Int
        let column: Int
        init(_ entity: Int, _ column: Int) {
            self.entity = entity
            self.column = column
        }
    }

    private mutating func putInOrder(_ random: inout RandomSource) {
        for object in objects where object.isAlive {
            let entity = schema.entities[object.entity]
            for (index, relationship) in entity.relationships.enumerated()
            where relationship.keepsOrder {
                let members = members(of: object.id, relationship).shuffled(using: &random)
                if members.isEmpty { continue }
                orders.append(
                    .init(
                        owner: object.id, entity: object.entity, relationship: index,
                        members: members, base: nil))
            }
        }
    }

    private func members(of owner: ObjectID, _ relationship: SchemaRelationship) -> [ObjectID] {
        switch relationship.storage {
        case .column, .transient: return []
        case .inverseColumn(let entity, let column):
            return alive(entity).filter { objects[$0].values[column] == .objectID(owner) }
                .map { objects[$0].id }
        case .pairs(let number, let isSource):
            let isSymmetric = schema.pairs[number].isSymmetric(schema.entities)
            let own = pairs.filter { $0.pairs == number }
            var members: Set<ObjectID> = []
            if isSource || isSymmetric {
                members.formUnion(own.filter { $0.source == owner }.map(\.destination))
            }
            if !isSource || isSymmetric {
                members.formUnion(own.filter { $0.destination == owner }.map(\.source))
            }
            // In an order that the seed decides.
            return objects.map(\.id).filter(members.contains)
        }
    }

    /// All of it.
    var request: SaveRequest {
        var request = SaveRequest()
        for object in objects where object.isAlive {
            request.inserted.append(
                .init(
                    id: object.id, entity: object.entity, values: object.values,
                    assigned: ColumnSet(object.values.indices)))
        }
        let places = Dictionary(
            uniqueKeysWithValues: objects.enumerated().map { ($1.id, $0) })
        request.pairChanges = pairs.sorted { one, other in
            let keys = [one, other].map {
                [$0.pairs, places[$0.source] ?? 0, places[$0.destination] ?? 0]
            }
            return keys[0].lexicographicallyPrecedes(keys[1])
        }
        request.orderChanges = orders
        return request
    }
}
