// Random objects, the same in several stores: what they lead to is said by their places in a list, and made ids of each store.

import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

struct AskedContent {
    private struct Object {
        let entity: SchemaEntity
        var values: [Value]
        /// By column.
        var targets: [Int: Int] = [:]
    }

    private struct Pair: Hashable {
        let pairs: Int
        let source: Int
        let destination: Int
    }

    let schema: Schema
    private var objects: [Object] = []
    private var pairs: Set<Pair> = []
    /// What is deleted once everything is there.
    private var deleted: [Int] = []

    /// The objects of a store by their places.
    struct Stored {
        let ids: [ObjectID]
        let places: [ObjectID: Int]
    }

    init(_ schema: Schema, _ random: inout RandomSource) {
        self.schema = schema
        let count = Int.random(in: 20...60, using: &random)
        for _ in 0..<count {
            let entity = AskedValue.pick(schema.entities, &random)
            objects.append(
                Object(
                    entity: entity,
                    values: entity.columns.map { column in
                        guard case .attribute(let type) = column.kind, !random.oneIn(5) else {
                            return .null
                        }
                        return AskedValue.stored(type, &random)
                    }))
        }
        for index in objects.indices { relate(index, &random) }
        deleted = objects.indices.filter {
            objects[$0].entity.name == "Tag" && random.oneIn(4)
        }
    }

    private mutating func relate(_ index: Int, _ random: inout RandomSource) {
        let entity = objects[index].entity
        for relationship in entity.relationships {
            let all = objects.indices.filter {
                objects[$0].entity.isKind(of: schema.entities[relationship.destination])
            }
            guard !all.isEmpty else { continue }
            switch relationship.storage {
            case .column(let column):
                if random.oneIn(4) { continue }
                let target = AskedValue.pick(all, &random)
                if let inverse = relationship.inverse,
                    case .column(let back) = schema.entities[relationship.destination]
                        .relationships[inverse].storage
                {
                    // One of each at most.
                    guard objects[target].targets[back] == nil,
                        objects[index].targets[column] == nil
                    else { continue }
                    objects[target].targets[back] = index
                }
                objects[index].targets[column] = target
            case .pairs(let pairs, isSource: true):
                for _ in 0..<Int.random(in: 0...3, using: &random) {
                    let target = AskedValue.pick(all, &random)
                    let turned = Pair(pairs: pairs, source: target, destination: index)
                    if schema.pairs[pairs].isSymmetric(schema.entities),
                        self.pairs.contains(turned)
                    {
                        continue
                    }
                    self.pairs.insert(Pair(pairs: pairs, source: index, destination: target))
                }
            case .pairs, .inverseColumn, .transient: break
            }
        }
    }

    /// Puts it into a new store.
    func fill(_ store: some PersistentStore) throws -> Stored {
        let ids = try store.obtainPermanentIDs(forEntities: objects.map(\.entity.index))
        var request = SaveRequest()
        for (index, object) in objects.enumerated() {
            var values = object.values
            for (column, target) in object.targets { values[column] = .objectID(ids[target]) }
            request.inserted.append(
                .init(
                    id: ids[index], entity: object.entity.index, values: values,
                    assigned: ColumnSet(0..<values.count)))
        }
        for pair in pairs.sorted(by: {
            ($0.pairs, $0.source, $0.destination) < ($1.pairs, $1.source, $1.destination)
        }) {
            request.pairChanges.append(
                .init(
                    pairs: pair.pairs, source: ids[pair.source], destination: ids[pair.destination],
                    isAddition: true))
        }
        try save(request, in: store)
        var removal = SaveRequest()
        for index in deleted {
            removal.deleted.append(
                .init(id: ids[index], entity: objects[index].entity.index, version: nil))
            for pair in pairs where pairEnds(pair).contains(index) {
                removal.pairChanges.append(
                    .init(
                        pairs: pair.pairs, source: ids[pair.source],
                        destination: ids[pair.destination], isAddition: false))
            }
        }
        if !deleted.isEmpty { try save(removal, in: store) }
        return Stored(
            ids: ids,
            places: Dictionary(uniqueKeysWithValues: ids.enumerated().map { ($1, $0) }))
    }

    private func pairEnds(_ pair: Pair) -> [Int] {
        var ends: [Int] = []
        if schema.entities[schema.pairs[pair.pairs].source].name == "Tag" {
            ends.append(pair.source)
        }
        if schema.entities[schema.pairs[pair.pairs].destination].name == "Tag" {
            ends.append(pair.destination)
        }
        return ends
    }

    private func save(_ request: SaveRequest, in store: some PersistentStore) throws {
        guard case .saved = try store.save(request) else {
            Issue.record("a store has refused the content of a test")
            return
        }
    }
}
