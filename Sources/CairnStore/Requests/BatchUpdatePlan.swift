// A batch update, checked against a schema: the first step in every store.
//
//   1. Each name is looked up: columns of attributes, of elements of composite attributes, of to-one relationships.
//   2. Constants become values of the column's type, and are judged once; whether the target of a relationship is there only
//      the store knows.
//   3. Expressions are bound to the entity. What they give is made to fit, and judged, object by object.
//
// Threads: a value.

package import CairnModel
package import FoundationEssentials

/// A checked batch update.
package struct BatchUpdatePlan: Sendable {
    /// What a column gets.
    package enum Content: Sendable {
        case constant(Value)
        case expression(ExpressionEvaluator)
    }

    /// A column that is updated.
    package struct Assignment: Sendable {
        package let column: Int
        package let content: Content
        fileprivate let rule: Rule
    }

    /// What is to be asked of a column's values.
    fileprivate struct Rule: Sendable {
        let entity: String
        let column: SchemaColumn
        /// Whether the model's rules are to hold, and there are any.
        let isRuled: Bool
        let conditions: [ValueCondition]
    }

    package let entity: SchemaEntity
    /// Which objects.
    package let fetch: StoreFetch
    /// By column, rising.
    package private(set) var assignments: [Assignment]

    /// - Parameter now: what `now()` gives.
    /// - Throws: `StoreError` naming the key that cannot be updated so.
    package init(_ request: BatchUpdateRequest, in schema: Schema, now: Date) throws(StoreError) {
        if let refusal = request.refusal { throw refusal }
        guard let entity = schema.entity(named: request.entityName) else {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: request.entityName))
        }
        guard !request.propertiesToUpdate.isEmpty else {
            throw StoreError(
                .invalidRequest, "the update sets no property",
                context: .init(entity: entity.name))
        }
        self.entity = entity
        var fetch = StoreFetch(entity: entity.index)
        do throws(PredicateFormatError) {
            fetch.predicate = try request.predicate?.boundForStore(
                to: entity, in: schema, nullSemantics: request.nullSemantics)
        } catch {
            throw StoreError(error, entity: entity)
        }
        fetch.includesSubentities = request.includesSubentities
        fetch.sort = request.sortDescriptors
        fetch.limit = request.fetchLimit > 0 ? request.fetchLimit : nil
        fetch.offset = max(0, request.fetchOffset)
        fetch.affectedStores = request.affectedStores
        self.fetch = fetch
        var assignments: [Assignment] = []
        // In a fixed order, so that of several mistakes the same is told each time.
        for (key, value) in request.propertiesToUpdate.inKeyOrder() {
            for column in try Self.columns(of: key, value, entity, schema) {
                let rule = Rule(
                    entity.columns[column], entity, validates: request.validatesValues)
                guard !assignments.contains(where: { $0.column == column }) else {
                    throw StoreError(
                        .invalidRequest, "the update sets the property twice",
                        context: .init(entity: entity.name, key: entity.columns[column].name))
                }
                let content = try Self.content(value, rule, entity, schema, now)
                assignments.append(Assignment(column: column, content: content, rule: rule))
            }
        }
        self.assignments = assignments.sorted { $0.column < $1.column }
    }

    /// The same update with other targets of relationships in the place of those that have one.
    package func replacingObjectIDs(_ body: (ObjectID) -> ObjectID?) -> BatchUpdatePlan {
        var plan = self
        for (index, assignment) in assignments.enumerated() {
            guard case .constant(.objectID(let id)) = assignment.content, let other = body(id)
            else { continue }
            plan.assignments[index] = Assignment(
                column: assignment.column, content: .constant(.objectID(other)),
                rule: assignment.rule)
        }
        return plan
    }

    // MARK: Names

    private static func columns(
        of key: String, _ value: UpdatedValue, _ entity: SchemaEntity, _ schema: Schema
    ) throws(StoreError) -> [Int] {
        func refuse(_ message: String) -> StoreError {
            StoreError(.invalidRequest, message, context: .init(entity: entity.name, key: key))
        }
        if let column = entity.columnIndex(named: key) {
            if let relationship = entity.columns[column].relationship {
                try checkRelationship(relationship, column, value, entity, schema)
            } else if entity.columns[column].isDerived {
                throw refuse("a derived attribute is computed by the store and cannot be set")
            }
            return [column]
        }
        if let leaves = entity.compositeColumns(key) {
            guard value == .value(.null) else {
                throw refuse(
                    "a composite attribute can only be set to nil as a whole, or element by element"
                )
            }
            return Array(leaves)
        }
        if let index = entity.relationshipIndex(named: key) {
            throw refuse(
                entity.relationships[index].storage == .transient
                    ? "the relationship is transient: it is not stored"
                    : "a batch update cannot set a to-many relationship")
        }
        throw refuse(entity.reasonForUnknownKey(key))
    }

    private static func checkRelationship(
        _ index: Int, _ column: Int, _ value: UpdatedValue, _ entity: SchemaEntity, _ schema: Schema
    ) throws(StoreError) {
        let relationship = entity.relationships[index]
        func refuse(_ message: String, _ value: Value? = nil) -> StoreError {
            StoreError(
                .invalidRequest, message,
                context: .init(
                    entity: entity.name, key: relationship.description.name, value: value))
        }
        if schema.isOneToOne(relationship) {
            throw refuse(
                "a batch cannot set a relationship that is to-one at both ends: set it on objects and save them"
            )
        }
        if schema.orderedReferences[entity.index].contains(column) {
            throw refuse(
                "a batch cannot set a relationship whose other end is ordered: set it on objects and save them"
            )
        }
        switch value {
        case .value(.null), .value(.objectID): break
        case .value(let other):
            throw refuse("a relationship takes an object id, not a \(other.kindName)", other)
        case .expression: throw refuse("a relationship takes an object id, not an expression")
        }
    }

    // MARK: Values

    private static func content(
        _ value: UpdatedValue, _ rule: Rule, _ entity: SchemaEntity, _ schema: Schema, _ now: Date
    ) throws(StoreError) -> Content {
        switch value {
        case .value(let value): return .constant(try rule.fitted(value, isCalculated: false))
        case .expression(.constant(let value)):
            return .constant(try rule.fitted(value, isCalculated: true))
        case .expression(let node):
            do throws(PredicateFormatError) {
                return .expression(
                    try ExpressionEvaluator(node.boundForStore(to: entity, in: schema), now: now))
            } catch {
                throw StoreError(error, entity: entity)
            }
        }
    }
}

