// What predicates read from objects in memory, and the results of their expressions.

import FoundationEssentials

/// An object that predicates can be evaluated on.
package protocol EvaluatedObject: AnyObject {
    /// The object's id.
    var evaluatedID: ObjectID { get }
    /// The entity whose properties it has.
    var evaluatedEntity: SchemaEntity { get }
    /// The value of an attribute's column.
    func evaluatedColumn(_ index: Int) -> Value
    /// The value of an attribute that has no column; nil if predicates do not support it.
    func evaluatedAttribute(_ index: Int) -> Value
    /// What the bytes of a transformable attribute's column count as: themselves, or what they stand for.
    func evaluatedTransformable(_ column: Int) -> EvaluatedValue
    /// The target of a to-one relationship.
    func evaluatedTarget(_ relationship: Int) -> (any EvaluatedObject)?
    /// The members of a to-many relationship, in order if it is ordered.
    func evaluatedMembers(_ relationship: Int) -> [any EvaluatedObject]
}

extension EvaluatedObject {
    // Stores know the bytes alone, and what is fetched from them with unsaved changes has to answer alike.
    package func evaluatedTransformable(_ column: Int) -> EvaluatedValue {
        .value(evaluatedColumn(column))
    }

    fileprivate func evaluatedValue(ofColumn column: Int) -> EvaluatedValue {
        let value = evaluatedColumn(column)
        if case .binary = value,
            evaluatedEntity.columns[column].attribute?.type == .transformable
        {
            return evaluatedTransformable(column)
        }
        return .value(value)
    }
}

/// Values by name that are no object of an entity, as a dictionary has them.
package protocol KeyedValues: AnyObject {
    /// The value of a name; nil for a name that there is not.
    func evaluatedValue(forKey key: String) -> EvaluatedValue
    /// Whether others have the same values by the same names.
    func equals(_ other: any KeyedValues) -> Bool
}

/// What an expression gives.
package enum EvaluatedValue {
    /// A plain value, or nil.
    case value(Value)
    /// An object.
    case object(any EvaluatedObject)
    /// Values by name.
    case keyed(any KeyedValues)
    /// Members, in order; a collection in a collection is part of it.
    case collection([EvaluatedValue])

    package static var null: EvaluatedValue { .value(.null) }

    /// The value; of an object its id, and nothing of a collection.
    package var plain: Value {
        switch self {
        case .value(let value): value
        case .object(let object): .objectID(object.evaluatedID)
        case .keyed, .collection: .null
        }
    }

    package var isNull: Bool {
        if case .value(.null) = self { true } else { false }
    }

    /// The members of a collection; a single value is the only one, and nil is none.
    package var members: [EvaluatedValue] {
        switch self {
        case .collection(let members): members
        case .value(.null): []
        default: [self]
        }
    }

    /// A collection of what is given, without collections in it.
    package static func flat(_ parts: some Sequence<EvaluatedValue>) -> EvaluatedValue {
        var members: [EvaluatedValue] = []
        for part in parts {
            if case .collection(let inner) = part {
                members += inner
            } else {
                members.append(part)
            }
        }
        return .collection(members)
    }

    // MARK: Properties

    /// The value at a dotted path. Nil on the way gives nil; a collection on the way gives the values of all
    /// its members.
    package func value(at path: String) -> EvaluatedValue {
        var visits: PathVisits?
        return value(at: path, &visits)
    }

    /// The same, but an object that is met several times at one place of a long path may give its values once: for who asks whether
    /// there is one. Where each of two objects leads to both, a path of `n` steps would give 2^n values else.
    package func someValue(at path: String) -> EvaluatedValue {
        var visits = path.utf8.count { $0 == UInt8(ascii: ".") } > 2 ? PathVisits() : nil
        return value(at: path, &visits)
    }

    private func value(at path: String, _ visits: inout PathVisits?) -> EvaluatedValue {
        switch self {
        case .object(let object): return Self.value(at: path, of: object, &visits)
        case .collection(let members):
            var parts: [EvaluatedValue] = []
            parts.reserveCapacity(members.count)
            for member in members where visits?.isNew(member, path) ?? true {
                parts.append(member.value(at: path, &visits))
            }
            return .flat(parts)
        case .value, .keyed:
            guard let dot = path.firstIndex(of: ".") else { return step(path) }
            return step(String(path[..<dot]))
                .value(at: String(path[path.index(after: dot)...]), &visits)
        }
    }

    /// What one key gives of what is no object.
    private func step(_ key: String) -> EvaluatedValue {
        switch self {
        case .value(let value): .value(Self.key(key, of: value))
        case .keyed(let values):
            key == "self" || key == "SELF" ? self : values.evaluatedValue(forKey: key)
        default: .null
        }
    }

    private static func value(
        at path: String, of object: any EvaluatedObject, _ visits: inout PathVisits?
    ) -> EvaluatedValue {
        let entity = object.evaluatedEntity
        if let column = entity.columnIndex(named: path),
            entity.columns[column].relationship == nil
        {
            return object.evaluatedValue(ofColumn: column)
        }
        // The longest beginning that is a property: composite attributes have points in their names.
        var end = path.endIndex
        while true {
            let name = String(path[..<end])
            if let property = property(name, of: object, entity) {
                guard end < path.endIndex else { return property }
                return property.value(at: String(path[path.index(after: end)...]), &visits)
            }
            guard let dot = path[..<end].lastIndex(of: ".") else { return .null }
            end = dot
        }
    }

    private static func property(
        _ name: String, of object: any EvaluatedObject, _ entity: SchemaEntity
    ) -> EvaluatedValue? {
        if let index = entity.relationshipIndex(named: name) {
            if entity.relationships[index].description.isToMany {
                return .collection(object.evaluatedMembers(index).map { .object($0) })
            }
            return object.evaluatedTarget(index).map { .object($0) } ?? .null
        }
        if let column = entity.columnIndex(named: name) {
            return object.evaluatedValue(ofColumn: column)
        }
        if let index = entity.attributeIndex(named: name) {
            return .value(object.evaluatedAttribute(index))
        }
        switch name {
        case "objectID", "self", "SELF": return .object(object)
        case "entity", "entity.name": return .value(.string(entity.name))
        default: return nil
        }
    }

    /// What a plain value can be asked by a key.
    private static func key(_ key: some StringProtocol, of value: Value) -> Value {
        switch (key, value) {
        case ("self", _), ("SELF", _): value
        case ("length", .string(let text)): .integer(Int64(text.count))
        case ("timeIntervalSinceReferenceDate", .date(let date)):
            .double(date.timeIntervalSinceReferenceDate)
        default: .null
        }
    }
}

/// The objects that were met on a path, and how much of it was left there.
private struct PathVisits {
    private struct Visit: Hashable {
        let object: ObjectID
        let rest: Int
    }

    private var known: Set<Visit> = []

    mutating func isNew(_ member: EvaluatedValue, _ path: String) -> Bool {
        guard case .object(let object) = member else { return true }
        return known.insert(Visit(object: object.evaluatedID, rest: path.utf8.count)).inserted
    }
}
