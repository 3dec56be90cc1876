// A model that has been checked and resolved: what stores and object layers work with.
//
// A schema numbers what the model names. Entities have an index; every entity lists all its columns,
// attributes, relationships and constraints, inherited ones first, so that a column of a parent has the
// same index in all its descendants.
//
// Columns are what a row stores: one for each attribute that is not transient (a composite attribute
// has one for each leaf, named by the dotted path) and one for each to-one relationship. To-many
// relationships are stored on the other side, if that is to-one, and as pairs otherwise.
//
// Invariants: a schema never changes; indexes are dense from 0; `columns` of a child begins with the
// columns of its parent, in the same order, and so do attributes, relationships and constraints.
// Threads: immutable, so any.

/// A checked and resolved model.
public final class Schema: Sendable {
    /// The model from which it was created.
    public let model: ManagedObjectModel
    /// All entities, including abstract ones, in the order of the model.
    public let entities: [SchemaEntity]
    /// The relationships that are stored as pairs.
    public let pairs: [SchemaPairs]
    /// The derived attributes.
    package let derivations: SchemaDerivations
    /// By entity: the columns of references beside which the order of a list is kept.
    package let orderedReferences: [[Int]]
    /// Whether any relationship is ordered.
    package let hasOrder: Bool
    private let indexes: [String: Int]

    /// A schema of what was checked and resolved already.
    init(
        _ model: ManagedObjectModel, entities: [SchemaEntity], pairs: [SchemaPairs],
        derivations: SchemaDerivations
    ) {
        self.derivations = derivations
        orderedReferences = Self.orderedReferences(entities)
        hasOrder = entities.contains { $0.relationships.contains(where: \.keepsOrder) }
        self.model = model
        self.entities = entities
        self.pairs = pairs
        self.indexes = Dictionary(uniqueKeysWithValues: entities.map { ($0.name, $0.index) })
    }

    /// The entity with that name, or nil.
    public func entity(named name: String) -> SchemaEntity? {
        indexes[name].map { entities[$0] }
    }
}

/// An entity with all its own and inherited properties.
public final class SchemaEntity: Sendable {
    /// Its index in `Schema.entities`.
    public let index: Int
    /// Its name.
    public let name: String
    /// The parent entity.
    public let parent: Int?
    /// The root entity of its hierarchy; itself if it has no parent.
    public let root: Int
    /// The entity itself, followed by all its descendants.
    public let family: [Int]
    /// Whether it is abstract: it has no objects of its own.
    public let isAbstract: Bool
    /// All attributes, inherited ones first.
    public let attributes: [SchemaAttribute]
    /// All relationships, inherited ones first.
    public let relationships: [SchemaRelationship]
    /// All stored columns, inherited ones first.
    public let columns: [SchemaColumn]
    /// All uniqueness constraints on its objects, inherited ones first. Of those that one entity declares, constraints with
    /// options come last.
    public let constraints: [SchemaConstraint]
    /// The description in the model.
    public let description: EntityDescription
    /// A number that two entities share only if they have the same name and the same columns with the same
    /// types in the same order, also if they are of different schemas.
    ///
    /// It keeps a typed column of one entity from being used with rows of another, where it would write past
    /// the end.
    package let layout: UInt64
    /// What the declared merge policy does about its objects.
    package let mergeRules: EntityMergeRules
    /// What stands for the entity in a layer above, with names of its own. It is set before anybody else has the schema.
    package nonisolated(unsafe) weak var facade: AnyObject?
    private let columnIndexes: [String: Int]
    private let attributeIndexes: [String: Int]
    private let relationshipIndexes: [String: Int]

    init(
        index: Int, parent: Int?, root: Int, family: [Int], description: EntityDescription,
        attributes: [SchemaAttribute], relationships: [SchemaRelationship], columns: [SchemaColumn],
        constraints: [SchemaConstraint], mergeRule: MergeRule? = nil
    ) {
        self.index = index
        self.name = description.name
        self.parent = parent
        self.root = root
        self.family = family
        self.isAbstract = description.isAbstract
        self.description = description
        self.attributes = attributes
        self.relationships = relationships
        self.columns = columns
        self.constraints = constraints
        layout = Self.layout(description.name, columns)
        mergeRules = EntityMergeRules(attributes, relationships, columns, standard: mergeRule)
        columnIndexes = Dictionary(
            uniqueKeysWithValues: columns.enumerated().map { ($1.name, $0) })
        attributeIndexes = Dictionary(
            uniqueKeysWithValues: attributes.enumerated().map { ($1.description.name, $0) })
        relationshipIndexes = Dictionary(
            uniqueKeysWithValues: relationships.enumerated().map { ($1.description.name, $0) })
    }

    /// FNV-1a over names and types.
    private static func layout(_ name: String, _ columns: [SchemaColumn]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        func add(_ text: String) {
            for byte in text.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = (hash ^ 0xFF) &* 0x100_0000_01B3
        }
        add(name)
        for column in columns {
            add(column.name)
            switch column.kind {
            case .attribute(let type): add(type.rawValue)
            case .reference: add("")
            }
        }
        return hash
    }

