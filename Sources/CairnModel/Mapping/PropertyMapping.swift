// Where the value of one property comes from when an object is migrated.
//
// Threads: values.

/// The source of the value of one property of a new object.
///
/// ```swift
/// PropertyMapping("name", copying: "title")
/// PropertyMapping("price", try ExpressionNode(format: "$source.price * 100"))
/// PropertyMapping("tags", relationship: "labels")
/// ```
///
/// A value expression can use the variables `$source` and `$destination`, the two objects; key paths can begin at either.
/// `$manager`, `$entityMapping`, `$propertyMapping` and `$entityPolicy` are for function calls:
///
/// - `FUNCTION($manager, 'destinationInstances', $source.tags)`: the new objects for old ones. With the name of an entity
///   mapping as an additional argument before them, only those which that mapping created. Core Data's names,
///   `destinationInstancesForEntityMappingNamed:sourceInstances:` and
///   `destinationInstancesForSourceRelationshipNamed:sourceInstances:`, work too.
/// - `FUNCTION($entityPolicy, 'fullName', $source.firstName, $source.lastName)`: the result of a function of the mapping's
///   policy.
public struct PropertyMapping: Sendable {
    /// The property in the new model; for an element of a composite attribute, its dotted name.
    public var name: String
    /// The expression for the value; nil: the value is not set, and an attribute keeps its default.
    public var valueExpression: ExpressionNode?
    /// Free text for the migration policy.
    public var userInfo: [String: String] = [:]
    /// Code that gives the value, in the place of the expression.
    package var valueCode: (any MappingCode)?

    /// Creates a mapping of a property with its value expression.
    public init(_ name: String, _ valueExpression: ExpressionNode? = nil) {
        self.name = name
        self.valueExpression = valueExpression
    }

    /// Copies the value of an attribute of the old object.
    ///
    /// - Parameter source: the attribute in the old model, or a path to one across to-one relationships.
    public init(_ name: String, copying source: String) {
        self.init(name, .path(source, of: .variable(MappingTerms.source)))
    }

    /// Sets a relationship to the new objects for the old members of a relationship of the old object.
    ///
    /// - Parameters:
    ///   - source: the relationship in the old model, or a key path to one.
    ///   - mapping: the entity mapping that created the new objects; nil: any.
    public init(_ name: String, relationship source: String, through mapping: String? = nil) {
        let members = ExpressionNode.path(source, of: .variable(MappingTerms.source))
        let arguments = (mapping.map { [ExpressionNode.constant(.string($0))] } ?? []) + [members]
        self.init(
            name,
            .call(
                of: .variable(MappingTerms.manager), selector: MappingTerms.destinationInstances,
                arguments))
    }
}
