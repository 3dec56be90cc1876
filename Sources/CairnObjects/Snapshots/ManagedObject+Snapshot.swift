// Taking snapshots of objects.

import CairnModel
import CairnStore

extension FetchRequestResult where Self: ManagedObject {
    /// The current values of the object, as a value that can be passed anywhere; reads the row if the object is a fault.
    ///
    /// ```swift
    /// let snapshot = product.snapshot(including: \.tags)
    /// Task.detached { print(snapshot.name, snapshot.tags.count) }
    /// ```
    ///
    /// - Parameter relationships: The to-many relationships whose members' ids to include. To-one relationships are always
    ///   included.
    public func snapshot(including relationships: PartialKeyPath<Self>...) -> ObjectSnapshot<Self> {
        ObjectSnapshot(of: self, including: relationships.map { name(of: $0) })
    }

    /// The same, with the names of relationships.
    public func snapshot(including relationships: [String]) -> ObjectSnapshot<Self> {
        ObjectSnapshot(of: self, including: relationships)
    }

    fileprivate func name(of path: PartialKeyPath<Self>) -> String {
        guard let typed = binding.typed, let number = typed.number(of: path),
            number != TypedEntity._identity
        else {
            preconditionFailure("the key path does not lead to a relationship of \(entity.name)")
        }
        return typed.properties[number].name
    }
}

extension Sequence where Element: ManagedObject {
    /// Snapshots of the objects, in order.
    ///
    /// ```swift
    /// let rows = try context.fetch(FetchRequest<Product>()).snapshots()
    /// ```
    ///
    /// - Parameter relationships: The to-many relationships whose members' ids to include.
    public func snapshots(including relationships: PartialKeyPath<Element>...)
        -> [ObjectSnapshot<Element>]
    {
        map { object in
            ObjectSnapshot(of: object, including: relationships.map { object.name(of: $0) })
        }
    }

    /// The same, with the names of relationships.
    public func snapshots(including relationships: [String]) -> [ObjectSnapshot<Element>] {
        map { ObjectSnapshot(of: $0, including: relationships) }
    }
}

extension ObjectSnapshot {
    /// What an object has now.
    init(of object: Entity, including relationships: [String]) {
        let entity = object.entity
        object.fulfillIfNeeded()
        keys = object.scope.snapshotKeys
        objectID = object.objectID
        objectVersion = Int(object.version)
        var values: [Value] = []
        values.reserveCapacity(keys.names.count)
        for column in entity.columns.indices {
            object.access(.column(column))
            values.append(object.columnValue(column))
        }
        for (index, attribute) in entity.attributes.enumerated()
        where attribute.description.isTransient {
            object.access(.transient(index))
            values.append(object.transients[index] ?? attribute.description.defaultValue)
        }
        for (index, relationship) in entity.relationships.enumerated()
        where relationship.storage == .transient && !relationship.description.isToMany {
            object.access(.relationship(index))
            values.append(object.transientTargets[index].value)
        }
        self.values = values
        var members: [String: [ObjectID]] = [:]
        for name in relationships {
            guard let index = entity.relationshipIndex(named: name) else {
                preconditionFailure("the entity \(entity.name) has no relationship named \(name)")
            }
            guard entity.relationships[index].description.isToMany else { continue }
            object.access(relationship: index)
            members[name] = object.objectIDs(forRelationshipNamed: name)
        }
        self.members = members
    }
}
