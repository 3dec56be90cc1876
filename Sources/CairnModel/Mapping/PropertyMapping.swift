// Where the value of one property comes from when an object is migrated.
//
// Threads: values.

/// Where the value of one property of a new object comes from.
///
/// ```swift
/// PropertyMapping("name", copying: "title")
/// PropertyMapping("price", try ExpressionNode(format: "$source.price * 100"))
/// PropertyMapping("tags", relationship: "labels")
/// ```
///
/// A value expression knows the variables `$source` and `$destination`, the two objects; paths can begin at either. `$manager`,
/// `$entityMapping`, `$propertyMapping` and `$entityPolicy` are for calls of functions:
///
/// - `FUNCTION($manager, 'destinationInstances', $source.tags)`: the new objects that became of old ones. With the name of an
///   entity mapping before them only those that this one has made. Core Data's names,
///   `destinationInstancesForEntityMappingNamed:sourceInstances:` and
///   `destinationInstancesForSourceRelationshipNamed:sourceInstances:`, are understood.
/// - `FUNCTION($entityPolicy, 'fullName', $source.firstName, $source.lastName)`: what a function of the mapping's policy gives.
public struct PropertyMapping: Sendable {
    /// The property in the new model; the dotted name of a part of a composite attribute.
    public var name: String
    /// What gives the value; nil: nothing is set, and the default of the attribute stays.
    public var valueExpression: ExpressionNode?
    /// Free text for the code that carries it out.
    public var userInfo: [String: String] = [:]
    /// Code that gives the value, in the place of the expression.
    package var valueCode: (any MappingCode)?

    /// A property with what gives its value.
    public init(_ name: String, _ valueExpression: ExpressionNode? = nil) {
        self.name = name
        self.valueExpression = valueExpression
    }

    /// An attribute that has the value of one of the old object.
    ///
    /// - Parameter source: the attribute in the old model, or a path to one across to-one relationships.
    public init(_ name: String, copying source: String) {
        self.init(name, .path(source, of: .variable(MappingTerms.source)))
    }

    /// A relationship that leads to the new objects which became of those that one of the old object led to.
    ///
    /// - Parameters:
    ///   - source: the relationship in the old model, or a path to one.
    ///   - mapping: the entity mapping whose new objects are meant; nil: those of any.
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
