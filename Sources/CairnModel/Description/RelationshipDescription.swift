// The description of one relationship of an entity.

/// What happens to the other side when an object is deleted.
public enum DeleteRule: String, Sendable, Hashable, CaseIterable, Codable {
    /// Nothing: the other side keeps pointing.
    case noAction
    /// The other side is cleared. The default.
    case nullify
    /// The other side is deleted too.
    case cascade
    /// The deletion is refused while the other side exists.
    case deny
}

/// Describes a relationship: where it leads, back from where, and how many objects it may hold.
public struct RelationshipDescription: Sendable, Hashable {
    /// The relationship's name, unique among the entity's properties.
    public var name: String
    /// The name of the entity it leads to.
    public var destinationEntityName: String
    /// The name of the relationship that leads back, or nil.
    public var inverseName: String?
    /// Whether it holds many objects.
    public var isToMany: Bool
    /// Whether the order of a to-many relationship counts.
    public var isOrdered = false
    /// Whether it may be empty in a saved object.
    public var isOptional = true
    /// Whether it lives in memory only.
    public var isTransient = false
    /// The least number of objects; 0 = no limit.
    public var minimumCount = 0
    /// The greatest number of objects; 0 = no limit. 1 for a to-one relationship.
    public var maximumCount = 0
    /// What happens to the other side when an object is deleted.
    public var deleteRule: DeleteRule = .nullify
    /// The name under which an older or newer version of the model knows the relationship.
    public var renamingIdentifier: String?
    /// Makes the version hash differ although nothing else does.
    public var versionHashModifier: String?
    /// Free text of the model's author.
    public var userInfo: [String: String] = [:]
    /// What the model file says beyond all this, kept so that it is not lost.
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
