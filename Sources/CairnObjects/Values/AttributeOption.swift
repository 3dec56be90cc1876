// What `@Attribute` can say in one word.

/// A mark of an attribute, for `@Attribute`.
///
/// ```swift
/// @Attribute(.unique, originalName: "code") var serialCode: String
/// @Attribute(.externalStorage) var picture: Data?
/// ```
public struct AttributeOption: Sendable, Hashable {
    private let name: String

    /// No two objects have the same value: the same as a `#Unique` of this property alone.
    public static let unique = AttributeOption(name: "unique")
    /// Large values are kept apart from the row.
    public static let externalStorage = AttributeOption(name: "externalStorage")
    /// The history keeps the value when the object is deleted.
    public static let preserveValueOnDeletion = AttributeOption(name: "preserveValueOnDeletion")
    /// The values are stored as JSON although their type could be stored otherwise: as a raw value, or part by part.
    public static let codable = AttributeOption(name: "codable")
    /// A transformer stores the values, which can be of any type: see ``AttributeTransformer``.
    public static func transformable(by transformer: any AttributeTransformer.Type)
        -> AttributeOption
    {
        AttributeOption(name: "transformable")
    }
    /// The value lives in memory only, but setting it counts as a change of the object.
    public static let ephemeral = AttributeOption(name: "ephemeral")
}
