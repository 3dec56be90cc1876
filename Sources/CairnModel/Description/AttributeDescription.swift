// The description of one attribute of an entity.

/// Describes an attribute: its name, type, limits and its other settings in the model.
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
    /// The minimum value of a number or date.
    public var minimumValue: Value?
    /// The maximum value of a number or date.
    public var maximumValue: Value?
    /// The minimum number of characters of a string.
    public var minimumLength: Int?
    /// The maximum number of characters of a string.
    public var maximumLength: Int?
    /// A regular expression that the whole string must match. Matching time must be bounded by the lengths of both, so back
    /// references (`\1`) are not allowed.
    public var regularExpression: String?
    /// What else a value must hold; see ``setValidationPredicates(_:withValidationWarnings:)``.
    var validationRules: [ValidationRule] = []
    /// The expression that a derived attribute is computed from; nil for an ordinary attribute.
    public var derivationExpression: String?
    /// The elements of a composite attribute.
    public var elements: [AttributeDescription] = []
    /// The name of the model's composite that defines the elements; nil if only this attribute defines them.
    public var compositeName: String?
    /// The transformer of a transformable attribute.
    public var valueTransformerName: String?
    /// The class of the values of a transformable attribute.
    public var customClassName: String?
    /// Whether large values are stored outside the row.
    public var allowsExternalBinaryDataStorage = false
    /// Whether the history keeps the value when the object is deleted.
    public var preservesValueInHistoryOnDeletion = false
    /// Whether generated accessors use the scalar type.
    public var usesScalarValueType = false
    /// The attribute's name in an older or newer version of the model.
    public var renamingIdentifier: String?
    /// Changes the version hash even if nothing else has changed.
    public var versionHashModifier: String?
    /// Free text from the model's author.
    public var userInfo: [String: String] = [:]
    /// Other attributes of the element in the model file, kept so that they are not lost.
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
