// Core Data's names on Linux, for porting code that was written for Apple's platforms.
//
// It has no semantics of its own: every class stands for one of Cairn's, which does the work. New code is better written with
// Cairn's own names, where using an object on a wrong thread does not compile; here, as in Core Data, nobody checks.
//
// What classes inherit from Cairn's objects are members of another module, which a program does not import. Handing on one of that
// module's names makes all its members visible, and none of its other names.

public import CairnModel
@_exported public import Foundation

@_exported public import class CairnObjects.ManagedObjectContext

/// An entity as a store knows it: for the initializer that every class with designated initializers of its own must have.
///
/// ```swift
/// required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
///     super.init(entity: entity, insertInto: context)
/// }
/// ```
///
/// `ManagedObjectContext` is the context behind an ``NSManagedObjectContext``.
public typealias SchemaEntity = CairnModel.SchemaEntity