    /// The constraints without options: those that name an object by its values alone.
    package var plainConstraints: [SchemaConstraint] { constraints.filter { $0.options == nil } }

    /// The index of the column with that name (dotted for a leaf of a composite attribute), or nil.
    public func columnIndex(named name: String) -> Int? { columnIndexes[name] }

    /// The index of the attribute with that name, or nil.
    public func attributeIndex(named name: String) -> Int? { attributeIndexes[name] }

    /// The index of the relationship with that name, or nil.
    public func relationshipIndex(named name: String) -> Int? { relationshipIndexes[name] }

    /// Whether this is `other` or inherits from it.
    public func isKind(of other: SchemaEntity) -> Bool { other.family.contains(index) }
}

/// An attribute of an entity.
public struct SchemaAttribute: Sendable {
    /// The description in the model.
    public let description: AttributeDescription
    /// The entity that declares it.
    public let declaringEntity: Int
    /// Its columns: none if it is transient, several if it is composite, otherwise one.
    public let columns: Range<Int>
    /// The attribute's regular expression, compiled once.
    let pattern: StringPattern?
}

/// What a row stores of one attribute, leaf of a composite attribute, or to-one relationship.
public struct SchemaColumn: Sendable {
    /// What a column contains.
    public enum Kind: Sendable, Hashable {
        /// Values of an attribute of that type.
        case attribute(AttributeType)
        /// Targets of a to-one relationship: objects of the hierarchy with that root entity.
        case reference(root: Int)
    }
    /// The property's name; dotted for a leaf of a composite attribute.
    public let name: String
    /// What it contains.
    public let kind: Kind
    /// The attribute's description (the leaf's, for a composite one); nil for a relationship.
    public let attribute: AttributeDescription?
    /// The relationship's index in the entity; nil for an attribute.
    public let relationship: Int?
    /// The entity that declares it.
    public let declaringEntity: Int
    /// Whether nil can be saved.
    public let isOptional: Bool
    /// The value of a new object.
    public let defaultValue: Value
    /// The attribute's regular expression, compiled once.
    let pattern: StringPattern?
}

extension SchemaColumn {
    /// A column without a regular expression.
    init(
        name: String, kind: Kind, attribute: AttributeDescription?, relationship: Int?,
        declaringEntity: Int, isOptional: Bool, defaultValue: Value
    ) {
        self.init(
            name: name, kind: kind, attribute: attribute, relationship: relationship,
            declaringEntity: declaringEntity, isOptional: isOptional, defaultValue: defaultValue,
            pattern: nil)
    }
}

/// A relationship of an entity.
public struct SchemaRelationship: Sendable {
    /// Where the members are stored.
    public enum Storage: Sendable, Hashable {
        /// In a column of the entity itself.
        case column(Int)
        /// In a column of the destination: the inverse is to-one.
        case inverseColumn(entity: Int, column: Int)
        /// As pairs, with this side as their source or as their destination.
        case pairs(Int, isSource: Bool)
        /// Nowhere: the relationship is transient.
        case transient
    }
    /// The description in the model.
    public let description: RelationshipDescription
    /// The entity that declares it.
    public let declaringEntity: Int
    /// The destination entity.
    public let destination: Int
    /// The index of the inverse among the destination's relationships.
    public let inverse: Int?
    /// Where the members are stored.
    public let storage: Storage
}

/// A uniqueness constraint.
public struct SchemaConstraint: Sendable, Hashable {
    /// The entity that declares it. It applies to that entity and all its descendants.
    public let declaringEntity: Int
    /// Its columns, in the order of the model.
    public let columns: [Int]
    /// The names of its columns.
    public let names: [String]
    /// What it says beyond that; nil if nothing.
    package let rule: KeyRule?

    /// Its options: which objects it covers, whether nil is a value, and whether case matters; nil if it has none.
    public var options: UniquenessRule? { rule?.rule }

    /// What is compared of a row's values, by column of the entity; nil if the row takes no part.
    package func key(of values: [Value]) -> [Value]? {
        if let rule { return rule.key(of: values, columns) }
        let key = columns.map { values[$0] }
        return key.contains { $0.isNull || $0.isNoNumber } ? nil : key
    }
}

/// A relationship that neither side can store in a column: many-to-many, or to-many without inverse.
public struct SchemaPairs: Sendable {
    /// `Entity.relationship` of the source side.
    public let name: String
    /// The entity that declares the source side.
    public let source: Int
    /// The relationship's index in the source.
    public let sourceRelationship: Int
    /// The destination entity.
    public let destination: Int
    /// The inverse's index in the destination; nil if there is no inverse. Equal to the source side for a relationship that
    /// is its own inverse.
    public let destinationRelationship: Int?
    /// The pairs as rows: a hidden entity with the columns `source` and `destination`.
    package let entity: SchemaEntity

    /// Whether the relationship is its own inverse, so that a pair has no direction.
    package func isSymmetric(_ entities: [SchemaEntity]) -> Bool {
        guard let inverse = destinationRelationship else { return false }
        let one = entities[source].relationships[sourceRelationship]
        let other = entities[destination].relationships[inverse]
        return one.declaringEntity == other.declaringEntity
            && one.description.name == other.description.name
    }
}
