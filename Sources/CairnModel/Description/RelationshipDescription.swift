// The description of one relationship of an entity.

/// What happens to the other side when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
    /// Nothing: the other side keeps its reference.
    case noAction
    /// The reference of the other side is set to nil. The default.
    case nullify
    /// The other side is deleted too.
    case cascade
    /// The deletion fails while the other side exists.
    case deny
}

/// Describes a relationship: its destination, its inverse, and how many objects it can contain.
public struct RelationshipDescription: Sendable, Hashable {
    /// The relationship's name, unique among the entity's properties.
    public var name: String
    /// The name of the destination entity.
    public var destinationEntityName: String
    /// The name of the inverse relationship, or nil.
    public var inverseName: String?
    /// Whether it is a to-many relationship.
    public var isToMany: Bool
    /// Whether a to-many relationship is ordered.
    public var isOrdered = false
    /// Whether it may be empty in a saved object.
    public var isOptional = true
    /// Whether it lives in memory only.
    public var isTransient = false
    /// The minimum number of objects; 0 = no limit.
    public var minimumCount = 0
    /// The maximum number of objects; 0 = no limit. 1 for a to-one relationship.
    public var maximumCount = 0
    /// What happens to the other side when an object is deleted.
    public var deleteRule: DeleteRule = .nullify
    /// The relationship's name in an older or newer version of the model.
    public var renamingIdentifier: String?
    /// Changes the version hash even if nothing else has changed.
    public var versionHashModifier: String?
    /// Free text from the model's author.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element in the model file, kept so that they are not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes a relationship.
    public init(
        _ name: String, to destination: String, toMany: Bool = false, inverse: String? = nil,
        deleteRule: DeleteRule = .nullify
    ) {
        self.name = name
        self.destinationEntityName = destination
        self.isToMany = toMany
        self.inverseName = inverse
        self.deleteRule = deleteRule
        self.maximumCount = toMany ? 0 : 1
    }
}
