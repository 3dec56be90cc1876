// Resolves the predicate of a uniqueness constraint, and rejects what could not be kept up to date.
//
//   1. The predicate asks columns of the row itself. What it would need more than them for is refused here, so that whether
//      a row takes part never changes without the row.
//   2. It is bound to an entity of its own that has just the columns it asks: a row is evaluated from their values alone,
//      wherever these come from. A to-one relationship, which can only be asked whether it is nil, is a number there.

import FoundationEssentials

extension KeyRule {
    /// - Parameter keys: the columns of the key.
    /// - Throws: `PredicateFormatError` with the part of the predicate that cannot be kept up to date.
    convenience init(
        _ rule: UniquenessRule, keys: [Int], entity: EntityDescription, columns: [SchemaColumn]
    ) throws(PredicateFormatError) {
        if let misread = rule.misread { throw misread }
        let isFolded = rule.isCaseInsensitive || rule.isDiacriticInsensitive
        let folds = keys.map { isFolded && columns[$0].kind == .attribute(.string) }
        guard let written = rule.predicate else {
            self.init(rule, folds: folds)
            return
        }
        let predicate = try written.walkable()
        // The store keeps the text, so one that does not read back would be a store that does not open.
        guard (try? PredicateParser.parse(written.predicateFormat)) == written else {
            throw PredicateFormatError("its text is parsed as a different predicate")
        }
        guard predicate != .constant(false) else {
            throw PredicateFormatError("it matches no object")
        }
        var check = ConditionCheck(entity: entity, columns: columns)
        try check.check(predicate)
        let conditionColumns = check.asked.sorted()
        let schema = Self.schema(conditionColumns.map { columns[$0] })
        let bound = try predicate.bound(to: schema.entities[0], in: schema)
        self.init(
            rule, folds: folds, conditionColumns: conditionColumns, valueColumns: check.valued,
            condition: bound,
            rowCondition: try BoundCondition(bound, of: schema.entities[0]))
    }

    private static func schema(_ columns: [SchemaColumn]) -> Schema {
        let attributes = columns.map { column in
            let type: AttributeType =
                if case .attribute(let type) = column.kind { type } else { .integer64 }
            return AttributeDescription(column.name, type)
        }
        let model = ManagedObjectModel(entities: [
            EntityDescription("condition", attributes: attributes)
        ])
        guard let schema = try? Schema(model) else {
            preconditionFailure("plain attributes with the names of columns are a model")
        }
        return schema
    }
}

/// A condition that is bound to an entity of its own.
private final class BoundCondition: RowCondition {
    private let evaluator: PredicateEvaluator
    private let entity: SchemaEntity

    init(_ condition: PredicateNode, of entity: SchemaEntity) throws(PredicateFormatError) {
        // No function is asked, so the moment means nothing.
        evaluator = try PredicateEvaluator(condition, now: Date(timeIntervalSinceReferenceDate: 0))
        self.entity = entity
    }

    func holds(_ values: [Value]) -> Bool {
        evaluator.matches(.object(ConditionRow(entity, values)))
    }
}

/// The values that a condition asks, as an object.
private final class ConditionRow: EvaluatedObject {
    let evaluatedEntity: SchemaEntity
    private let values: [Value]

    init(_ entity: SchemaEntity, _ values: [Value]) {
        evaluatedEntity = entity
        self.values = values
    }

    var evaluatedID: ObjectID { preconditionFailure("a key cannot use the object's id") }
    func evaluatedColumn(_ index: Int) -> Value { values[index] }
    func evaluatedAttribute(_ index: Int) -> Value { .null }
    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)? { nil }
    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject] { [] }
}

/// Whether a predicate asks no more than columns of the row.
private struct ConditionCheck {
    let entity: EntityDescription
    let columns: [SchemaColumn]
    var asked: Set<Int> = []
    /// Those of which more is asked than whether they are nil.
    var valued: Set<Int> = []

    init(entity: EntityDescription, columns: [SchemaColumn]) {
        self.entity = entity
        self.columns = columns
    }

    mutating func check(_ node: PredicateNode) throws(PredicateFormatError) {
        switch node {
        case .constant: break
        case .and(let parts), .or(let parts): for part in parts { try check(part) }
        case .not(let part): try check(part)
        case .comparison(let comparison): try check(comparison)
        }
    }

    private mutating func check(_ comparison: PredicateNode.Comparison)
        throws(PredicateFormatError)
    {
        let relation = comparison.operator
        guard comparison.modifier == .direct else {
            throw PredicateFormatError(
                "\(comparison.modifier.rawValue) looks at other objects: the condition can only use the object itself"
            )
        }
        guard relation != .matches else {
            throw PredicateFormatError(
                "MATCHES is not supported here: use LIKE, BEGINSWITH, ENDSWITH or CONTAINS"
            )
        }
        guard
            comparison.options.isSubset(of: [.caseInsensitive, .diacriticInsensitive])
        else {
            throw PredicateFormatError(
                "[\(comparison.options.letters)] is not supported here: compare strings exactly, or with [c], [d] or [cd]"
            )
        }
        let sides = [comparison.left, comparison.right]
        let asksForNil =
            sides.contains(.constant(.null)) && (relation == .equal || relation == .notEqual)
        for side in sides {
            guard let column = try column(side) else { continue }
            asked.insert(column)
            if asksForNil { continue }
            valued.insert(column)
            guard columns[column].attribute != nil else {
                throw PredicateFormatError(
                    "here, a relationship can only be compared with nil"
                )
            }
        }
    }

    /// The column that a side of a comparison is; nil for constants.
    private func column(_ side: ExpressionNode) throws(PredicateFormatError) -> Int? {
        switch side {
        case .constant, .list: return nil
        case .keyPath(let name): return try column(named: name)
        default:
            throw PredicateFormatError(
                "it can only use the object's own attributes and constants")
        }
    }

    private func column(named name: String) throws(PredicateFormatError) -> Int {
        guard let column = columns.firstIndex(where: { $0.name == name }) else {
            throw PredicateFormatError(
                "\(name) is not stored with the object: the condition can only use its own stored attributes",
                key: name)
        }
        guard columns[column].attribute?.derivationExpression == nil else {
            throw PredicateFormatError(
                "\(name) is derived, so its value is not known yet when the save checks the condition",
                key: name)
        }
        return column
    }
}
