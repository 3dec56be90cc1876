// Binds a predicate to the columns of an entity: every key is a column, and every value has its type.
//
// This is the narrow form, for whoever can compare columns with constants and nothing else.
//
//   0. Two constants are compared at once; what is no simple comparison is refused, naming the part.
//   1. A key must name a stored column; what else it may mean is refused with the reason.
//   2. The operator must make sense for the column's type.
//   3. Every value is converted exactly, or refused.

import FoundationEssentials

extension PredicateNode {
    /// The same predicate with every value converted to the type of the column that it is compared with.
    ///
    /// Nil stays nil and can be compared with every column. Numbers, strings and dates are ordered; all other values can
    /// only be compared for equality. Transformable attributes can only be compared with nil.
    ///
    /// - Throws: `PredicateFormatError` naming the key, if the entity has no such column, the operator is invalid for it,
    ///   or a value does not have its type.
    public func bound(to entity: SchemaEntity) throws(PredicateFormatError) -> PredicateNode {
        try walkable().boundToColumns(of: entity)
    }

    private func boundToColumns(of entity: SchemaEntity) throws(PredicateFormatError)
        -> PredicateNode
    {
        switch self {
        case .constant: return self
        case .comparison(let comparison): return try comparison.bound(to: entity)
        case .and(let parts): return .and(try Self.bound(parts, to: entity))
        case .or(let parts): return .or(try Self.bound(parts, to: entity))
        case .not(let part): return .not(try part.boundToColumns(of: entity))
        }
    }

    private static func bound(_ parts: [PredicateNode], to entity: SchemaEntity)
        throws(PredicateFormatError) -> [PredicateNode]
    {
        var result: [PredicateNode] = []
        result.reserveCapacity(parts.count)
        for part in parts { result.append(try part.boundToColumns(of: entity)) }
        return result
    }
}

extension PredicateNode.Comparison {
    fileprivate func bound(to entity: SchemaEntity) throws(PredicateFormatError) -> PredicateNode {
        if let truth = constantTruth { return .constant(truth) }
        guard let simple, simple.options.isEmpty, !simple.operator.isBeyondColumns else {
            throw PredicateFormatError("\(beyondColumns) is not supported")
        }
        switch simple.operator {
        case .in:
            guard case .list = simple.operand else {
                throw PredicateFormatError("IN needs a list of values")
            }
        case .between:
            guard simple.values.count == 2, case .list = simple.operand else {
                throw PredicateFormatError(
                    "BETWEEN needs two values, but there are \(simple.values.count)")
            }
        default:
            guard case .value = simple.operand else {
                throw PredicateFormatError(
                    "\(simple.operator.rawValue) needs one value, but there is a list")
            }
        }
        return .comparison(
            Self(simple.subject, simple.operator, try simple.boundValues(to: entity)))
    }
}

extension PredicateNode.Comparison.Operator {
    /// Whether no column can be asked it by its bytes.
    fileprivate var isBeyondColumns: Bool { isOfText || self == .contains }
}

extension PredicateNode.Comparison.Simple {
    fileprivate func boundValues(to entity: SchemaEntity) throws(PredicateFormatError) -> [Value] {
        switch subject {
        case .objectID:
            try requireEquality(of: "the object itself")
            return try converted(to: "an object id", Self.objectID)
        case .key(let key):
            let column = try Self.column(key, of: entity)
            switch column.kind {
            case .reference:
                try requireEquality(of: "the relationship \(key)")
                return try converted(to: "an object id", Self.objectID)
            case .attribute(.transformable):
                guard `operator` == .equal || `operator` == .notEqual, values[0].isNull else {
                    throw PredicateFormatError(
                        "\(key) is transformable: it can only be compared with nil")
                }
                return values
            case .attribute(let type):
                if !type.isOrdered { try requireEquality(of: "\(key), a \(type.rawValue),") }
                return try converted(to: "a \(type.rawValue) for \(key)") {
                    $0.exactLiteral(of: type)
                }
            }
        }
    }

    private func requireEquality(of subject: String) throws(PredicateFormatError) {
        switch `operator` {
        case .equal, .notEqual, .in: return
        default:
            throw PredicateFormatError(
                "\(subject) has no order: \(`operator`.rawValue) cannot compare it")
        }
    }

    private func converted(to what: String, _ convert: (Value) -> Value?)
        throws(PredicateFormatError)
        -> [Value]
    {
        let values = values
        var result: [Value] = []
        result.reserveCapacity(values.count)
        for value in values {
            guard let converted = convert(value) else {
                throw PredicateFormatError(key: nil) { "\($0(value)) is not \(what)" }
            }
            result.append(converted)
        }
        return result
    }

    private static func objectID(_ value: Value) -> Value? {
        switch value {
        case .null, .objectID: value
        case .string(let text):
            URL(string: text).flatMap { ObjectID(uriRepresentation: $0) }.map { .objectID($0) }
        case .uri(let uri): ObjectID(uriRepresentation: uri).map { .objectID($0) }
        default: nil
        }
    }

    private static func column(_ key: String, of entity: SchemaEntity) throws(PredicateFormatError)
        -> SchemaColumn
    {
        if let index = entity.columnIndex(named: key) { return entity.columns[index] }
        let name = entity.name
        if let index = entity.attributeIndex(named: key) {
            let attribute = entity.attributes[index].description
            throw PredicateFormatError(
                attribute.type == .composite
                    ? "\(key) of \(name) is composite: use one of its elements"
                    : "\(key) of \(name) is transient: a store does not have its values")
        }
        if let index = entity.relationshipIndex(named: key) {
            let relationship = entity.relationships[index].description
            throw PredicateFormatError(
                relationship.isToMany
                    ? "\(key) of \(name) is a to-many relationship: comparing it is not supported"
                    : "\(key) of \(name) is transient: a store does not have its values")
        }
        let first = key.prefix { $0 != "." }
        if first.count < key.count, entity.relationshipIndex(named: String(first)) != nil {
            throw PredicateFormatError(
                "\(key) of \(name) crosses a relationship: that is not supported")
        }
        throw PredicateFormatError("\(name) has no attribute or relationship \(key)")
    }
}

extension AttributeType {
    /// Whether values of the type can be less and greater.
    fileprivate var isOrdered: Bool {
        switch self {
        case .integer16, .integer32, .integer64, .decimal, .double, .float, .string, .date: true
        default: false
        }
    }
}
