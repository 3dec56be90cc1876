// What becomes of each object when a store of one model becomes a store of another: for changes that cannot be inferred.
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

/// How a store of one model becomes a store of another: an entity mapping for each entity whose objects are migrated, made
/// or dropped.
///
/// Mostly it begins with what can be inferred, and only the rest is said in code:
///
/// ```swift
/// var mapping = try MappingModel(drafting: ModelMigrationPlan(from: old, to: new))
/// mapping["PersonToPerson"]?["fullName"]?.valueExpression =
///     try ExpressionNode(format: "$source.firstName")
/// mapping["AddMaker"] = nil
/// mapping.entityMappings.append(EntityMapping("CarToMaker", from: "Car", to: "Maker"))
/// ```
///
/// Objects of an entity that no mapping is from are dropped.
public struct MappingModel: Sendable {
    /// The mappings, in the order in which they are carried out.
    public var entityMappings: [EntityMapping]

    /// A mapping model of entity mappings.
    public init(entityMappings: [EntityMapping] = []) { self.entityMappings = entityMappings }

    /// The mappings by their names; of several with one name the first.
    public var entityMappingsByName: [String: EntityMapping] {
        Dictionary(entityMappings.map { ($0.name, $0) }) { first, _ in first }
    }

    /// The mapping of a name. Setting it puts another in its place, or at the end if there is none of the name; nil takes it
    /// away.
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
