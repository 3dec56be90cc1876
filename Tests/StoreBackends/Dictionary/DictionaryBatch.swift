// A batch insert into a dictionary store: row by row, then one look at the whole.

import CairnModel
import CairnStore
import FoundationEssentials

/// Reads all rows of a request into values; nil where a row says nothing.
struct DictionaryRowReader {
    let schema: Schema
    /// By row and column, the targets that are named; nil for none.
    private(set) var links: [Int: [Int: RowTarget?]] = [:]

    init(schema: Schema) { self.schema = schema }

    mutating func rows(of request: BatchInsertRequest) throws(StoreError) -> [[Value?]] {
        guard let entity = schema.entity(named: request.entityName), !entity.isAbstract else {
            throw StoreError(
                .invalidRequest, "there is no such entity, or it is abstract",
                context: .init(entity: request.entityName))
        }
        var rows: [[Value?]] = []
        var filler = try request.makeFiller(for: entity)
        var isEnd = false
        while !isEnd {
            let batch = ColumnBatch(entity)
            isEnd = try filler.fill(batch, firstRow: rows.count)
            try batch.seal(
                firstRow: rows.count, setOnly: request.carriedOut.setOnly,
                validates: request.validatesValues)
            if let list = batch.lists.pointee.all.first {
                throw StoreError(
                    .invalidRequest, "the plain store has no way to set such a relationship",
                    context: .init(
                        entity: entity.name,
                        key: entity.relationships[list.relationship].description.name))
            }
            for row in 0..<batch.rows {
                for column in entity.columns.indices
                where batch.columns[column].states[row] == ColumnBuffer.State.linked {
                    links[rows.count, default: [:]][column] = .some(
                        batch.columns[column].link(row: row))
                }
                rows.append(
                    entity.columns.indices.map {
                        batch.columns[$0].value(entity.columns[$0], row: row)
                    })
            }
        }
        return rows
    }
}

extension ColumnBuffer {
    /// The value of a row; nil if it was not set.
    fileprivate func value(_ column: SchemaColumn, row: Int) -> Value? {
        switch states[row] {
        case State.untouched, State.linked: return nil
        case State.null: return .null
        default: break
        }
        var builder = RowCellsBuilder(columns: 1)
        switch kind {
        case .integer, .double:
            builder.set(0, word: values.load(fromByteOffset: row * 8, as: UInt64.self))
        case .float:
            builder.set(0, word: UInt64(values.load(fromByteOffset: row * 4, as: UInt32.self)))
        case .bytes: builder.set(0, bytes: bytes(row: row))
        case .fixed16:
            builder.set(0, bytes: UnsafeRawBufferPointer(start: values + row * 16, count: 16))
        }
        guard case .attribute(let type) = column.kind else { return nil }
        return builder.finish().value(only: type)
    }
}

extension RowCells {
    /// The value of the only column, read as one of a type.
    fileprivate func value(only type: AttributeType) -> Value {
        let model = ManagedObjectModel(entities: [
            EntityDescription("Cell", attributes: [AttributeDescription("value", type)])
        ])
        guard let schema = try? Schema(model) else { return .null }
        let identity = StoreIdentity(identifier: .init(), hierarchies: [0])
        return value(0, of: schema.entities[0], in: identity)
    }
}

/// A batch insert being carried out.
struct DictionaryBatch {
    let schema: Schema
    let request: BatchInsertRequest
    var state: DictionaryState
    private let links: [Int: [Int: RowTarget?]]
    private var plans: [Int: RowLinkPlan] = [:]
    private var named: Set<ObjectID> = []
    private var rowOf: [ObjectID: Int] = [:]

    init(
        schema: Schema, request: BatchInsertRequest, state: DictionaryState,
        links: [Int: [Int: RowTarget?]]
    ) {
        self.schema = schema
        self.request = request.carriedOut
        self.state = state
        self.links = links
    }

    private var updates: Bool {
        request.mergePolicy.map { ConflictRules.batchRowMeetsRow($0) == .update } ?? false
    }

