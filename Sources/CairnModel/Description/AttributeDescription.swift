// The description of one attribute of an entity.

/// Describes an attribute: its name, type, limits and what else the model says of it.
public struct AttributeDescription: Sendable, Hashable {
    /// The attribute's name, unique among the entity's properties.
    public var name: String
    /// The type of its values.
    public var type: AttributeType
    /// Whether nil is allowed in a saved object.
    public var isOptional: Bool
    /// Whether the value lives in memory only.
    public var isTransient = false
    /// The value of a new object, or `.null`.
    public var defaultValue: Value = .null
    /// The least value of a number or date.
    public var minimumValue: Value?
    /// The greatest value of a number or date.
    public var maximumValue: Value?
    /// The least number of characters of a string.
    public var minimumLength: Int?
    /// The greatest number of characters of a string.
    public var maximumLength: Int?
    /// A regular expression that the whole string must match: one that can be answered in a time bounded by the lengths of both, so
    /// without references to groups (`\1`).
    public var regularExpression: String?
    /// What else a value must hold; see ``setValidationPredicates(_:withValidationWarnings:)``.
    var validationRules: [ValidationRule] = []
    /// The expression that a derived attribute is computed from; nil for an ordinary attribute.
    public var derivationExpression: String?
    /// The elements of a composite attribute.
    public var elements: [AttributeDescription] = []
    /// The name of the model's composite that the elements come from; nil if they stand here only.
    public var compositeName: String?
    /// The transformer of a transformable attribute.
    public var valueTransformerName: String?
    /// The class of a transformable attribute's values.
    public var customClassName: String?
    /// Whether large values are kept apart from the row.
    public var allowsExternalBinaryDataStorage = false
    /// Whether the history keeps the value when the object is deleted.
    public var preservesValueInHistoryOnDeletion = false
    /// Whether generated accessors use the scalar type.
    public var usesScalarValueType = false
    /// The name under which an older or newer version of the model knows the attribute.
    public var renamingIdentifier: String?
    /// Makes the version hash differ although nothing else does.
    public var versionHashModifier: String?
    /// Free text of the model's author.
    public var userInfo: [String: String] = [:]
    /// What the model file says beyond all this, kept so that it is not lost.
    public var otherMarks: [String: String] = [:]

    /// Describes an attribute.
    public init(
        _ name: String, _ type: AttributeType, optional: Bool = true, default: Value = .null
    ) {
        self.name = name
        self.type = type
        self.isOptional = optional
        self.defaultValue = `default`
    }
}
