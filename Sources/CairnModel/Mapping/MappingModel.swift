// How each object is migrated from one model to another: for changes that cannot be inferred.
//
//   MappingModel      one entity mapping beside the other, in the order in which they are carried out
//   EntityMapping     objects of one entity become objects of another, are dropped, or are made from nothing
//   PropertyMapping   where the value of one property comes from
//   MappingTerms      the variables and functions of value expressions
//   Drafting          what can be said without asking anybody, made from a plan
//   Checking          whether a mapping fits both models
//
// It knows neither stores nor objects: whoever carries it out is in the object layer, and so is code that takes part, which is
// only passed through here (`MappingCode`).
//
// Threads: values.

/// How a store is migrated from one model to another: an entity mapping for each entity whose objects are migrated, created
/// or deleted.
///
/// Usually most of it is inferred, and code only adds the rest:
///
/// ```swift
/// var mapping = try MappingModel(drafting: ModelMigrationPlan(from: old, to: new))
/// mapping["PersonToPerson"]?["fullName"]?.valueExpression =
///     try ExpressionNode(format: "$source.firstName")
/// mapping["AddMaker"] = nil
/// mapping.entityMappings.append(EntityMapping("CarToMaker", from: "Car", to: "Maker"))
/// ```
///
/// Objects of a source entity without a mapping are deleted.
public struct MappingModel: Sendable {
    /// The mappings, in the order in which they run.
    public var entityMappings: [EntityMapping]

    /// Creates a mapping model with entity mappings.
    public init(entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

    /// The mappings by name; if several have the same name, the first.
    public var entityMappingsByName: [String: EntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The mapping with a name. Setting it replaces that mapping, or appends one if there is none; setting nil removes it.
    public subscript(_ name: String) -> EntityMapping? {
        get { entityMappings.first { $0.name == name } }
        set {
            let place = entityMappings.firstIndex { $0.name == name }
            switch (place, newValue) {
            case (let place?, let mapping?): entityMappings[place] = mapping
            case (let place?, nil): entityMappings.remove(at: place)
            case (nil, let mapping?): entityMappings.append(mapping)
            case (nil, nil): break
            }
        }
    }
}