    mutating func run(_ rows: [[Value?]], issue: (Int) -> ObjectID) throws(StoreError)
        -> BatchInsertResult
    {
        guard let entity = schema.entity(named: request.entityName) else {
            throw StoreError(.invalidRequest, "there is no such entity")
        }
        let before = state
        var result = BatchInsertResult()
        var touched: [ObjectID] = []
        var skipped: [StoreError] = []
        var refused: [StoreError] = []
        // Who waits for a target that is not there yet.
        var open: [(row: Int, column: Int, id: ObjectID, wanted: RowLinkPlan.Wanted)] = []
        // The rows that have changed each object, and those that have changed a key of it.
        var writers: [ObjectID: [Int]] = [:]
        var rekeyed: Set<ObjectID> = []
        for (index, given) in rows.enumerated() {
            var row = given
            var waiting: [(column: Int, wanted: RowLinkPlan.Wanted)] = []
            for (column, target) in (links[index] ?? [:]).sorted(by: { $0.key < $1.key }) {
                let wanted = try wanted(target, column, index, entity)
                var found: ObjectID?
                if let wanted { found = try find(wanted, column, index) }
                if let found {
                    row[column] = .objectID(found)
                } else if let wanted, case .key = wanted {
                    waiting.append((column, wanted))
                } else {
                    if let wanted { try checkMayBeMissing(wanted, column, index, entity) }
                    row[column] = .null
                }
            }
            func note(_ id: ObjectID) {
                open.removeAll { $0.id == id && links[index]?[$0.column] != nil }
                open += waiting.map { (index, $0.column, id, $0.wanted) }
            }
            let new = entity.columns.enumerated().map { row[$0] ?? $1.defaultValue }
            if hasNoKey(new, entity) {
                result.keylessCount += 1
                if result.keylessRows.count < 10 { result.keylessRows.append(index) }
                if request.missingKey == .fail {
                    throw StoreError(
                        .missingMandatory, "the row has no key",
                        context: .init(entity: entity.name, row: index))
                }
                if request.missingKey == .skip {
                    result.skippedCount += 1
                    result.outcomes.append(.skipped)
                    continue
                }
            }
            let found = updates ? match(new, entity, before) : anyMatch(new, entity)
            if request.reportsRepeats, let found, named.contains(found) {
                result.repeatedCount += 1
                if result.repeatedRows.count < 10 { result.repeatedRows.append(index) }
            }
            guard let found else {
                let id = issue(entity.index)
                state.objects[id] = DictionaryObject(
                    entity: entity.index, version: 1, values: new)
                result.insertedCount += 1
                result.outcomes.append(.inserted)
                touched.append(id)
                named.insert(id)
                rowOf[id] = index
                note(id)
                continue
            }
            named.insert(found)
            guard updates, let old = state.objects[found] else {
                result.skippedCount += 1
                result.outcomes.append(.skipped)
                skipped.append(
                    StoreError(
                        .constraintConflict, "the row's key is stored already",
                        context: .init(entity: entity.name, row: index, objectID: found)))
                continue
            }
            let common = schema.commonColumns(entity.index, old.entity)
            let isNamed = { (column: Int) in
                waiting.contains { $0.column == column } || !(row[column] ?? .null).isNull
            }
            if let lost = entity.columns.indices.first(where: {
                !common.contains($0) && isNamed($0)
            }) {
                result.skippedCount += 1
                result.outcomes.append(.skipped)
                refused.append(
                    StoreError(
                        .constraintConflict, "the object with the key cannot have the property",
                        context: .init(
                            entity: entity.name, key: entity.columns[lost].name, row: index,
                            objectID: found)))
                continue
            }
            rowOf[found] = index
            note(found)
            var values = old.values
            if request.mergePolicy == .declared {
                values = try declared(row, old, entity, common)
            }
            for column in common where request.mergePolicy != .declared {
                if entity.columns[column].relationship != nil, row[column] == nil { continue }
                if entity.columns[column].attribute?.derivationExpression != nil { continue }
                if request.setOnly && row[column] == nil { continue }
                values[column] = new[column]
            }
            if values == old.values {
                result.unchangedCount += 1
                result.outcomes.append(.unchanged)
            } else {
                state.objects[found]?.values = values
                result.updatedCount += 1
                writers[found, default: []].append(result.outcomes.count)
                result.outcomes.append(.updated)
                let described = schema.entities[old.entity]
                if described.constraints.contains(where: {
                    $0.naiveKey(values, of: described) != $0.naiveKey(old.values, of: described)
                }) {
                    rekeyed.insert(found)
                }
                if !touched.contains(found) { touched.append(found) }
            }
        }
        if request.failsOnConflict, !skipped.isEmpty { throw several(skipped) }
        if !refused.isEmpty { throw several(refused) }
        for link in open {
            let found = try find(link.wanted, link.column, link.row)
            if found == nil { try checkMayBeMissing(link.wanted, link.column, link.row, entity) }
            let value = found.map { Value.objectID($0) } ?? .null
            guard state.objects[link.id]?.values[link.column] != value else { continue }
            state.objects[link.id]?.values[link.column] = value
            rekeyed.insert(link.id)
            if !touched.contains(link.id) {
                touched.append(link.id)
                result.updatedCount += 1
                result.unchangedCount -= 1
                result.outcomes[link.row] = .updated
            }
        }
        // Rows that come to what is stored have said nothing, if they can be given again.
        for (id, rows) in writers
        where request.canRepeat && !rekeyed.contains(id)
            && state.objects[id]?.values == before.objects[id]?.values
        {
            for row in rows { result.outcomes[row] = .unchanged }
            result.updatedCount -= rows.count
            result.unchangedCount += rows.count
            touched.removeAll { $0 == id }
        }
        try checkMandatory(touched)
        if let plan = try request.missingPlan(in: schema) {
            let isListed =
                result.insertedCount + result.updatedCount + result.unchangedCount > 0
                || named.contains { id in
                    before.objects[id].map { entity.family.contains($0.entity) } ?? false
                }
            if !request.allowsEmpty, !isListed { throw plan.emptyList(hasRows: !rows.isEmpty) }
            let candidates = try plan.scope.map { scope throws(StoreError) in
                Set(try before.fetch(scope, in: schema).ids)
            }
            let isNamable = entity.constraints.contains { $0.options?.predicate == nil }
            let missing = state.objects(of: entity).filter { id, object in
                !named.contains(id) && candidates?.contains(id) ?? true
                    && (isNamable
                        || entity.constraints.contains {
                            $0.naiveKey(object.values, of: entity) != nil
                        })
            }.map(\.id)
            switch plan.work {
            case .delete:
                var deletion = DictionaryDeletion(schema: schema, state: state)
                result.missingIDs = try deletion.delete(missing)
                if let contradicted = result.missingIDs.first(where: named.contains) {
                    throw StoreError(
                        .deleteDenied, "a row names an object that would be deleted",
                        context: .init(entity: entity.name, objectID: contradicted))
                }
                result.deletedCount = missing.count
                state = deletion.state
            case .mark(let marks):
                for id in missing {
                    var values = state.objects[id]?.values ?? []
                    for mark in marks.assignments {
                        guard case .constant(let value) = mark.content else { continue }
                        values[mark.column] = value
                    }
                    guard values != state.objects[id]?.values else { continue }
                    state.objects[id]?.values = values
                    result.markedCount += 1
                    result.missingIDs.append(id)
                }
            }
            if request.resultType != .objectIDs { result.missingIDs = [] }
        }
        // What is missing may have had the keys of rows.
        try checkUnique()
        _ = state.settleOrders(after: before, in: schema)
        try state.derive(after: before, in: schema)
        for (id, object) in state.objects {
            if let old = before.objects[id], old.values != object.values {
                state.objects[id]?.version = old.version &+ 1
            }
        }
        if state.objects != before.objects || state.pairs != before.pairs {
            state.commit = before.commit + 1
            result.commit = state.commit
        }
        if request.resultType == .objectIDs { result.objectIDs = touched }
        if !request.reportsOutcomes { result.outcomes = [] }
        return result
    }

