// Resolves the targets that the rows of a batch name, as far as that is possible without a store.
//
//   1. An id is taken as it is. Values belong to a uniqueness constraint without options of the target's entity: one value to
//      the first that is about one property, several to the one that is about just these. Where a target may be made, there may
//      be more of them: then to the first constraint of which all are there.
//   2. The values become those of the attributes' types.
//
// Threads: one owner.

package import CairnModel

/// How the rows of a batch identify the targets of one relationship.
package struct RowLinkPlan {
    /// What is looked for.
    package enum Wanted {
        case object(ObjectID)
        /// The object with a key: a value for each column of the constraint, by column of the entity. Values of other
        /// columns matter if the object is created.
        case key(SchemaConstraint, values: [Value])
    }

    /// The entity that the relationship leads to.
    package let destination: SchemaEntity
    package let isOptional: Bool
    private let entity: SchemaEntity
    private let name: String
    private let constraints: [SchemaConstraint]
    /// Whether there may be values beyond a key, for a target that is made.
    private let allowsMore: Bool
    /// The names that stood beside each other last, and the constraint that is about just these; nil if there is more.
    private var last: (names: Set<String>, constraint: SchemaConstraint?)?

    /// For a to-one relationship, by its column.
    package init(
        _ column: Int, of entity: SchemaEntity, in schema: Schema, allowsMore: Bool = false
    ) {
        guard let index = entity.columns[column].relationship else {
            preconditionFailure("a column of references has a relationship")
        }
        self.init(relationship: index, of: entity, in: schema, allowsMore: allowsMore)
    }

    /// For a relationship, by its index.
    package init(
        relationship index: Int, of entity: SchemaEntity, in schema: Schema,
        allowsMore: Bool = false
    ) {
        self.allowsMore = allowsMore
        let relationship = entity.relationships[index]
        self.entity = entity
        name = relationship.description.name
        destination = schema.entities[relationship.destination]
        // A list may be without any one of its members.
        isOptional =
            if case .column(let column) = relationship.storage {
                entity.columns[column].isOptional
            } else {
                true
            }
        constraints = destination.plainConstraints
    }

    /// What a row's target is to be looked for by; nil if the relationship is to lead nowhere.
    ///
    /// - Throws: `StoreError` with row and key.
    package mutating func wanted(_ target: RowTarget?, row: Int) throws(StoreError) -> Wanted? {
        switch target?.name {
        case nil: return try nothing(row)
        case .id(let id): return .object(id)
        case .key(.null): return try nothing(row)
        case .key(.objectID(let id)): return .object(id)
        case .key(let value):
            guard let constraint = constraints.first(where: { $0.columns.count == 1 }) else {
                throw error(
                    "\(destination.name) has no uniqueness constraint with a single property: identify the target by several, or by its id",
                    row)
            }
            return try key(constraint, [constraint.names[0]: value], row)
        case .keys(let values):
            let names = Set(values.keys)
            if last?.names != names {
                let constraint = constraints.first { Set($0.names) == names }
                guard constraint != nil || allowsMore else {
                    throw error(
                        names.isEmpty
                            ? "the target of the relationship is not specified"
                            : "\(destination.name) has no uniqueness constraint on \(names.sorted().joined(separator: ", "))",
                        row)
                }
                last = (names, constraint)
            }
            guard let constraint = last?.constraint else { return try more(values, row) }
            return try key(constraint, values, row)
        }
    }

    /// What a target is looked for by of which more than a key is said.
    private func more(_ given: [String: Value], _ row: Int) throws(StoreError) -> Wanted {
        guard
            let constraint = constraints.first(where: { constraint in
                constraint.names.allSatisfy { given[$0]?.isNull == false }
            }),
            case .key(_, var values) = try key(constraint, given, row)
        else {
            let keys = constraints.map { $0.names.joined(separator: ", ") }
            throw error(
                keys.isEmpty
                    ? "\(destination.name) has no uniqueness constraint: identify the target by its id"
                    : "the target of the relationship has no key: \(keys.joined(separator: " or "))",
                row)
        }
        for (name, value) in given where !constraint.names.contains(name) && !value.isNull {
            guard let column = destination.columnIndex(named: name),
                case .attribute(let type) = destination.columns[column].kind,
                !destination.columns[column].isDerived
            else { throw error("\(destination.name) has no attribute \(name)", row) }
            guard let exact = value.converted(to: type) else {
                throw error(
                    "the \(value.kindName) is not a value of \(destination.name).\(name)", row,
                    value)
            }
            values[column] = exact
        }
        return .key(constraint, values: values)
    }

    private func nothing(_ row: Int) throws(StoreError) -> Wanted? {
        if isOptional { return nil }
        throw StoreError(
            .missingMandatory, "a required relationship is nil",
            context: .init(entity: entity.name, key: name, row: row))
    }

    private func key(_ constraint: SchemaConstraint, _ given: [String: Value], _ row: Int)
        throws(StoreError) -> Wanted
    {
        var values = [Value](repeating: .null, count: destination.columns.count)
        for (column, name) in zip(constraint.columns, constraint.names) {
            let value = given[name] ?? .null
            guard !value.isNull else {
                throw error("part of the target's key is nil, so it identifies no object", row)
            }
            let converted: Value? =
                switch destination.columns[column].kind {
                case .attribute(let type): value.converted(to: type)
                case .reference: if case .objectID = value { value } else { nil }
                }
            guard let exact = converted else {
                throw error(
                    "the \(value.kindName) is not a value of \(destination.name).\(name)", row,
                    value)
            }
            values[column] = exact
        }
        return .key(constraint, values: values)
    }

    /// The error for a target that is not there, or is none.
    package func missing(_ wanted: Wanted, row: Int) -> StoreError {
        var context = StoreError.Context(
            entity: entity.name, key: name, row: row)
        switch wanted {
        case .object(let id):
            context.objectID = id
            return StoreError(
                .objectNotFound, "the target of the relationship does not exist", context: context)
        case .key(let constraint, let values):
            let key = constraint.columns.map { "\(values[$0])" }.joined(separator: ", ")
            context.detail =
                "no \(destination.name) has \(constraint.names.joined(separator: ", ")) \(key)"
            return StoreError(
                .objectNotFound, "no \(destination.name) has the key in the row",
                context: context)
        }
    }

    /// The error for a target that is not there and cannot be made.
    package func unmade(_ wanted: Wanted, row: Int, _ reason: String) -> StoreError {
        var error = missing(wanted, row: row)
        error.context.detail =
            "\(error.context.detail ?? error.message), and it cannot be inserted: \(reason)"
        return error
    }

    /// The error for a target that is of another store or entity.
    package func foreign(_ id: ObjectID?, row: Int) -> StoreError {
        StoreError(
            .foreignObject, "the target of the relationship belongs to another store or entity",
            context: .init(
                entity: entity.name, key: name, row: row, objectID: id))
    }

    private func error(_ message: String, _ row: Int, _ value: Value? = nil) -> StoreError {
        StoreError(
            .invalidRequest, message,
            context: .init(
                entity: entity.name, key: name, row: row, value: value))
    }
}
