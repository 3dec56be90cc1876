// The description of one entity.

/// Describes an entity: its place in the hierarchy, its properties, constraints and indexes.
///
/// The properties here are the entity's own. What it inherits is seen through `Schema`.
public struct EntityDescription: Sendable, Hashable {
    /// The entity's name, unique in the model.
    public var name: String
    /// The class of its objects; nil = the base class.
    public var managedObjectClassName: String?
    /// Whether it has no objects of its own.
    public var isAbstract = false
    /// The entity it inherits from.
    public var superentityName: String?
    /// Its own attributes, in the order of the model.
    public var attributes: [AttributeDescription] = []
    /// Its own relationships, in the order of the model.
    public var relationships: [RelationshipDescription] = []
    /// Stored fetch requests that read like a property.
    public var fetchedProperties: [FetchedPropertyDescription] = []
    /// Its own uniqueness constraints, each a list of attribute or to-one relationship names.
    public var uniquenessConstraints: [[String]] = []
    /// Its own uniqueness constraints with options: over some of the objects, with nil as a value, without regard to case.
    ///
    /// Where an order counts, as for what tells a row of a batch insert which object it is, they come behind those of
    /// ``uniquenessConstraints``.
    public var uniquenessRules: [UniquenessRule] = []
    /// Its own fetch indexes.
    public var indexes: [FetchIndexDescription] = []
    /// The name under which an older or newer version of the model knows the entity.
    public var renamingIdentifier: String?
    /// Makes the version hash differ although nothing else does.
    public var versionHashModifier: String?
    /// Free text of the model's author.
    public var userInfo: [String: String] = [:]
    /// What the model file says beyond all this, kept so that it is not lost.
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
    /// One property or expression of an index.
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
        /// The type of the expression's result, as the model file says it.
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
    /// How the model says it.
    public enum Form: String, Sendable, Hashable, Codable {
        /// As a named fetch index.
        case fetchIndex
        /// As the old mark `indexed` of a single property.
        case indexed
        /// As an old compound index, whose elements may also be `self` and `entity`.
        case compoundIndex
    }
    /// The index's name.
    public var name: String
    /// How the model says it.
    public var form = Form.fetchIndex
    /// What it is built over.
    public var elements: [Element]
    /// Limits the index to the objects that match.
    public var partialIndexPredicate: String?
    /// Free text of the model's author.
    public var userInfo: [String: String] = [:]
    /// What the model file says beyond all this, kept so that it is not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes an index.
    public init(_ name: String, elements: [Element]) {
        self.name = name
        self.elements = elements
    }
}

/// Describes a fetched property: a stored request that reads like a property.
public struct FetchedPropertyDescription: Sendable, Hashable {
    /// The property's name.
    public var name: String
    /// Whether it may be empty.
    public var isOptional = true
    /// The entity that is fetched.
    public var entityName: String
    /// The predicate, with `$FETCH_SOURCE` and `$FETCHED_PROPERTY`.
    public var predicateFormat: String?
    /// The order of what is fetched. Files of Core Data's models have none.
    public var sortDescriptors: [SortKey] = []
    /// Free text of the model's author.
    public var userInfo: [String: String] = [:]
    /// What the model file says beyond all this, kept so that it is not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a fetched property.
    public init(_ name: String, entityName: String, predicateFormat: String?) {
        self.name = name
        self.entityName = entityName
        self.predicateFormat = predicateFormat
    }
}
