// The mark of typed entities.

/// A class that `@Entity` describes.
///
/// ```swift
/// @Entity final class Tag: ManagedObject {
///     var label: String = ""
/// }
/// let tags = try context.fetch(FetchRequest<Tag>())
/// ```
///
/// Its metatype is `Sendable`, which keeps the class off the main actor in modules whose code is there by default, and the
/// conformance usable in every context.
public protocol PersistentEntity: ManagedObject, SendableMetatype {
    /// The columns of a batch insert; of a subclass, those that it inherits.
    associatedtype Columns: EntityColumns
}

extension PersistentEntity {
    /// The name of the class's entity.
    public static var entityName: String { TypedEntity.of(self).name }

    /// The key of the persistent property that a key path leads to, be it across to-one relationships; nil if it leads to
    /// none.
    public static func _key(for path: PartialKeyPath<Self>) -> String? {
        TypedEntity.of(self).key(of: path)
    }
}

extension ManagedObject {
    /// The columns of a class that is no entity: none. Generated code counts from here.
    public typealias Columns = NoColumns

    /// The number of the property that a key path leads to; no property here. Generated code asks it.
    public static func _property<T: ManagedObject>(for path: PartialKeyPath<T>) -> Int? { nil }
}
