// Which objects the rows of a batch name as targets: the part of it that needs no store.
//
//   1. An id is taken as it is. Values belong to a uniqueness constraint without options of the target's entity: one value to
//      the first that is about one property, several to the one that is about just these.
//   2. The values become those of the attributes' types.
//
// Threads: one owner.

package import CairnModel

/// How the targets are named that one relationship may get in a batch.
package struct RowLinkPlan {
    /// What is looked for.
    package enum Wanted {
        case object(ObjectID)
        /// The object whose key a constraint says: a value for each of its columns, by column of the entity.
        case key(SchemaConstraint, values: [Value])
    }

    /// The entity that the relationship leads to.
    package let destination: SchemaEntity
    package let isOptional: Bool
    private let entity: SchemaEntity
    private let name: String
    private let constraints: [SchemaConstraint]
    /// The constraint that was meant last, and by which names.
    private var last: (names: Set<String>, constraint: SchemaConstraint)?

    /// For a to-one relationship, by its column.
    package init(_ column: Int, of entity: SchemaEntity, in schema: Schema) {
        guard let index = entity.columns[column].relationship else {
            preconditionFailure("a column of references is one of a relationship")
        }
        self.init(relationship: index, of: entity, in: schema)
    }

    /// For a relationship, by its index.
    package init(relationship index: Int, of entity: SchemaEntity, in schema: Schema) {
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
                    "no uniqueness constraint of \(destination.name) is about one property: name the target by several, or by its id",
                    row)
            }
            return try key(constraint, [constraint.names[0]: value], row)
        case .keys(let values):
            let names = Set(values.keys)
            if last?.names != names {
                guard let constraint = constraints.first(where: { Set($0.names) == names }) else {
                    throw error(
                        names.isEmpty
                            ? "the target of the relationship is not named"
                            : "no uniqueness constraint of \(destination.name) is about \(names.sorted().joined(separator: ", "))",
                        row)
                }
                last = (names, constraint)
            }
            guard let constraint = last?.constraint else { return nil }
            return try key(constraint, values, row)
        }
    }

    private func nothing(_ row: Int) throws(StoreError) -> Wanted? {
        if isOptional { return nil }
        throw StoreError(
            .missingMandatory, "a mandatory relationship is nil",
            context: .init(entity: entity.name, key: name, row: row))
    }

    private func key(_ constraint: SchemaConstraint, _ given: [String: Value], _ row: Int)
        throws(StoreError) -> Wanted
    {
        var values = [Value](repeating: .null, count: destination.columns.count)
        for (column, name) in zip(constraint.columns, constraint.names) {
            let value = given[name] ?? .null
            guard !value.isNull else {
                throw error("a part of the target's key is nil, which is no key", row)
            }
            let converted: Value? =
                switch destination.columns[column].kind {
                case .attribute(let type): value.converted(to: type)
                case .reference: if case .objectID = value { value } else { nil }
                }
            guard let exact = converted else {
                throw error(
                    "the \(value.kindName) is no value of \(destination.name).\(name)", row, value)
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
                .objectNotFound, "the target of the relationship is not there", context: context)
        case .key(let constraint, let values):
            let key = constraint.columns.map { "\(values[$0])" }.joined(separator: ", ")
            context.detail =
                "no \(destination.name) has \(constraint.names.joined(separator: ", ")) \(key)"
            return StoreError(
                .objectNotFound, "no object of \(destination.name) has the key that the row names",
                context: context)
        }
    }

    /// The error for a target that is of another store or entity.
    package func foreign(_ id: ObjectID?, row: Int) -> StoreError {
        StoreError(
            .foreignObject, "the object that is pointed at is of another store or entity",
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
