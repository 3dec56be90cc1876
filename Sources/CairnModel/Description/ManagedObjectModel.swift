// A whole model: what a user describes, before it is checked and resolved into a `Schema`.

/// A model: entities, configurations and fetch request templates.
///
/// A model is a value. Creating a ``Schema`` checks it and resolves inheritance.
public struct ManagedObjectModel: Sendable, Hashable {
    /// The entities, in the order of the model.
    public var entities: [EntityDescription]
    /// Named subsets of the entities.
    public var configurations: [String: [String]] = [:]
    /// Groups of attributes that composite attributes are made of, in the order of the model.
    public var composites: [CompositeDescription] = []
    /// Named requests, in the order of the model.
    public var fetchRequestTemplates: [FetchRequestTemplate] = []
    /// Free text that identifies the version for people.
    public var versionIdentifiers: [String] = []
    /// Other attributes of the element in the model file, kept so that they are not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a model.
    public init(entities: [EntityDescription] = []) {
        self.entities = entities
    }

    /// The entity with that name, or nil.
    public func entity(named name: String) -> EntityDescription? {
        entities.first { $0.name == name }
    }
}

/// A named group of attributes, which composite attributes of that name consist of.
///
/// The elements are here as the model declares them. In the entities every composite attribute has a copy of them with
/// nested composites resolved.
public struct CompositeDescription: Sendable, Hashable, Codable {
    /// The composite's name.
    public var name: String
    /// Its elements. An element that is itself composite names its composite and has no elements here.
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
    /// The entity to fetch.
    public var entityName: String
    /// The predicate, with `$VARIABLE`s to substitute.
    public var predicateFormat: String?
    /// The maximum number of results; 0 = all.
    public var fetchLimit = 0
    /// How many rows are read at a time; 0 = all.
    public var fetchBatchSize = 0
    /// The result type, as Core Data numbers them.
    public var resultType = 0
    /// Whether subentities are included.
    public var includesSubentities = true
    /// Whether the rows' values are read as well.
    public var includesPropertyValues = true
    /// Whether unsaved changes are included.
    public var includesPendingChanges = true
    /// Whether objects are returned as faults.
    public var returnsObjectsAsFaults = true
    /// Whether results are distinct.
    public var returnsDistinctResults = false
    /// Other attributes of the element in the model file, kept so that they are not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a template.
    public init(_ name: String, entityName: String, predicateFormat: String?) {
        self.name = name
        self.entityName = entityName
        self.predicateFormat = predicateFormat
    }
}
