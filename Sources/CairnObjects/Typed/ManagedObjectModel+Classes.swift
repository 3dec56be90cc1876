// A model, and the classes of its objects, from typed classes.
//
//   1. The classes that are named come first, in their order.
//   2. Then those that they inherit from and those that their relationships lead to, as they are met.
//      Subclasses cannot be found that way: they have to be named.

public import CairnModel

extension ManagedObjectModel {
    /// Creates the model of typed classes.
    ///
    /// Their superclasses, and the destinations of their relationships, are included automatically; subclasses must be
    /// listed.
    ///
    /// ```swift
    /// let model = ManagedObjectModel(for: Product.self, Tag.self)
    /// ```
    public init(for types: any PersistentEntity.Type...) { self.init(for: types) }

    /// The model that typed classes describe.
    public init(for types: [any PersistentEntity.Type]) {
        self.init(entities: TypedEntity.reached(from: types).map(\.description))
    }
}

extension ObjectClasses {
    /// The classes of the entities of typed classes, including the destinations of their relationships.
    public init(for types: any PersistentEntity.Type...) { self.init(for: types) }

    /// The classes of the entities of typed classes, including the destinations of their relationships.
    public init(for types: [any PersistentEntity.Type]) {
        let entities = TypedEntity.reached(from: types)
        self.init(Dictionary(entities.map { ($0.name, $0.type) }) { first, _ in first })
    }
}

extension TypedEntity {
    /// The classes, and all that they lead to.
    fileprivate static func reached(from types: [any PersistentEntity.Type]) -> [TypedEntity] {
        var found: [TypedEntity] = []
        var seen: Set<ObjectIdentifier> = []
        func add(_ entity: TypedEntity) {
            if seen.insert(ObjectIdentifier(entity)).inserted { found.append(entity) }
        }
        for type in types { add(.of(type)) }
        var next = 0
        while next < found.count {
            let entity = found[next]
            if let parent = entity.parent { add(parent) }
            for destination in entity.destinations { add(.of(destination)) }
            next += 1
        }
        return found
    }
}
