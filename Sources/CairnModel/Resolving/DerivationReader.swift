// Resolves one derivation expression against the entity that declares the attribute.

struct DerivationReader {
    let entities: [SchemaEntity]
    /// The entity that declares the attribute.
    let entity: SchemaEntity
    let attribute: AttributeDescription
    /// The attribute's number among the derived ones of the hierarchy.
    let number: Int
    let column: Int
    let text: String

    func read() throws(ModelError) -> Derivation {
        Derivation(
            number: number, column: column, type: attribute.type, source: try source(),
            element: "\(entity.name).\(attribute.name)", expression: text)
    }

    private func refusal(_ reason: String) -> ModelError {
        ModelError(
            .invalidDerivation, "invalid derivation \"\(text)\": \(reason)",
            element: "\(entity.name).\(attribute.name)")
    }

    private func source() throws(ModelError) -> Derivation.Source {
        let node: ExpressionNode
        do {
            node = try PredicateParser.parseExpression(text)
        } catch {
            throw refusal("it cannot be parsed, \(error)")
        }
        switch node {
        case .function(.now, _):
            guard attribute.type == .date || attribute.type == .double else {
                throw refusal("a date does not fit the type \(attribute.type.rawValue)")
            }
            return .now
        case .keyPath(let path): return try self.path(path, nil)
        case .function(let function, let arguments):
            guard function == .uppercase || function == .lowercase || function == .canonical else {
                throw refusal(
                    "a derivation may only use the functions uppercase:, lowercase:, canonical: and now()"
                )
            }
            guard arguments.count == 1, case .keyPath(let path) = arguments[0] else {
                throw refusal("\(function.rawValue) takes one attribute, named by its path")
            }
            return try self.path(path, function)
        case .collection(let operation, let base, let rest):
            return try members(operation, base, rest)
        default:
            throw refusal(
                "an attribute is derived from a path, from uppercase:, lowercase: or canonical: of one, from @count, "
                    + "@sum, @avg, @min or @max of a to-many relationship, or from now()")
        }
    }

    // MARK: Paths

    private func path(_ path: String, _ function: ExpressionNode.Function?) throws(ModelError)
        -> Derivation.Source
    {
        var steps: [Derivation.Step] = []
        var holder = entity
        var rest = path[...]
        while true {
            if let relationship = find(first(rest), in: holder) {
                let name = first(rest)
                guard case .column(let column) = relationship.storage else {
                    throw refusal(
                        relationship.storage == .transient
                            ? "\(holder.name).\(name) is transient: the store does not have its value"
                            : "\(holder.name).\(name) is to-many: use an operator on its members, such as "
                                + "\(name).@count")
                }
                steps.append(Derivation.Step(entity: holder.index, column: column))
                holder = entities[relationship.destination]
                rest = rest.dropFirst(name.count + 1)
                guard !rest.isEmpty else {
                    throw refusal("its result is an object, but an attribute holds a value")
                }
                continue
            }
            let column = try source(String(rest), of: holder)
            try check(column, of: holder, as: function)
            return .path(steps, column: column, function)
        }
    }

    /// The type of a value and of what a function makes of it.
    private func check(
        _ column: Int, of holder: SchemaEntity, as function: ExpressionNode.Function?
    ) throws(ModelError) {
        guard case .attribute(let type) = holder.columns[column].kind else { return }
        let name = "\(holder.name).\(holder.columns[column].name)"
        guard let function else {
            guard type.isHeld(by: attribute.type) else { throw mismatch(name, type) }
            return
        }
        guard type == .string else {
            throw refusal(
                "\(function.rawValue) takes a string, but \(name) is of type \(type.rawValue)")
        }
        guard attribute.type == .string else {
            throw refusal(
                "\(function.rawValue) returns a string, but the attribute is of type \(attribute.type.rawValue)"
            )
        }
    }

    private func mismatch(_ name: String, _ type: AttributeType) -> ModelError {
        refusal(
            "\(name) is of type \(type.rawValue), which the attribute, of type \(attribute.type.rawValue), cannot hold"
        )
    }

    /// The column of a stored attribute that is not derived.
    private func source(_ name: String, of holder: SchemaEntity) throws(ModelError) -> Int {
        guard let column = holder.columnIndex(named: name) else {
            if let index = holder.attributeIndex(named: name) {
                throw refusal(
                    holder.attributes[index].description.isTransient
                        ? "\(holder.name).\(name) is transient: the store does not have its value"
                        : "\(holder.name).\(name) is composite: use one of its elements")
            }
            throw refusal("\(holder.name) has no property \(name)")
        }
        guard holder.columns[column].attribute?.derivationExpression == nil else {
            throw refusal(
                holder.index == entity.index && name == attribute.name
                    ? "it is derived from itself"
                    : "\(holder.name).\(name) is derived, too: use what it is derived from")
        }
        return column
    }

