// The objects without a target that another version of the model requires, found without changing anything.
//
//   1. Of a reference that stays, the rows with nil count.
//   2. Of one that is made of links that the old model kept otherwise, the links are gathered: who has none counts. Where both
//      sides lead to one object each, it is matched who keeps whom, as `LinkedRows` does it.
//
// Links with objects whose entity goes do not count.
//
// Threads: values.

package import CairnModel
package import CairnStore

/// Objects without a target that a new model requires.
package struct TargetlessObjects: Sendable, Hashable {
    /// The entity, by its name in the new model.
    package let entity: String
    /// The relationship.
    package let property: String
    /// How many objects there are.
    package let count: Int
    /// One of them.
    package let example: ObjectID

    package init(entity: String, property: String, count: Int, example: ObjectID) {
        self.entity = entity
        self.property = property
        self.count = count
        self.example = example
    }

    /// What a migration fails with for their sake.
    package var error: StoreError {
        StoreError(
            .migrationFailed,
            "\(count) \(count == 1 ? "object has" : "objects have") no target, \(count == 1 ? "" : "such as ")p\(example.reference), and the new model requires one",
            context: .init(entity: entity, key: property, objectID: example))
    }
}

extension PersistentStore {
    /// What would stop the store on its way to another model, though that can be inferred, for lack of targets.
    ///
    /// - Parameters:
    ///   - plan: a plan from the model that the store is open with.
    ///   - folded: objects that go before, since others take their place.
    /// - Complexity: O(objects of the entities that the relationships in question are of, and lead to).
    package func targetless(_ plan: ModelMigrationPlan, without folded: Set<ObjectID> = [])
        throws(StoreError) -> [TargetlessObjects]
    {
        var search = TargetlessSearch(
            plan: plan, snapshot: try snapshot(), identity: identity, folded: folded)
        return try search.run()
    }
}

private struct TargetlessSearch {
    /// A relationship that has to lead somewhere.
    private struct Place {
        let entity: Int
        let column: Int
    }

    /// How many rows are in memory.
    private static let rowsAtOnce = 4_096

    let plan: ModelMigrationPlan
    let snapshot: any StoreSnapshot
    let identity: StoreIdentity
    let folded: Set<ObjectID>
    /// The objects of entities that go, by the root of their hierarchy.
    private var gone: [Int: Set<UInt32>] = [:]

    init(
        plan: ModelMigrationPlan, snapshot: any StoreSnapshot, identity: StoreIdentity,
        folded: Set<ObjectID>
    ) {
        self.plan = plan
        self.snapshot = snapshot
        self.identity = identity
        self.folded = folded
    }

    private var old: Schema { plan.oldSchema }

    mutating func run() throws(StoreError) -> [TargetlessObjects] {
        let places = places()
        if places.isEmpty { return [] }
        for name in plan.droppedEntities {
            guard let entity = old.entity(named: name) else { continue }
            for id in try ids(of: entity.index, subentities: false) {
                gone[entity.root, default: []].insert(number(id))
            }
        }
        var problems: [TargetlessObjects] = []
        for place in places {
            let entity = plan.entities[place.entity]
            guard let source = entity.sourceIndex else { continue }
            let owners = try owners(place)
            let missing = try ids(of: source, subentities: false).filter {
                !owners.contains(number($0)) && !folded.contains($0)
            }
            guard let example = missing.first else { continue }
            problems.append(
                TargetlessObjects(
                    entity: entity.name, property: entity.columns[place.column].name,
                    count: missing.count, example: example))
        }
        return problems
    }

    /// The relationships that are required, and were not before.
    private func places() -> [Place] {
        var places: [Place] = []
        for (index, entity) in plan.entities.enumerated() {
            guard let source = entity.sourceIndex else { continue }
            for (position, column) in entity.columns.enumerated() {
                let described = plan.newSchema.entities[index].columns[position]
                guard described.relationship != nil, !described.isOptional,
                    column.sourceIndex.map({ old.entities[source].columns[$0].isOptional })
                        ?? true
                else { continue }
                places.append(Place(entity: index, column: position))
            }
        }
        return places
    }

