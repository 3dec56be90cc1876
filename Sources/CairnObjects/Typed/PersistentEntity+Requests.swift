// What a typed class says of itself before there is a context.

public import CairnModel

extension PersistentEntity {
    /// The class's entity as the class describes it; that of a store's model is ``ManagedObject/entity`` of an object, or
    /// ``ManagedObjectContext/entity(for:)``.
    public static func entity() -> EntityDescription { TypedEntity.of(self).description }

    /// A request for all objects of the class.
    ///
    /// ```swift
    /// var request = Product.fetchRequest()
    /// request.fetchLimit = 10
    /// ```
    public static func fetchRequest() -> FetchRequest<Self> { FetchRequest<Self>() }
}
