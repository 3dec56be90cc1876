// The objects of a store in the plainest form: what it must answer predicates like.

import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// An object in memory that knows its neighbours.
final class GraphObject: EvaluatedObject {
    let evaluatedID: ObjectID
    let evaluatedEntity: SchemaEntity
    private let values: [Value]
    fileprivate(set) var targets: [Int: GraphObject] = [:]
    fileprivate(set) var members: [Int: [GraphObject]] = [:]

    fileprivate init(_ row: Row, _ entity: SchemaEntity, _ identity: StoreIdentity) {
        evaluatedID = row.id
        evaluatedEntity = entity
        values = entity.columns.indices.map { row.cells.value($0, of: entity, in: identity) }
    }

    func evaluatedColumn(_ index: Int) -> Value { values[index] }

    func evaluatedAttribute(_ index: Int) -> Value {
        let columns = evaluatedEntity.attributes[index].columns
        return columns.count == 1 ? values[columns.lowerBound] : .null
    }

    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? { targets[relationship] }

    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] {
        members[relationship] ?? []
    }
}

/// All objects of a store.
struct Graph {
    let schema: Schema
    private(set) var objects: [GraphObject] = []

    /// Reads every row, without a condition, and joins them.
    init(_ store: LogStore) throws {
        let snapshot = try store.snapshot()
        schema = snapshot.schema
        var known: [ObjectID: GraphObject] = [:]
        for entity in schema.entities {
            var fetch = StoreFetch(entity: entity.index)
            fetch.includesSubentities = false
            fetch.includesRows = true
            for row in try snapshot.fetch(fetch).rows {
                let object = GraphObject(row, entity, store.identity)
                known[row.id] = object
                objects.append(object)
            }
        }
        for object in objects {
            for (index, relationship) in object.evaluatedEntity.relationships.enumerated() {
                if case .column(let column) = relationship.storage {
                    if case .objectID(let id) = object.evaluatedColumn(column) {
                        object.targets[index] = known[id]
                    }
                } else {
                    let members = try snapshot.members(
                        ofRelationship: index, entity: object.evaluatedEntity.index,
                        owners: [object.evaluatedID])
                    object.members[index] = members[0].compactMap { known[$0] }
                }
            }
        }
        objects.sort { $0.evaluatedID.reference < $1.evaluatedID.reference }
    }

    /// The objects that match, by the evaluator in memory.
    func matching(_ evaluator: PredicateEvaluator, _ entity: SchemaEntity, subentities: Bool)
        -> [GraphObject]
    {
        objects.filter {
            (subentities
                ? $0.evaluatedEntity.isKind(of: entity) : $0.evaluatedEntity === entity)
                && evaluator.matches($0)
        }
    }
}

extension EvaluatedObject {
    /// What is at a key path, followed part by part.
    func value(at path: String) -> Value {
        if let column = evaluatedEntity.columnIndex(named: path) { return evaluatedColumn(column) }
        let first = path.prefix { $0 != "." }
        guard let relationship = evaluatedEntity.relationshipIndex(named: String(first)),
            let target = evaluatedTarget(relationship)
        else { return .null }
        return target.value(at: String(path.dropFirst(first.count + 1)))
    }
}

/// The answer to a fetch in the plainest form.
enum PlainAnswer {
    /// The ids of objects that match, sorted and cut as a fetch says.
    static func ids(_ objects: [any EvaluatedObject], _ fetch: StoreFetch) -> [ObjectID] {
        let keyed = objects.map { object in
            (
                id: object.evaluatedID,
                keys: fetch.sort.map { $0.comparison.ordered(object.value(at: $0.key)) }
            )
        }
        let sorted = keyed.sorted { left, right in
            for (index, key) in fetch.sort.enumerated() {
                let (one, other) = (left.keys[index], right.keys[index])
                if let nulls = key.nulls, one.isNull != other.isNull {
                    return one.isNull == (nulls == .first)
                }
                let order = SortingOrder.compare(one, other)
                if order != 0 { return (order < 0) == key.isAscending }
            }
            return SortingOrder.compare(left.id, right.id) < 0
        }
        return sorted.dropFirst(fetch.offset).prefix(fetch.limit ?? .max).map(\.id)
    }
}
