// Which of several objects with one key stays.
//
// Objects that a rule cannot tell apart are told apart by their values, so that every device comes to the same order.

import CairnModel

/// The order in which the objects of a group stay.
struct DuplicateOrder {
    private let rule: DeduplicationRule
    private let entity: SchemaEntity

    /// - Parameter entity: what the objects are, or inherit from.
    init(_ rule: DeduplicationRule, of entity: SchemaEntity) {
        self.entity = entity
        var rule = rule
        while case .merge(_, let into) = rule { rule = into }
        self.rule = rule
    }

    /// The objects, the one that stays first.
    func sorted(_ objects: [ManagedObject]) -> [ManagedObject] {
        objects.map { (object: $0, rank: rank($0)) }.sorted { one, other in
            let order = SortingOrder.compare(one.rank, other.rank)
            return order == 0 ? precedes(one.object, other.object) : order < 0
        }.map(\.object)
    }

    /// What the rule looks at: the least one stays.
    private func rank(_ object: ManagedObject) -> Value {
        switch rule {
        case .mostComplete:
            return .integer(
                Int64(
                    object.entity.columns.indices.count { object.baseValue($0).isNull }
                        - object.entity.columns.count))
        default: return .null
        }
    }

    private func precedes(_ one: ManagedObject, _ other: ManagedObject) -> Bool {
        switch rule {
        case .first, .nullKey, .fail:
            return SortingOrder.compare(one.objectID, other.objectID) < 0
        case .last: return SortingOrder.compare(one.objectID, other.objectID) > 0
        case .newest(let name):
            let order = Self.compare(one, other, name, isDescending: true)
            if order != 0 { return order < 0 }
        case .smallest(let name):
            let order = Self.compare(one, other, name, isDescending: false)
            if order != 0 { return order < 0 }
        case .mostComplete, .merge: break
        }
        return compare(one, other) < 0
    }

    /// Compares an attribute of two objects; nil comes last.
    static func compare(
        _ one: ManagedObject, _ other: ManagedObject, _ name: String, isDescending: Bool
    ) -> Int {
        let (left, right) = (value(of: one, name), value(of: other, name))
        if left.isNull || right.isNull { return (left.isNull ? 1 : 0) - (right.isNull ? 1 : 0) }
        let order = SortingOrder.compare(left, right)
        return isDescending ? -order : order
    }

    static func value(of object: ManagedObject, _ name: String) -> Value {
        object.entity.columnIndex(named: name).map { object.baseValue($0) } ?? .null
    }

    /// Compares all attributes: those that all objects have, then the names of the entities, then those that only objects of
    /// their entity have.
    private func compare(_ one: ManagedObject, _ other: ManagedObject) -> Int {
        let order = Self.compare(one, other, entity)
        if order != 0 { return order }
        if one.entity.name != other.entity.name {
            return one.entity.name < other.entity.name ? -1 : 1
        }
        let rest = Self.compare(one, other, one.entity)
        return rest != 0 ? rest : SortingOrder.compare(one.objectID, other.objectID)
    }

    /// Compares the attributes of an entity, by name: what is large only if all else is equal. Derived ones follow from others,
    /// or from when they were stored.
    private static func compare(
        _ one: ManagedObject, _ other: ManagedObject, _ entity: SchemaEntity
    ) -> Int {
        for isLarge in [false, true] {
            let names = entity.columns.filter { column in
                guard case .attribute(let type) = column.kind,
                    column.attribute?.derivationExpression == nil
                else { return false }
                return (type == .binary || type == .transformable) == isLarge
            }.map(\.name).sorted()
            for name in names {
                let order = compare(one, other, name, isDescending: false)
                if order != 0 { return order }
            }
        }
        return 0
    }
}
