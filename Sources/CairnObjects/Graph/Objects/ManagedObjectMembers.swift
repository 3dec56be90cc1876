// The members of managed objects whose names a layer above gives other types.
//
// They stand in the extension of a protocol, and not in the class, since a subclass can then declare members of the same
// names: Swift prefers those of the class. The module CoreData does, whose objects have an `objectID` of Core Data's type.
//
// That alone decides only between equals: `object.managedObjectContext?.userInfo["key"]` is shorter by a conversion with the
// dictionary of the context here than with Foundation's, and would silently be another dictionary. So these are disfavored, too.
//
// Threads: the context's.

public import CairnModel

/// What every ``ManagedObject`` has that a subclass may declare with other types.
///
/// Only `ManagedObject` conforms to it.
public protocol ManagedObjectMembers: AnyObject {}

extension ManagedObjectMembers where Self: ManagedObject {
    /// The identity: temporary until the object is saved or has obtained a permanent one.
    @_disfavoredOverload
    @inlinable public var objectID: ObjectID { identity }

    /// The entity.
    @_disfavoredOverload
    @inlinable public var entity: SchemaEntity { layoutEntity }

    /// The context, or nil if the object has left it or never was in one. An object keeps its context alive.
    @_disfavoredOverload
    @inlinable public var managedObjectContext: ManagedObjectContext? { context }
}