extension BatchUpdatePlan.Assignment {
    /// What the expression gave as the value of the column.
    ///
    /// - Throws: `StoreError` with what the model forbids of it.
    package func fitted(_ value: Value) throws(StoreError) -> Value {
        try rule.fitted(value, isCalculated: true)
    }

    /// Whether every value of the column's type is allowed: then numbers need not be looked at one by one.
    package var isFree: Bool { !rule.isRuled }
}

extension BatchUpdatePlan.Rule {
    init(_ column: SchemaColumn, _ entity: SchemaEntity, validates: Bool) {
        self.entity = entity.name
        self.column = column
        isRuled = validates && column.hasRules
        conditions = isRuled ? column.conditions : []
    }

    func fitted(_ value: Value, isCalculated: Bool) throws(StoreError) -> Value {
        if value.isNull {
            if column.isOptional { return .null }
            throw StoreError(
                .missingMandatory, "a required property would become nil",
                context: .init(entity: entity, key: column.name))
        }
        guard case .attribute(let type) = column.kind else { return value }
        let fitted = isCalculated ? value.fitted(to: type) : nil
        guard let exact = fitted ?? value.converted(to: type) else {
            throw StoreError(
                .invalidRequest,
                "the \(value.kindName) is not a value of type \(type.rawValue)",
                context: .init(
                    entity: entity, key: column.name, value: value,
                    detail: "the \(value.kindName) \(value) is not a value of type \(type.rawValue)"
                ))
        }
        // What is calculated from stored values is nil where it is no number.
        if !isCalculated, case .decimal(let number) = exact, number.isNaN,
            let failure = column.validate(exact, conditions: [])
        {
            throw StoreError(failure, entity: entity)
        }
        if isRuled, let failure = column.validate(exact, conditions: conditions) {
            throw StoreError(failure, entity: entity)
        }
        return exact
    }
}

extension Schema {
    /// Whether a relationship is to-one at both ends.
    package func isOneToOne(_ relationship: SchemaRelationship) -> Bool {
        guard case .column = relationship.storage, let inverse = relationship.inverse,
            case .column = entities[relationship.destination].relationships[inverse].storage
        else { return false }
        return true
    }
}
