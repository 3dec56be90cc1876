// What changed in an object since it was read or saved.

public import CairnModel
import CairnStore

extension ManagedObject {
    /// Whether the object differs from what is stored: setting a property to the value it had does not
    /// count, and transient properties do not either. A new object always differs.
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

    /// The properties that differ from what is stored, or were set on a new object, with their present
    /// values. A property that became nil has its key here, with no value.
    public final func changedValues() -> [String: Any?] {
        var changes: [String: Any?] = [:]
        for column in columnsWithEdits where !untracked.contains(column) {
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

    /// The values as they were when the object was last read or saved; all stored properties but to-many
    /// relationships if `keys` is nil. To-one relationships come as object ids. Absent means nil.
    public final func committedValues(forKeys keys: [String]?) -> [String: Any] {
        fulfillIfNeeded()
        var values: [String: Any] = [:]
        for (index, column) in entity.columns.enumerated()
        where keys?.contains(column.name) ?? true {
            guard hasRow, let value = untyped(baseValue(index), column: index) else { continue }
            values[column.name] = value
        }
        return values
    }

    /// The ids of a relationship's members, in their order or ascending; no member is made an object of. At most one for a
    /// to-one relationship.
    public final func objectIDs(forRelationshipNamed name: String) -> [ObjectID] {
        guard let index = entity.relationshipIndex(named: name) else {
            preconditionFailure("the entity \(entity.name) has no relationship named \(name)")
        }
        return managedObjectContext?.memberIDs(of: self, index) ?? []
    }

    /// Whether asking for the relationship would ask the store.
    public final func hasFault(forRelationshipNamed name: String) -> Bool {
        guard let index = entity.relationshipIndex(named: name) else {
            preconditionFailure("the entity \(entity.name) has no relationship named \(name)")
        }
        if isInserted || isTransient(index) { return false }
        guard entity.relationships[index].description.isToMany else { return isFault }
        return toMany[index]?.isLoaded != true
    }
}
