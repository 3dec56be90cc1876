// The members of managed objects whose names a layer above gives other types.
//
// They stand in the extension of a protocol, and not in the class, since a subclass can then declare members of the same
// names: Swift prefers those of the class. The module CoreData does, whose objects have an `objectID` of Core Data's type.
//
// Threads: the context's.

public import CairnModel

/// What every ``ManagedObject`` has that a subclass may declare with other types.
///
/// Only `ManagedObject` conforms to it.
public protocol ManagedObjectMembers: AnyObject {}

extension ManagedObjectMembers where Self: ManagedObject {
    /// The identity: temporary until the object is saved or has obtained a permanent one.
    @inlinable public var objectID: ObjectID { identity }

    /// The entity.
    @inlinable public var entity: SchemaEntity { layoutEntity }

    /// The context, or nil if the object has left it or never was in one. An object keeps its context alive.
    @inlinable public var managedObjectContext: ManagedObjectContext? { context }
}
