// Makes references lead to what is there after the save.

import CairnModel
import CairnStore

extension SavePlanner {
    /// The working row that an id ends at, following absorptions; nil if the save does not know the id.
    func survivor(of id: ObjectID) -> Int? {
        guard var index = workingIndex(of: id) else { return nil }
        while case .absorbed(let next) = rows[index].fate { index = next }
        return index
    }

    /// Steps 4 to 6: references, pairs, mandatory properties.
    mutating func finish(_ builder: inout CommitBuilder) throws(StoreError) {
        try mapOwnReferences(&builder)
        try clearIncoming(&builder)
        try planPairs(&builder)
        try checkMandatory()
    }

    /// References of the rows of the save: temporary ids become numbers, absorbed targets survivors, and
    /// deleted targets nil.
    private mutating func mapOwnReferences(_ builder: inout CommitBuilder) throws(StoreError) {
        for index in rows.indices where rows[index].fate == .live {
            let entity = catalog.entities[rows[index].entity]
            for reference in entity.references {
                let column = catalog.references[reference].column
                guard case .objectID(let id) = rows[index].values[column] else { continue }
                let target = catalog.references[reference].target
                rows[index].values[column] = try mapped(id, tree: target, row: index, column: column, &builder)
            }
        }
    }

    private mutating func mapped(
        _ id: ObjectID, tree: Int, row: Int, column: Int, _ builder: inout CommitBuilder
    ) throws(StoreError) -> Value {
        let entity = catalog.entities[rows[row].entity]
        if let index = survivor(of: id) {
            guard catalog.entities[rows[index].entity].tree == tree else {
                throw wrongTarget(entity, column, row)
            }
            if rows[index].fate == .deleted { return .null }
            return .objectID(permanentID(of: index))
        }
        guard !id.isTemporary else {
            throw StoreError(
                .foreignObject, "the object that is pointed at is not part of the save",
                context: .init(
                    entity: entity.name, key: entity.columns[column].name, objectID: rows[row].id))
        }
        let root = catalog.trees[tree].root
        guard identity.owns(id, entity: catalog.schemaEntity(root)), UInt32(exactly: id.reference) != nil
        else { throw wrongTarget(entity, column, row) }
        return .objectID(id)
    }

    private func wrongTarget(_ entity: Catalog.StoredEntity, _ column: Int, _ row: Int) -> StoreError {
        StoreError(
            .foreignObject, "the object that is pointed at belongs to another store or entity",
            context: .init(
                entity: entity.name, key: entity.columns[column].name, objectID: rows[row].id))
    }

    /// The id under which a working row is, or will be, stored.
    func permanentID(of index: Int) -> ObjectID {
        identity.id(UInt64(rows[index].number), entity: catalog.schemaEntity(rows[index].entity))
    }

    /// Stored rows that point at an object that goes: re-pointed to its survivor, or cleared.
    private mutating func clearIncoming(_ builder: inout CommitBuilder) throws(StoreError) {
        var sources: [UInt32] = []
        var index = 0
        while index < rows.count {
            defer { index += 1 }
            guard rows[index].fate != .live, rows[index].stored != nil else { continue }
            let tree = catalog.entities[rows[index].entity].tree
            let replacement: Value
            if case .absorbed = rows[index].fate, let survivor = survivor(of: rows[index].id),
                rows[survivor].fate == .live
            {
                replacement = .objectID(permanentID(of: survivor))
            } else {
                replacement = .null
            }
            for (position, reference) in catalog.references.enumerated() where reference.target == tree {
                guard reference.entity < catalog.schema.entities.count else { continue }
                if replacement.isNull && reference.rule == .noAction { continue }
                sources.removeAll(keepingCapacity: true)
                builder.sources(reference: position, target: rows[index].number, into: &sources)
                for source in sources {
                    guard let other = try meet(entity: reference.entity, number: source, &builder),
                        rows[other].fate == .live,
                        case .objectID(let id) = rows[other].values[reference.column],
                        id.reference == UInt64(rows[index].number)
                    else { continue }
                    rows[other].values[reference.column] = replacement
                    rows[other].assigned.insert(reference.column)
                    rows[other].isMerged = true
                }
            }
        }
    }

    // MARK: Pairs

