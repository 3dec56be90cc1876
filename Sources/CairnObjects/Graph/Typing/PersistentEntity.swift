// The mark of typed entities.

/// A class marked `@Entity`.
///
/// ```swift
/// @Entity final class Tag: ManagedObject {
///     var label: String = ""
/// }
/// let tags = try context.fetch(FetchRequest<Tag>())
/// ```
///
/// Its metatype is `Sendable`, which keeps the class off the main actor in modules with default isolation to it, and makes
/// the conformance usable in every context.
public protocol PersistentEntity: ManagedObject, SendableMetatype {
    /// The columns of a batch insert; of a subclass, those that it inherits.
    associatedtype Columns: EntityColumns
}

extension PersistentEntity {
    /// The name of the class's entity.
    public static var entityName: String { TypedEntity.of(self).name }

    /// The key of the persistent property at the end of a key path, possibly across to-one relationships; nil if there is
    /// none.
    public static func _key(for path: PartialKeyPath<Self>) -> String? {
        TypedEntity.of(self).key(of: path)
    }
}

extension ManagedObject {
    /// The columns of a class that is not an entity: none. Generated code counts from here.
    public typealias Columns = NoColumns

    /// The number of the property at the end of a key path; here there is none. Called by generated code.
    public static func _property<T: ManagedObject>(for path: PartialKeyPath<T>) -> Int? { nil }
}
