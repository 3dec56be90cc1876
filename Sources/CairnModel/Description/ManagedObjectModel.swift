// A whole model: what a user describes, before it is checked and resolved into a `Schema`.

/// A model: entities, configurations and fetch request templates.
///
/// A model is a value. It is checked, and its inheritance resolved, when a ``Schema`` is made from it.
public struct ManagedObjectModel: Sendable, Hashable {
    /// The entities, in the order of the model.
    public var entities: [EntityDescription]
    /// Named subsets of the entities.
    public var configurations: [String: [String]] = [:]
    /// Groups of attributes that composite attributes are made of, in the order of the model.
    public var composites: [CompositeDescription] = []
    /// Named requests, in the order of the model.
    public var fetchRequestTemplates: [FetchRequestTemplate] = []
    /// Free text that tells versions apart for people.
    public var versionIdentifiers: [String] = []
    /// What the model file says beyond all this, kept so that it is not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a model.
    public init(entities: [EntityDescription] = []) {
        self.entities = entities
    }

    /// The entity of that name, or nil.
    public func entity(named name: String) -> EntityDescription? {
        entities.first { $0.name == name }
    }
}

/// A named group of attributes: what composite attributes of that name are made of.
///
/// The elements stand here as the model says them. In the entities every composite attribute carries a
/// copy of them, nested ones resolved.
public struct CompositeDescription: Sendable, Hashable, Codable {
    /// The composite's name.
    public var name: String
    /// Its elements; one that is composite itself names its composite and has no elements here.
    public var elements: [AttributeDescription]

    /// Describes a composite.
    public init(_ name: String, elements: [AttributeDescription]) {
        self.name = name
        self.elements = elements
    }
}

/// A named request that is stored in a model.
public struct FetchRequestTemplate: Sendable, Hashable {
    /// The template's name.
    public var name: String
    /// The entity that is fetched.
    public var entityName: String
    /// The predicate, with `$VARIABLE`s to be filled in.
    public var predicateFormat: String?
    /// The greatest number of results; 0 = all.
    public var fetchLimit = 0
    /// How many rows are read at a time; 0 = all.
    public var fetchBatchSize = 0
    /// The kind of result, as Core Data numbers them.
    public var resultType = 0
    /// Whether subentities are included.
    public var includesSubentities = true
    /// Whether the rows' values are read as well.
    public var includesPropertyValues = true
    /// Whether unsaved changes are seen.
    public var includesPendingChanges = true
    /// Whether objects come as faults.
    public var returnsObjectsAsFaults = true
    /// Whether equal results are given once.
    public var returnsDistinctResults = false
    /// What the model file says beyond all this, kept so that it is not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a template.
    public init(_ name: String, entityName: String, predicateFormat: String?) {
        self.name = name
        self.entityName = entityName
        self.predicateFormat = predicateFormat
    }
}