    private mutating func planPairs(_ builder: inout CommitBuilder) throws(StoreError) {
        var planned: Set<PairKey> = []
        var removed: Set<PairKey> = []
        for change in request.pairChanges where !change.isAddition {
            guard let pair = try pairKey(change, &builder), pair.isComplete else { continue }
            let entity = catalog.entityIndex(ofPairs: change.pairs)
            if let number = try builder.findPair(
                entity: entity, source: pair.source, destination: pair.destination),
                removed.insert(pair).inserted
            {
                pairRemovals.append((entity, number))
            }
        }
        for change in request.pairChanges where change.isAddition {
            guard let pair = try pairKey(change, &builder), pair.isComplete else { continue }
            try add(pair, removed: removed, planned: &planned, &builder)
        }
        try movePairs(removed: &removed, planned: &planned, &builder)
    }

    /// Pairs of objects that go: the survivor takes them, or they go too.
    private mutating func movePairs(
        removed: inout Set<PairKey>, planned: inout Set<PairKey>, _ builder: inout CommitBuilder
    ) throws(StoreError) {
        var numbers: [UInt32] = []
        for index in rows.indices where rows[index].fate != .live && rows[index].stored != nil {
            let tree = catalog.entities[rows[index].entity].tree
            let survivor = survivor(of: rows[index].id).flatMap { rows[$0].fate == .live ? $0 : nil }
            for (position, reference) in catalog.references.enumerated()
            where reference.target == tree && reference.entity >= catalog.schema.entities.count {
                numbers.removeAll(keepingCapacity: true)
                builder.sources(reference: position, target: rows[index].number, into: &numbers)
                for number in numbers {
                    let ends = try builder.pair(entity: reference.entity, number: number)
                    let old = PairKey(entity: reference.entity, source: ends.0, destination: ends.1)
                    guard removed.insert(old).inserted else { continue }
                    pairRemovals.append((reference.entity, number))
                    guard let survivor else { continue }
                    let own = rows[survivor].number
                    let moved = PairKey(
                        entity: reference.entity, source: reference.column == 0 ? own : ends.0,
                        destination: reference.column == 1 ? own : ends.1)
                    try add(moved, removed: removed, planned: &planned, &builder)
                }
            }
        }
    }

    private mutating func add(
        _ pair: PairKey, removed: Set<PairKey>, planned: inout Set<PairKey>,
        _ builder: inout CommitBuilder
    ) throws(StoreError) {
        guard planned.insert(pair).inserted else { return }
        if !removed.contains(pair),
            try builder.findPair(
                entity: pair.entity, source: pair.source, destination: pair.destination) != nil
        {
            return
        }
        pairAdditions.append((pair.entity, pair.source, pair.destination))
    }

    private struct PairKey: Hashable {
        let entity: Int
        let source: UInt32
        let destination: UInt32
        /// Number 0 stands for an object that is gone.
        var isComplete: Bool { source != 0 && destination != 0 }
    }

    private func pairKey(_ change: SaveRequest.PairChange, _ builder: inout CommitBuilder)
        throws(StoreError) -> PairKey?
    {
        let entity = catalog.entityIndex(ofPairs: change.pairs)
        let columns = catalog.entities[entity].columns
        guard let source = columns[0].target, let destination = columns[1].target else { return nil }
        return PairKey(
            entity: entity, source: try end(change.source, tree: source),
            destination: try end(change.destination, tree: destination))
    }

    private func end(_ id: ObjectID, tree: Int) throws(StoreError) -> UInt32 {
        if let index = survivor(of: id) {
            return rows[index].fate == .deleted ? 0 : rows[index].number
        }
        let root = catalog.trees[tree].root
        guard identity.owns(id, entity: catalog.schemaEntity(root)),
            let number = UInt32(exactly: id.reference)
        else {
            throw StoreError(
                .foreignObject, "a relationship leads to an object of another store or entity",
                context: .init(objectID: id))
        }
        return number
    }

    // MARK: Mandatory

    private func checkMandatory() throws(StoreError) {
        var failures: [StoreError] = []
        for row in rows where row.fate == .live && row.entity < catalog.schema.entities.count {
            let entity = catalog.schema.entities[row.entity]
            for (column, description) in entity.columns.enumerated()
            where !description.isOptional && row.values[column].isNull {
                // Derived values are the store's business, and what was nil before is not this save's fault.
                if description.attribute?.derivationExpression != nil { continue }
                if let stored = row.stored, stored.values[column].isNull { continue }
                failures.append(
                    StoreError(
                        .missingMandatory, "a mandatory property is nil",
                        context: .init(entity: entity.name, key: description.name, objectID: row.id)))
            }
        }
        guard let first = failures.first else { return }
        if !displaced.isEmpty {
            throw StoreError(
                .constraintConflict,
                "an object that others must point at would be displaced: \(first.message)",
                context: first.context, details: failures)
        }
        if failures.count == 1 { throw first }
        throw StoreError(.multiple, "several properties are invalid", details: failures)
    }
}