    // MARK: Relationships

    private mutating func wanted(
        _ target: RowTarget?, _ column: Int, _ row: Int, _ entity: SchemaEntity
    ) throws(StoreError) -> RowLinkPlan.Wanted? {
        if plans[column] == nil {
            let index = entity.columns[column].relationship ?? 0
            if schema.isOneToOne(entity.relationships[index])
                || schema.orderedReferences[entity.index].contains(column)
            {
                throw StoreError(
                    .invalidRequest, "the plain store has no way to set such a relationship",
                    context: .init(entity: entity.name, key: entity.columns[column].name))
            }
            plans[column] = RowLinkPlan(column, of: entity, in: schema)
        }
        return try plans[column]?.wanted(target, row: row)
    }

    private func find(_ wanted: RowLinkPlan.Wanted, _ column: Int, _ row: Int)
        throws(StoreError) -> ObjectID?
    {
        guard let plan = plans[column] else { return nil }
        switch wanted {
        case .object(let id):
            guard let object = state.objects[id] else {
                if state.identity.owns(id, entity: plan.destination.index) { return nil }
                throw plan.foreign(id, row: row)
            }
            if plan.destination.family.contains(object.entity) { return id }
            throw plan.foreign(id, row: row)
        case .key(let constraint, let values):
            let key = constraint.naiveKey(values, of: plan.destination)
            return state.objects(of: plan.destination)
                .first { constraint.naiveKey($1.values, of: plan.destination) == key }?.id
        }
    }

