// Which Swift class the objects of an entity have.

package import CairnModel

/// The classes of a model's entities. An entity that is not listed uses its parent's class, and ultimately
/// ``ManagedObject``.
public struct ObjectClasses: Sendable {
    private var types: [String: ManagedObject.Type] = [:]

    /// No classes: all objects are plain.
    public init() {}

    /// Classes by entity name.
    public init(_ types: [String: ManagedObject.Type]) {
        self.types = types
    }

    /// One class for all entities.
    init(ofAll type: ManagedObject.Type, in schema: Schema) {
        if type == ManagedObject.self { return }
        for entity in schema.entities where entity.parent == nil { types[entity.name] = type }
    }

    /// The only entity with exactly this class, or nil.
    func entityName(for type: ManagedObject.Type) -> String? {
        let names = types.filter { $0.value == type }.map(\.key)
        return names.count == 1 ? names[0] : nil
    }

    /// The class of an entity's objects.
    package func type(for entity: SchemaEntity, in schema: Schema) -> ManagedObject.Type {
        if types.isEmpty { return ManagedObject.self }
        var current: Int? = entity.index
        while let index = current {
            if let type = types[schema.entities[index].name] { return type }
            current = schema.entities[index].parent
        }
        return ManagedObject.self
    }
}
