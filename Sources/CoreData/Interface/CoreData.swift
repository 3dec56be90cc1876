// Core Data's names on Linux, for porting code that was written for Apple's platforms.
//
// It has no semantics of its own: every class stands for one of Cairn's, which does the work. New code is better written with
// Cairn's own names, where using an object on a wrong thread does not compile; here, as in Core Data, nobody checks.

public import CairnModel
public import CairnObjects
@_exported public import Foundation

/// An entity as a store knows it: for the initializer that every class with designated initializers of its own must have.
///
/// ```swift
/// required init(entity: SchemaEntity, insertInto context: ManagedObjectContext?) {
///     super.init(entity: entity, insertInto: context)
/// }
/// ```
public typealias SchemaEntity = CairnModel.SchemaEntity

/// The context behind an ``NSManagedObjectContext``: see ``SchemaEntity``.
public typealias ManagedObjectContext = CairnObjects.ManagedObjectContext
