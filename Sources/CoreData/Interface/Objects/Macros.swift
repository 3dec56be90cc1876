// The macros that stand for Core Data's `@NSManaged`, which the compiler knows on Apple's platforms alone.

/// Makes a property of a managed object's class one of its entity's, of the same name.
///
/// ```swift
/// class Note: NSManagedObject {
///     @CoreData.NSManaged var title: String?
///     @CoreData.NSManaged var isDone: Bool
///     @CoreData.NSManaged var tags: NSSet?
/// }
/// ```
///
/// The module's name has to stand before it: a bare `@NSManaged` is the compiler's own, which ends in undefined symbols when
/// the program is linked. It may stand in the class, and in extensions of it.
///
/// A property that is not optional and has no value reads as 0, as an empty text, and so on. `primitiveTitle` reads and
/// sets the value of `title` without telling anybody.
@attached(accessor) @attached(peer)
public macro NSManaged() = #externalMacro(module: "CairnPlugin", type: "ManagedMacro")

/// Writes one of the functions that Xcode declares for a to-many relationship.
///
/// ```swift
/// extension Note {
///     @CoreData.NSManagedAccessor func addToTags(_ value: Tag)
///     @CoreData.NSManagedAccessor func addToTags(_ values: NSSet)
///     @CoreData.NSManagedAccessor func insertIntoPages(_ value: Page, at idx: Int)
/// }
/// ```
@attached(body) @attached(peer)
public macro NSManagedAccessor() =
    #externalMacro(module: "CairnPlugin", type: "ManagedAccessorMacro")
