// The properties that objects are found by, looked up in the model, and the values that are asked for.
//
//   1. Each name is a stored attribute that can be compared, an element of a composite one, or a to-one relationship.
//   2. Values become those of the properties' types. Zeros are one, texts are folded if a constraint over just these
//      properties folds them: a key has one form.
//   3. A constraint with a condition says which objects have a key at all.
//
// Threads: a value.

import CairnModel
import CairnStore

/// Properties that make a key of an entity's objects.
struct KeyTerms: Hashable {
    let entity: SchemaEntity
    /// In the order of the entity's, or of the constraint's.
    let columns: [Int]
    /// Whether no two stored objects have one key.
    let isUnique: Bool
    /// Whether a relationship is a part of it.
    let hasReferences: Bool
    /// What the constraint over just these columns says of who takes part; nil if there is nothing to say.
    let rule: KeyRule?

    /// The key that is made of properties.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the property that cannot be a part of a key.
    init(_ names: some Collection<String>, of entity: SchemaEntity) throws(StoreError) {
        self.entity = entity
        var columns: [Int] = []
        for name in names {
            guard let column = entity.columnIndex(named: name) else {
                throw Self.wrong(
                    entity, name,
                    "a key consists of stored attributes and to-one relationships of the entity")
            }
            if case .attribute(.transformable) = entity.columns[column].kind {
                throw Self.wrong(
                    entity, name, "a transformable attribute cannot be compared")
            }
            if entity.columns[column].attribute?.derivationExpression != nil {
                throw Self.wrong(
                    entity, name, "a derived attribute is computed by the store and cannot be set")
            }
            if columns.contains(column) { throw Self.wrong(entity, name, "it is in the key twice") }
            columns.append(column)
        }
        if columns.isEmpty { throw Self.wrong(entity, nil, "a key needs at least one property") }
        // Neither names a column twice.
        let same = { (constraint: SchemaConstraint) in
            constraint.columns.count == columns.count
                && columns.allSatisfy(constraint.columns.contains)
        }
        let constraint =
            entity.constraints.first { $0.rule == nil && same($0) }
            ?? entity.constraints.first(where: same)
        self.columns = constraint?.columns ?? columns.sorted()
        hasReferences = columns.contains { entity.columns[$0].relationship != nil }
        isUnique = constraint != nil
        rule = constraint?.rule
    }

    static func wrong(_ entity: SchemaEntity, _ key: String?, _ words: String) -> StoreError {
        StoreError(.invalidRequest, words, context: .init(entity: entity.name, key: key))
    }

    /// Whether an index over the same finds the same.
    static func == (one: KeyTerms, other: KeyTerms) -> Bool {
        one.entity === other.entity && one.columns == other.columns
    }

    func hash(into hasher: inout Hasher) {
        hasher.combine(entity.index)
        hasher.combine(columns)
    }

    // MARK: Values

    /// The values that are asked for, in the order of the columns.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the property whose value does not fit.
    func values(_ value: (String) -> Value?) throws(StoreError) -> [Value] {
        var values: [Value] = []
        for index in columns {
            let column = entity.columns[index]
            guard let given = value(column.name) else {
                throw Self.wrong(entity, column.name, "it does not take a value of this type")
            }
            values.append(try fitting(given, column))
        }
        return values
    }

    private func fitting(_ value: Value, _ column: SchemaColumn) throws(StoreError) -> Value {
        if value.isNull { return value }
        if value.isNoNumber {
            throw Self.wrong(entity, column.name, "it is not a number (NaN), which equals nothing")
        }
        switch column.kind {
        case .reference:
            if case .objectID = value { return value }
            throw Self.wrong(entity, column.name, "a relationship takes an object or its id")
        case .attribute(let type):
            if let value = value.converted(to: type) { return value }
            throw Self.wrong(
                entity, column.name, "it takes a value of type \(type.rawValue)")
        }
    }

    /// What is compared of values of the columns; nil if nothing can be equal to them.
    func key(of values: [Value]) -> [Value]? {
        var key: [Value] = []
        key.reserveCapacity(values.count)
        for (place, value) in values.enumerated() {
            if value.isNoNumber { return nil }
            if let rule, rule.folds[place], case .string(let text) = value {
                key.append(.string(rule.folded(text)))
            } else {
                key.append(value.asGroupKey)
            }
        }
        return key
    }

    /// What is compared of an object's values as they are now; nil if it has no key.
    func key(of object: ManagedObject) -> [Value]? {
        if let rule,
            !rule.holds(rule.conditionColumns.map { KeyRule.asked(object.presentValue($0)) })
        {
            return nil
        }
        return key(of: columns.map(object.presentValue))
    }

    /// The same of a stored row, which takes part since it was found.
    func key(of row: Row, in identity: StoreIdentity, _ schema: Schema) -> [Value]? {
        let entity = schema.entities[row.entity]
        return key(of: columns.map { row.cells.value($0, of: entity, in: identity) })
    }

    // MARK: Questions

    /// A condition that finds the stored objects with some keys.
    struct Condition {
        let predicate: PredicateNode
        /// Whether it is about one key that many may have: the first of what it finds are enough.
        let isOfMany: Bool
    }

    /// The conditions that find the stored objects with some keys, and perhaps others with them. Each is to be put to the store
    /// by itself.
    func conditions(_ keys: [[Value]]) -> [Condition] {
        if keys.count > 1 {
            if columns.count == 1, rule == nil {
                let values = keys.map { $0[0] }
                let list = values.filter { !$0.isNull }
                var conditions = [Condition(predicate: isIn(0, list), isOfMany: false)]
                if list.count < values.count {
                    conditions.append(Condition(predicate: equals(0, .null), isOfMany: true))
                }
                return conditions
            }
            // Without an index each question would cost a look at all rows.
            if !isUnique {
                return [
                    Condition(
                        predicate: .and(columns.indices.map { isOneOf($0, keys) }), isOfMany: false)
                ]
            }
        }
        return keys.map { key in
            var parts = columns.indices.map { equals($0, key[$0]) }
            if let condition = rule?.rule.predicate { parts.append(condition) }
            // There is no second one with a unique key.
            return Condition(
                predicate: parts.count == 1 ? parts[0] : .and(parts),
                isOfMany: !isUnique || key.contains(.null))
        }
    }

    private func equals(_ place: Int, _ value: Value) -> PredicateNode {
        var options: PredicateNode.Comparison.Options = []
        if let rule, rule.folds[place], !value.isNull {
            if rule.rule.isCaseInsensitive { options.insert(.caseInsensitive) }
            if rule.rule.isDiacriticInsensitive { options.insert(.diacriticInsensitive) }
        }
        return .compare(name(place), .equal, .constant(value), options: options)
    }

    private func isIn(_ place: Int, _ values: [Value]) -> PredicateNode {
        .compare(name(place), .in, .list(values))
    }

    private func isOneOf(_ place: Int, _ keys: [[Value]]) -> PredicateNode {
        let values = Set(keys.map { $0[place] })
        let list = isIn(place, values.filter { !$0.isNull })
        return values.contains(.null) ? list || equals(place, .null) : list
    }

    private func name(_ place: Int) -> ExpressionNode {
        .keyPath(entity.columns[columns[place]].name)
    }
}
