// What changed in an object since it was read or saved.

public import CairnModel
import CairnStore

extension ManagedObjectMembers where Self: ManagedObject {
    /// The properties that differ from the stored state, or were set on a new object, with their current values. A
    /// property that became nil is included, without a value.
    public func changedValues() -> [String: Any?] { changedValues(without: untracked) }

    /// The values as they were when the object was last read or saved; all stored properties but to-many
    /// relationships if `keys` is nil. To-one relationships come as object ids. Absent means nil.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        fulfillIfNeeded()
        var values: [String: Any] = [:]
        for (index, column) in entity.columns.enumerated()
        where keys?.contains(column.name) ?? true {
            guard hasRow, let value = untyped(baseValue(index), column: index) else { continue }
            values[column.name] = value
        }
        return values
    }

    /// The ids of a relationship's members, in order or ascending, without creating objects. At most one for a to-one
    /// relationship.
    public func objectIDs(forRelationshipNamed name: String) -> [ObjectID] {
        guard let index = entity.relationshipIndex(named: name) else {
            preconditionFailure("the entity \(entity.name) has no relationship named \(name)")
        }
        return managedObjectContext?.memberIDs(of: self, index) ?? []
    }

    /// Whether accessing the relationship would query the store.
    public func hasFault(forRelationshipNamed name: String) -> Bool {
        guard let index = entity.relationshipIndex(named: name) else {
            preconditionFailure("the entity \(entity.name) has no relationship named \(name)")
        }
        if isInserted || isTransient(index) { return false }
        guard entity.relationships[index].description.isToMany else { return isFault }
        return toMany[index]?.isLoaded != true
    }
}

extension ManagedObject {
    /// The same with those that were set as primitive values, which a save writes too.
    package final func changedValuesWithPrimitives() -> [String: Any?] {
        changedValues(without: awakened)
    }

    fileprivate final func changedValues(without left: ColumnSet) -> [String: Any?] {
        var changes: [String: Any?] = [:]
        for column in columnsWithEdits where !left.contains(column) {
            changes.updateValue(
                value(forKey: entity.columns[column].name), forKey: entity.columns[column].name)
        }
        for index in (rarer?.refused ?? [:]).keys {
            let attribute = entity.attributes[index].description
            if attribute.isTransient { continue }
            changes.updateValue(value(forKey: attribute.name), forKey: attribute.name)
        }
        for (index, state) in toMany where state.hasChanges {
            let name = entity.relationships[index].description.name
            changes.updateValue(value(forKey: name), forKey: name)
        }
        return changes
    }

    /// Whether the object differs from its stored state: setting a property to its current value does not count, nor do
    /// transient properties. A new object always differs.
    public final var hasPersistentChangedValues: Bool {
        if isInserted { return true }
        return !editedColumns.isEmpty || hasRefusals
            || toMany.contains { !isTransient($0.key) && $0.value.hasChanges }
    }

    /// Whether nothing of the object differs from what is stored but who leads to it by columns of their own.
    final var isOnlyLinked: Bool {
        editedColumns.isEmpty
            && toMany.allSatisfy { index, state in
                if case .inverseColumn = entity.relationships[index].storage { return true }
                return !state.hasChanges
            }
    }

}
