// What has changed in an object, with Core Data's types: values as objects of Foundation, `NSNull` for nil.

import CairnModel
import CairnObjects
import Foundation

extension NSManagedObject {
    /// The properties that differ from what is stored, with their values now. Of an object that is new or changed, those that were
    /// set as primitive values are among them.
    public func changedValues() -> [String: Any] {
        hasChanges ? boxed(changedValuesWithPrimitives()) : [:]
    }

    /// The properties that have changed since pending changes were processed last, with their values before.
    public func changedValuesForCurrentEvent() -> [String: Any] {
        boxed((self as ManagedObject).changedValuesForCurrentEvent())
    }

    private func boxed(_ values: [String: Any?]) -> [String: Any] {
        Dictionary(
            uniqueKeysWithValues: values.map { key, value in
                (key, value.map { boxed($0, forKey: key) } ?? NSNull())
            })
    }

    /// The values as they were read or saved last: those of all attributes and to-one relationships if no keys are given. Of a
    /// new object there are none.
    public func committedValues(forKeys keys: [String]?) -> [String: Any] {
        let object = self as ManagedObject
        let known = object.committedValues(forKeys: keys)
        if isInserted { return [:] }
        var values = known.mapValues { value in
            (value as? ObjectID).flatMap { id in
                object.managedObjectContext?.object(with: id)
            } ?? value
        }.reduce(into: [String: Any]()) { $0[$1.key] = boxed($1.value, forKey: $1.key) }
        for column in schemaEntity.columns where keys?.contains(column.name) ?? true {
            if values[column.name] == nil { values[column.name] = NSNull() }
        }
        return values
    }

    /// The ids of a relationship's members; no member is made an object of.
    public func objectIDs(forRelationshipNamed key: String) -> [NSManagedObjectID] {
        let coordinator = managedObjectContext?.persistentStoreCoordinator
        return (self as ManagedObject).objectIDs(forRelationshipNamed: key).map {
            NSManagedObjectID($0, entity: nil, in: coordinator)
        }
    }

    // MARK: What there is not

    /// There is no key-value observing on Linux: observe the notifications of the context.
    @available(
        *, unavailable,
        message:
            "there is no key-value observing on Linux: observe NSManagedObjectContextObjectsDidChange"
    )
    public func observationInfo() -> UnsafeMutableRawPointer? { nil }

    /// There is no key-value observing on Linux: observe the notifications of the context.
    @available(
        *, unavailable,
        message:
            "there is no key-value observing on Linux: observe NSManagedObjectContextObjectsDidChange"
    )
    public func setObservationInfo(_ info: UnsafeMutableRawPointer?) {}
}