    private func first(_ path: Substring) -> String {
        String(path.prefix { $0 != "." })
    }

    private func find(_ name: String, in holder: SchemaEntity) -> SchemaRelationship? {
        holder.relationshipIndex(named: name).map { holder.relationships[$0] }
    }

    // MARK: Members

    private func members(
        _ operation: ExpressionNode.CollectionOperator, _ base: ExpressionNode, _ rest: String?
    ) throws(ModelError) -> Derivation.Source {
        guard case .keyPath(let path) = base else {
            throw refusal("@\(operation.rawValue) needs a relationship of the object")
        }
        if let rest {
            throw refusal(
                "the operator comes last: \(path).\(rest).@\(operation.rawValue)")
        }
        switch operation {
        case .count, .sum, .average, .minimum, .maximum: break
        default:
            throw refusal(
                "@\(operation.rawValue) returns several values: a derivation may only use the operators @count, @sum, @avg, "
                    + "@min and @max")
        }
        let name = first(path[...])
        guard let relationship = find(name, in: entity) else {
            throw refusal(
                entity.attributeIndex(named: name) == nil
                    ? "\(entity.name) has no property \(name)"
                    : "\(entity.name).\(name) is an attribute, and @\(operation.rawValue) needs a to-many relationship"
            )
        }
        switch relationship.storage {
        case .transient:
            throw refusal("\(entity.name).\(name) is transient: the store does not have its value")
        case .column:
            throw refusal(
                "\(entity.name).\(name) is to-one: @\(operation.rawValue) needs a to-many relationship that the object has "
                    + "itself")
        case .inverseColumn, .pairs: break
        }
        let property = String(path.dropFirst(name.count + 1))
        if operation == .count {
            guard property.isEmpty else {
                throw refusal("@count takes no attribute: write \(name).@count")
            }
            guard attribute.type.isCalculated else {
                throw refusal("a count does not fit the type \(attribute.type.rawValue)")
            }
            return .members(relationship.storage, .count, column: nil)
        }
        guard !property.isEmpty else {
            throw refusal(
                "@\(operation.rawValue) needs an attribute of the members: \(name).attribute.@\(operation.rawValue)"
            )
        }
        return .members(
            relationship.storage, operation,
            column: try counted(property, entities[relationship.destination], operation))
    }

    /// The column of the members that an operator is made of.
    private func counted(
        _ name: String, _ member: SchemaEntity, _ operation: ExpressionNode.CollectionOperator
    ) throws(ModelError) -> Int {
        guard find(first(name[...]), in: member) == nil else {
            throw refusal(
                "\(member.name).\(first(name[...])) is a relationship: only attributes of the members themselves count"
            )
        }
        let column = try source(name, of: member)
        guard case .attribute(let type) = member.columns[column].kind else { return column }
        let path = "\(member.name).\(name)"
        switch operation {
        case .minimum, .maximum:
            guard type.isCalculated || type == .date || type == .string else {
                throw refusal("\(path) is of type \(type.rawValue), whose values have no order")
            }
            guard type.isHeld(by: attribute.type) else { throw mismatch(path, type) }
        default:
            guard type.isCalculated else {
                throw refusal(
                    "@\(operation.rawValue) needs numbers, but \(path) is of type \(type.rawValue)"
                )
            }
            guard isResult(of: type, operation) else {
                let isFraction = operation == .average && type != .decimal
                throw mismatch("@\(operation.rawValue) of \(path)", isFraction ? .double : type)
            }
        }
        return column
    }

    /// Whether the attribute can hold the sum or the average of numbers of a type.
    private func isResult(of type: AttributeType, _ operation: ExpressionNode.CollectionOperator)
        -> Bool
    {
        switch (type, attribute.type) {
        case (_, .double), (_, .float): true
        case (.decimal, .decimal): true
        case (.integer16, _), (.integer32, _), (.integer64, _):
            // An average of whole numbers has a fraction.
            operation == .sum && attribute.type.isCalculated
        default: false
        }
    }
}

extension AttributeType {
    /// Whether its values are numbers that are calculated with.
    fileprivate var isCalculated: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float: true
        default: false
        }
    }

    /// Whether every value of this type has the same value in the other one.
    fileprivate func isHeld(by other: AttributeType) -> Bool {
        switch (self, other) {
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64),
            (.integer16, .double), (.integer32, .double), (.integer16, .decimal),
            (.integer32, .decimal), (.integer64, .decimal), (.float, .double):
            true
        default: self == other
        }
    }
}
