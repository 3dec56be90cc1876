// Searches a whole store for an id, a key or a string.
//
//   1. As an id: the object with that number in each hierarchy, or the object of a URI.
//   2. As a key: each uniqueness constraint of one attribute, if the text is a value of its type.
//   3. As a part of a string: each string attribute of each entity in turn, until the limit is reached.
//
// An object found by its key is not found again by the string of that key.
//
// Threads: one.

import CairnInspection
import CairnModel
import CairnStore
import FoundationEssentials

/// A search of a whole store.
struct StoreSearch {
    /// How a place was found.
    enum Kind: String {
        case id, key, text
    }

    /// The place of a match.
    struct Place {
        let entity: String
        let id: ObjectID
        let kind: Kind
        /// The attribute; nil for an id.
        let property: String?
        /// Its value.
        let value: Value
        /// The requested id, of an object that was merged into this one.
        var led: ObjectID?
    }

    private struct Seen: Hashable {
        let id: ObjectID
        let property: String
    }

    private let session: StoreSession
    private let snapshot: any StoreSnapshot
    /// The entities to search that have their own objects.
    private let entities: [SchemaEntity]
    private let limit: Int
    private var places: [Place] = []
    private var seen: Set<Seen> = []

    init(
        _ session: StoreSession, _ snapshot: any StoreSnapshot, _ entity: SchemaEntity?,
        _ limit: Int
    ) {
        self.session = session
        self.snapshot = snapshot
        self.limit = limit
        entities = (entity?.family ?? Array(session.schema.entities.indices))
            .map { session.schema.entities[$0] }.filter { !$0.isAbstract }
    }

    /// Returns the places, at most `limit`.
    ///
    /// - Parameter progress: called with each attribute before it is searched.
    mutating func find(_ text: String, progress: (String) -> Void) throws -> [Place] {
        try findID(text)
        try findKeys(text)
        try findTexts(text, progress)
        return places
    }

    private mutating func findID(_ text: String) throws {
        var ids: [ObjectID] = []
        if text.hasPrefix("p"), let number = UInt64(text.dropFirst()) {
            for root in Set(entities.map(\.root)).sorted() {
                ids.append(session.store.identity.id(number, entity: root))
            }
        } else if let id = URL(string: text).flatMap({ ObjectID(uriRepresentation: $0) }) {
            ids.append(id)
        }
        for (id, row) in zip(ids, try snapshot.rows(ids)) where places.count < limit {
            var found = row
            if found == nil, let other = try snapshot.redirectedObjectID(for: id) {
                found = try snapshot.rows([other])[0]
            }
            guard let row = found, let entity = entities.first(where: { $0.index == row.entity })
            else { continue }
            places.append(
                Place(
                    entity: entity.name, id: row.id, kind: .id, property: nil, value: .null,
                    led: row.id == id ? nil : id))
        }
    }

    private mutating func findKeys(_ text: String) throws {
        for entity in entities {
            for constraint in entity.plainConstraints where constraint.columns.count == 1 {
                let column = constraint.columns[0]
                guard case .attribute(let type) = entity.columns[column].kind,
                    case .value(let value) = CellConversion(text: text, as: type)
                else { continue }
                try add(.compare(constraint.names[0], .equal, value), column, entity, .key)
            }
        }
    }

    private mutating func findTexts(_ text: String, _ progress: (String) -> Void) throws {
        for entity in entities {
            for (index, column) in entity.columns.enumerated()
            where column.kind == .attribute(.string) {
                if places.count < limit { progress("\(entity.name).\(column.name)") }
                let condition = PredicateNode.comparison(
                    .init(
                        .keyPath(column.name), .contains, .constant(.string(text)),
                        options: [.caseInsensitive, .diacriticInsensitive]))
                try add(condition, index, entity, .text)
            }
        }
    }

    private mutating func add(
        _ condition: PredicateNode, _ column: Int, _ entity: SchemaEntity, _ kind: Kind
    ) throws {
        guard places.count < limit else { return }
        var fetch = StoreFetch(
            entity: entity.index,
            predicate: try condition.bound(to: entity, in: session.schema))
        fetch.includesSubentities = false
        fetch.includesRows = true
        // The full limit, since some of the rows may already be known.
        fetch.limit = limit
        let property = entity.columns[column].name
        for row in try snapshot.fetch(fetch).rows where places.count < limit {
            guard seen.insert(Seen(id: row.id, property: property)).inserted else { continue }
            places.append(
                Place(
                    entity: entity.name, id: row.id, kind: kind, property: property,
                    value: session.value(column, row)))
        }
    }
}
