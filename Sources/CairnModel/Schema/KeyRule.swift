// A uniqueness constraint with options, checked and ready to be asked of rows.
//
//   1. The predicate asks columns of the row itself. What it would need more than them for is refused here, so that whether
//      a row takes part never changes without the row.
//   2. It is bound to an entity of its own that has just the columns it asks: a row is evaluated from their values alone,
//      wherever these come from. A to-one relationship, which can only be asked whether it is nil, is a number there.
//   3. Texts are folded as predicates fold them.
//
// Invariants: the same values give the same answer, on every day and in every process with the same version of Unicode.
// Threads: immutable, so any.

import FoundationEssentials

/// What a uniqueness constraint with options asks of rows.
package final class KeyRule: Sendable {
    /// The description in the model.
    package let rule: UniquenessRule
    /// The columns that the predicate asks; their values are given in this order. Empty without a predicate.
    package let conditionColumns: [Int]
    /// Those of them of which more is asked than whether they are nil.
    package let valueColumns: Set<Int>
    /// The predicate with its constants as values of the attributes' types.
    package let condition: PredicateNode?
    /// By place among the columns of the key: whether texts of the column are folded.
    package let folds: [Bool]
    private let evaluator: PredicateEvaluator?
    /// The entity that has the columns of the condition.
    private let entity: SchemaEntity?

    /// - Parameter keys: the columns of the key.
    /// - Throws: `PredicateFormatError` saying what of the predicate cannot be kept right.
    init(_ rule: UniquenessRule, keys: [Int], entity: EntityDescription, columns: [SchemaColumn])
        throws(PredicateFormatError)
    {
        if let misread = rule.misread { throw misread }
        self.rule = rule
        let isFolded = rule.isCaseInsensitive || rule.isDiacriticInsensitive
        folds = keys.map { isFolded && columns[$0].kind == .attribute(.string) }
        guard let written = rule.predicate else {
            conditionColumns = []
            valueColumns = []
            condition = nil
            evaluator = nil
            self.entity = nil
            return
        }
        let predicate = try written.walkable()
        // The store keeps the text, so one that does not read back would be a store that does not open.
        guard (try? PredicateParser.parse(written.predicateFormat)) == written else {
            throw PredicateFormatError("its text reads back as another predicate")
        }
        guard predicate != .constant(false) else {
            throw PredicateFormatError("no object would take part")
        }
        var check = ConditionCheck(entity: entity, columns: columns)
        try check.check(predicate)
        conditionColumns = check.asked.sorted()
        valueColumns = check.valued
        let schema = Self.schema(conditionColumns.map { columns[$0] })
        let bound = try predicate.bound(to: schema.entities[0], in: schema)
        condition = bound
        // No function is asked, so the moment means nothing.
        evaluator = try PredicateEvaluator(bound, now: Date(timeIntervalSinceReferenceDate: 0))
        self.entity = schema.entities[0]
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

    // MARK: Asking

    /// Whether a row takes part.
    ///
    /// - Parameter values: those of ``conditionColumns``; of a to-one relationship any integer, or nil.
    package func holds(_ values: [Value]) -> Bool {
        guard let evaluator, let entity else { return true }
        return evaluator.matches(.object(ConditionRow(entity, values)))
    }

    /// A text as it stands in a key.
    package func folded(_ text: String) -> String {
        text.folded(case: rule.isCaseInsensitive, diacritics: rule.isDiacriticInsensitive)
    }

    /// What is compared of a row's values, by column; nil if the row takes no part.
    ///
    /// - Parameter keys: the columns of the key.
    package func key(of values: [Value], _ keys: [Int]) -> [Value]? {
        guard holds(conditionColumns.map { Self.asked(values[$0]) }) else { return nil }
        return key(of: keys.map { values[$0] })
    }

    /// What is compared of the values of the key; nil if there is none.
    package func key(of values: [Value]) -> [Value]? {
        var key: [Value] = []
        for (place, value) in values.enumerated() {
            switch value {
            case .null: guard rule.nilsAreEqual else { return nil }
            case _ where value.isNoNumber: return nil
            case .string(let text) where folds[place]:
                key.append(.string(folded(text)))
                continue
            default: break
            }
            key.append(value)
        }
        return key
    }

    /// A value as the condition knows it.
    package static func asked(_ value: Value) -> Value {
        if case .objectID = value { .integer(1) } else { value }
    }

    /// Whether a condition that is joined by AND says at least as much: whoever meets it takes part.
    ///
    /// - Parameter parts: what is joined, with constants as values of the attributes' types.
    package func isImplied(by parts: [PredicateNode]) -> Bool {
        guard let condition else { return true }
        if case .and(let needed) = condition { return needed.allSatisfy(parts.contains) }
        return parts.contains(condition)
    }
}

extension KeyRule: Hashable {
    package static func == (one: KeyRule, other: KeyRule) -> Bool {
        one.rule == other.rule && one.conditionColumns == other.conditionColumns
            && one.folds == other.folds
    }

    package func hash(into hasher: inout Hasher) { hasher.combine(rule) }
}

/// The values that a condition asks, as an object.
private final class ConditionRow: EvaluatedObject {
    let evaluatedEntity: SchemaEntity
    private let values: [Value]

    init(_ entity: SchemaEntity, _ values: [Value]) {
        evaluatedEntity = entity
        self.values = values
    }

    var evaluatedID: ObjectID { preconditionFailure("a condition does not ask the object's id") }
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
                "\(comparison.modifier.rawValue) asks many objects: which take part is decided by the object alone"
            )
        }
        guard relation != .matches else {
            throw PredicateFormatError(
                "MATCHES cannot decide which objects take part: use LIKE, BEGINSWITH, ENDSWITH or CONTAINS"
            )
        }
        guard
            comparison.options.isSubset(of: [.caseInsensitive, .diacriticInsensitive])
        else {
            throw PredicateFormatError(
                "[\(comparison.options.letters)] cannot decide which objects take part: texts are compared as they are, or by [c], [d] and [cd]"
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
                    "a relationship can only be compared with nil where it decides which objects take part"
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
                "only attributes of the object itself and constants decide which objects take part")
        }
    }

    private func column(named name: String) throws(PredicateFormatError) -> Int {
        guard let column = columns.firstIndex(where: { $0.name == name }) else {
            throw PredicateFormatError(
                "\(name) is not stored with the object: only its own stored attributes decide whether it takes part",
                key: name)
        }
        guard columns[column].attribute?.derivationExpression == nil else {
            throw PredicateFormatError(
                "\(name) is derived, so what it will be is not known when the save asks whether the object takes part",
                key: name)
        }
        return column
    }
}

extension Value {
    /// Whether it is a number that equals nothing.
    package var isNoNumber: Bool {
        switch self {
        case .double(let value): value.isNaN
        case .float(let value): value.isNaN
        case .date(let date): date.timeIntervalSinceReferenceDate.isNaN
        case .decimal(let value): value.isNaN
        default: false
        }
    }
}