    private func checkMayBeMissing(
        _ wanted: RowLinkPlan.Wanted, _ column: Int, _ row: Int, _ entity: SchemaEntity
    ) throws(StoreError) {
        guard let plan = plans[column], !request.ignoresMissingTargets || !plan.isOptional else {
            return
        }
        throw plan.missing(wanted, row: row)
    }

    // MARK: Steps

    private func several(_ errors: [StoreError]) -> StoreError {
        if errors.count == 1 { return errors[0] }
        return StoreError(errors[0].code, "several rows are refused", details: errors)
    }

    /// Whether no constraint gives a row a key, though there are some.
    private func hasNoKey(_ values: [Value], _ entity: SchemaEntity) -> Bool {
        !entity.constraints.isEmpty
            && entity.constraints.allSatisfy { $0.naiveKey(values, of: entity) == nil }
    }

    /// What the rules of the model make of a row and the object that it finds.
    private func declared(
        _ row: [Value?], _ old: DictionaryObject, _ entity: SchemaEntity, _ common: Range<Int>
    ) throws(StoreError) -> [Value] {
        let described = schema.entities[old.entity]
        let given = described.columns.indices.map {
            common.contains($0) ? row[$0] ?? entity.columns[$0].defaultValue : .null
        }
        let named = ColumnSet(common.filter { row[$0] != nil })
        return try ConflictRules.declaredValues(
            described, given: given, assigned: named, counted: named, kept: old.values,
            keptAssigned: nil)
    }

    /// The object that the first constraint without a nil part names: before the batch, or new in it.
    private func match(_ values: [Value], _ entity: SchemaEntity, _ before: DictionaryState)
        -> ObjectID?
    {
        for constraint in entity.constraints {
            guard let key = constraint.naiveKey(values, of: entity) else { continue }
            let family = schema.entities[constraint.declaringEntity]
            func holder(_ state: DictionaryState) -> ObjectID? {
                state.objects(of: family)
                    .first { constraint.naiveKey($1.values, of: entity) == key }?.id
            }
            // Rows before may have taken an object out of the constraint's set.
            if constraint.options != nil { return holder(state) }
            return holder(before) ?? holder(state)
        }
        return nil
    }

    private func anyMatch(_ values: [Value], _ entity: SchemaEntity) -> ObjectID? {
        for constraint in entity.constraints {
            guard let key = constraint.naiveKey(values, of: entity) else { continue }
            let family = schema.entities[constraint.declaringEntity]
            let found = state.objects(of: family)
                .first { constraint.naiveKey($1.values, of: entity) == key }
            if let found { return found.id }
        }
        return nil
    }

    private func checkMandatory(_ touched: [ObjectID]) throws(StoreError) {
        var failures: [StoreError] = []
        for id in touched {
            guard let object = state.objects[id] else { continue }
            let entity = schema.entities[object.entity]
            for (index, column) in entity.columns.enumerated()
            where !column.isOptional && object.values[index].isNull {
                if column.attribute?.derivationExpression != nil { continue }
                failures.append(
                    StoreError(
                        .missingMandatory, "a required property is nil",
                        context: .init(entity: entity.name, key: column.name, row: rowOf[id])))
            }
        }
        if failures.count == 1 { throw failures[0] }
        if !failures.isEmpty {
            throw StoreError(.multiple, "several rows are invalid", details: failures)
        }
    }

    private func checkUnique() throws(StoreError) {
        var failures: [StoreError] = []
        for entity in schema.entities {
            for constraint in entity.constraints where constraint.declaringEntity == entity.index {
                var holders: [[Value]: ObjectID] = [:]
                for (id, object) in state.objects(of: entity) {
                    guard let key = constraint.naiveKey(object.values, of: entity) else { continue }
                    guard let other = holders.updateValue(id, forKey: key) else { continue }
                    failures.append(
                        StoreError(
                            .constraintConflict, "the row is tied to two different objects",
                            context: .init(
                                entity: entity.name, key: constraint.names.joined(separator: ", "),
                                row: rowOf[id] ?? rowOf[other], objectID: id)))
                }
            }
        }
        if !failures.isEmpty { throw several(failures) }
    }
}
