// What a request certainly needs, determined from the request alone: so that one round trip usually loads all of it.
//
// Too much costs time, too little another round trip: neither changes what is decided.
//
// Threads: functions of values only.

import CairnLog
import CairnModel
import CairnStore

extension PartialKnowledge.Needs {
    /// What a save needs.
    init(_ request: SaveRequest, _ catalog: Catalog, _ identity: StoreIdentity) {
        self.init()
        for object in request.inserted {
            if object.id.isTemporary {
                numbers[catalog.entities[object.entity].tree, default: 0] += 1
            } else {
                add(object.id, object.entity, catalog, identity)
            }
            add(object.values, of: object.entity, catalog, identity)
        }
        for object in request.updated {
            add(object.id, object.entity, catalog, identity)
            let entity = catalog.schema.entities[object.entity]
            var values = entity.columns.indices.map {
                object.base.cells.value($0, of: entity, in: identity)
            }
            var changed = ColumnSet()
            for (column, value) in object.changes where column < values.count {
                values[column] = value
                changed.insert(column)
            }
            add(values, of: object.entity, catalog, identity, changed: changed)
        }
        for object in request.deleted {
            add(object.id, object.entity, catalog, identity)
            addAll(leadingTo: object.id, object.entity, catalog)
        }
        for object in request.locked { add(object.id, object.entity, catalog, identity) }
        for change in request.pairChanges { add(change, catalog, identity) }
    }

    /// Adds the objects at the ends of a pair, and the pairs of those that look after them.
    private mutating func add(
        _ change: SaveRequest.PairChange, _ catalog: Catalog, _ identity: StoreIdentity
    ) {
        guard catalog.schema.pairs.indices.contains(change.pairs) else { return }
        let pairs = catalog.schema.pairs[change.pairs]
        add(change.source, pairs.source, catalog, identity)
        add(change.destination, pairs.destination, catalog, identity)
        let isSymmetric = pairs.isSymmetric(catalog.schema.entities)
        for reference in catalog.entities[catalog.entityIndex(ofPairs: change.pairs)].references {
            let definition = catalog.references[reference]
            let isAsked = definition.column == 0 || definition.order != nil
            for end in [change.source, change.destination] where isAsked {
                let isNear = (end == change.source) == (definition.column == 0)
                guard isNear || isSymmetric, !end.isTemporary,
                    let number = UInt32(exactly: end.reference)
                else { continue }
                references.insert(.init(reference: reference, target: number))
            }
        }
    }

    /// The rows of objects, as far as they are the store's.
    init(rows ids: [ObjectID], _ catalog: Catalog, _ identity: StoreIdentity) {
        self.init()
        for id in ids {
            guard let entity = identity.entity(of: id) else { continue }
            add(id, entity, catalog, identity)
        }
    }

    private mutating func add(
        _ id: ObjectID, _ entity: Int, _ catalog: Catalog, _ identity: StoreIdentity
    ) {
        guard identity.owns(id, entity: entity), let number = UInt32(exactly: id.reference) else {
            return
        }
        rows[catalog.entities[entity].tree, default: []].insert(number)
    }

    /// Adds the keys of a row, and what it leads to.
    ///
    /// - Parameter changed: the columns that say something new; nil: all.
    private mutating func add(
        _ values: [Value], of entity: Int, _ catalog: Catalog, _ identity: StoreIdentity,
        changed: ColumnSet? = nil
    ) {
        let stored = catalog.entities[entity]
        guard values.count == stored.columns.count else { return }
        for (column, value) in values.enumerated() where changed?.contains(column) ?? true {
            guard case .objectID(let id) = value, !id.isTemporary, id.store == identity.identifier,
                let tree = stored.columns[column].target,
                let number = UInt32(exactly: id.reference)
            else { continue }
            rows[tree, default: []].insert(number)
        }
        for unique in stored.uniques {
            let form = catalog.uniques[unique].form
            if let changed, !form.columns.contains(where: { changed.contains($0) }) { continue }
            // Nobody has a key yet that leads to a new object.
            let isNew = form.columns.contains { column in
                if case .objectID(let id) = values[column] { id.isTemporary } else { false }
            }
            guard !isNew, let bytes = form.bytes(values) else { continue }
            keys.insert(.init(unique: unique, bytes: bytes))
        }
    }

    /// Adds all that leads to an object which goes.
    private mutating func addAll(leadingTo id: ObjectID, _ entity: Int, _ catalog: Catalog) {
        guard let number = UInt32(exactly: id.reference) else { return }
        let tree = catalog.entities[entity].tree
        for (reference, definition) in catalog.references.enumerated()
        where definition.target == tree {
            references.insert(.init(reference: reference, target: number))
        }
    }
}