    /// The objects that have a target.
    private func owners(_ place: Place) throws(StoreError) -> Set<UInt32> {
        let entity = plan.entities[place.entity]
        let column = entity.columns[place.column]
        guard let source = entity.sourceIndex else { return [] }
        if let kept = column.sourceIndex {
            return Set(
                try references(of: source, column: kept, subentities: false).map(Self.owner))
        }
        guard
            let sides = OneToOneMatch.sides(
                ofColumn: place.column, of: place.entity, plan.newSchema)
        else { return Set(try links(column).map(Self.owner)) }
        let match = OneToOneMatch(
            try links(ofSide: sides.here), try links(ofSide: sides.there),
            isOwnInverse: sides.here == sides.there)
        return Set(match.forth.keys)
    }

    /// The links that a relationship is made of, of all entities that have it.
    private func links(ofSide side: OneToOneMatch.Side) throws(StoreError) -> [UInt64] {
        var links: [UInt64] = []
        for index in plan.newSchema.entities[side.entity].family
        where plan.entities[index].sourceIndex != nil {
            links += try self.links(plan.entities[index].columns[side.column])
        }
        return links
    }

    // MARK: Links: the owner above, where it leads to below

    private static func owner(_ link: UInt64) -> UInt32 { UInt32(truncatingIfNeeded: link >> 32) }

    private func number(_ id: ObjectID) -> UInt32 { UInt32(truncatingIfNeeded: id.reference) }

    private func links(_ column: ColumnMigration) throws(StoreError) -> [UInt64] {
        var links: [UInt64] = []
        for origin in column.links { links += try self.links(origin) }
        return links
    }

    private func links(_ origin: LinkOrigin) throws(StoreError) -> [UInt64] {
        var links: [UInt64]
        let owner = old.entities[origin.owner]
        switch origin.form {
        case .column(_, let column) where origin.ownerIsHolder:
            links = try references(of: owner.index, column: column, subentities: true)
        case .column(let holder, let column):
            links = try references(of: holder, column: column, subentities: true)
                .map(OneToOneMatch.turned)
        case .pairs(let index):
            links = try pairs(old.pairs[index])
            if !origin.ownerIsHolder { links = links.map(OneToOneMatch.turned) }
        }
        // Whoever else has links of that kind is no owner here.
        let owners = Set(try ids(of: owner.index, subentities: true).map(number))
        let left = gone[owner.root] ?? []
        return links.filter { owners.contains(Self.owner($0)) && !left.contains(Self.owner($0)) }
            .sorted()
    }

    /// Who leads where by a column of references, both of objects that stay.
    private func references(of entity: Int, column: Int, subentities: Bool) throws(StoreError)
        -> [UInt64]
    {
        let described = old.entities[entity]
        guard let relationship = described.columns[column].relationship else { return [] }
        let target = described.relationships[relationship].destination
        let left = gone[old.entities[target].root] ?? []
        let here = gone[described.root] ?? []
        var links: [UInt64] = []
        try inParts(try ids(of: entity, subentities: subentities)) { part throws(StoreError) in
            for case let row? in try snapshot.rows(part) where !here.contains(number(row.id)) {
                let value = row.cells.value(column, of: old.entities[row.entity], in: identity)
                guard case .objectID(let id) = value, !left.contains(number(id)) else { continue }
                links.append(UInt64(number(row.id)) << 32 | UInt64(number(id)))
            }
        }
        return links
    }

    /// The pairs of a relationship, from their source.
    private func pairs(_ pairs: SchemaPairs) throws(StoreError) -> [UInt64] {
        let left = gone[old.entities[pairs.destination].root] ?? []
        let here = gone[old.entities[pairs.source].root] ?? []
        var links: [UInt64] = []
        try inParts(try ids(of: pairs.source, subentities: true)) { part throws(StoreError) in
            let lists = try snapshot.members(
                ofRelationship: pairs.sourceRelationship, entity: pairs.source, owners: part)
            for (owner, list) in zip(part, lists) where !here.contains(number(owner)) {
                for member in list where !left.contains(number(member)) {
                    links.append(UInt64(number(owner)) << 32 | UInt64(number(member)))
                }
            }
        }
        return links
    }

    private func ids(of entity: Int, subentities: Bool) throws(StoreError) -> [ObjectID] {
        var fetch = StoreFetch(entity: entity)
        fetch.includesSubentities = subentities
        return try snapshot.fetch(fetch).ids
    }

    private func inParts(
        _ ids: [ObjectID], _ body: ([ObjectID]) throws(StoreError) -> Void
    ) throws(StoreError) {
        var start = 0
        while start < ids.count {
            let end = min(start + Self.rowsAtOnce, ids.count)
            try body(Array(ids[start..<end]))
            start = end
        }
    }
}
