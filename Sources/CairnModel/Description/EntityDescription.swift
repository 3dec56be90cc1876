// The description of one entity.

/// Describes an entity: its place in the hierarchy, its properties, constraints and indexes.
///
/// The properties here are the entity's own. `Schema` also has the inherited ones.
public struct EntityDescription: Sendable, Hashable {
    /// The entity's name, unique in the model.
    public var name: String
    /// The class of its objects; nil = the base class.
    public var managedObjectClassName: String?
    /// Whether it is abstract: it has no objects of its own.
    public var isAbstract = false
    /// The parent entity.
    public var superentityName: String?
    /// Its own attributes, in the order of the model.
    public var attributes: [AttributeDescription] = []
    /// Its own relationships, in the order of the model.
    public var relationships: [RelationshipDescription] = []
    /// Stored fetch requests that are read like a property.
    public var fetchedProperties: [FetchedPropertyDescription] = []
    /// Its own uniqueness constraints, each a list of attribute or to-one relationship names.
    public var uniquenessConstraints: [[String]] = []
    /// Its own uniqueness constraints with options: restricted to some of the objects, with nil as a value, or
    /// case-insensitive.
    ///
    /// Where order matters, for example when a batch insert looks for the object that a row refers to, they come after
    /// those of ``uniquenessConstraints``.
    public var uniquenessRules: [UniquenessRule] = []
    /// Its own fetch indexes.
    public var indexes: [FetchIndexDescription] = []
    /// The entity's name in an older or newer version of the model.
    public var renamingIdentifier: String?
    /// Changes the version hash even if nothing else has changed.
    public var versionHashModifier: String?
    /// Free text from the model's author.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element in the model file, kept so that they are not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes an entity.
    public init(
        _ name: String, attributes: [AttributeDescription] = [],
        relationships: [RelationshipDescription] = [], uniquenessConstraints: [[String]] = []
    ) {
        self.name = name
        self.attributes = attributes
        self.relationships = relationships
        self.uniquenessConstraints = uniquenessConstraints
    }
}

/// Describes a fetch index: a named list of elements.
public struct FetchIndexDescription: Sendable, Hashable {
    /// A property or expression of an index.
    public struct Element: Sendable, Hashable, Codable {
        /// The kind of index an element belongs to.
        public enum Kind: String, Sendable, Hashable, Codable {
            /// Ordered.
            case binary
            /// Spatial.
            case rTree
        }
        /// The indexed property, or nil if it is an expression.
        public var propertyName: String?
        /// The indexed expression, or nil if it is a property.
        public var expression: String?
        /// The type of the expression's result, as written in the model file.
        public var expressionType: String?
        /// The kind of index.
        public var kind: Kind = .binary
        /// Whether the order is ascending.
        public var isAscending = true

        /// An element over a property.
        public init(_ propertyName: String, ascending: Bool = true) {
            self.propertyName = propertyName
            self.isAscending = ascending
        }

        /// An element over an expression.
        public init(expression: String, type: String?) {
            self.expression = expression
            self.expressionType = type
        }
    }
    /// How the model declares the index.
    public enum Form: String, Sendable, Hashable, Codable {
        /// As a named fetch index.
        case fetchIndex
        /// With the old flag `indexed` of a single property.
        case indexed
        /// As an old compound index, whose elements can also be `self` and `entity`.
        case compoundIndex
    }
    /// The index's name.
    public var name: String
    /// How the model declares the index.
    public var form = Form.fetchIndex
    /// The indexed properties and expressions.
    public var elements: [Element]
    /// Limits the index to the objects that match.
    public var partialIndexPredicate: String?
    /// Free text from the model's author.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element in the model file, kept so that they are not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes an index.
    public init(_ name: String, elements: [Element]) {
        self.name = name
        self.elements = elements
    }
}

/// Describes a fetched property: a stored request that is read like a property.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The property's name.
    public var name: String
    /// Whether it can be empty.
    public var isOptional = true
    /// The entity to fetch.
    public var entityName: String
    /// The predicate, with `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
    public var predicateFormat: String?
    /// The sort order. The files of Core Data's models have none.
    public var sortDescriptors: [SortKey] = []
    /// Free text from the model's author.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element in the model file, kept so that they are not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a fetched property.
    public init(_ name: String, entityName: String, predicateFormat: String?) {
        self.name = name
        self.entityName = entityName
        self.predicateFormat = predicateFormat
    }
}
