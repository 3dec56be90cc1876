// What has to be done to migrate a store from one model to another, as far as the models determine it.
//
//   1. Entities and properties are matched by names and renaming identifiers (`RenamingMatch`).
//   2. What differs becomes a list of changes, each with whether a store can follow it by itself, why not, and the cost.
//   3. For each entity of the new model it says where the objects and the columns come from; for each relationship that is kept
//      as pairs where these come from; for each constraint whether the old index serves.
//
// It knows no store: whether there are duplicates is for the store to find out.
//
// Invariants: the order of entities, properties and constraints in either model changes nothing in `changes`; a model has no
// change to itself.
// Threads: immutable, so any.

/// How one version of a model becomes another: every change, and whether a store can infer the migration.
///
/// ```swift
/// let plan = try ModelMigrationPlan(from: old, to: new)
/// for change in plan.changes { print(change) }
/// // Car.color: attribute removed
/// // LuxuryCar: renamed from ExpensiveSportCar
/// // Product(code): constraint added (if no duplicates: no two objects may have the same code)
/// if plan.inferability == .no { print(plan.conclusion) }
/// ```
///
/// Entities and properties of the two models match if they have the same name, or if the renaming identifier of the newer
/// one is the name or the renaming identifier of the older one.
///
/// Classes, value transformers, fetched properties, fetch request templates, configurations and free text do not affect
/// stores, and are not changes here.
public struct ModelMigrationPlan: Sendable {
    /// The old model's schema.
    package let oldSchema: Schema
    /// The new model's schema.
    package let newSchema: Schema
    /// What differs, by entities and properties in the order of their names.
    public let changes: [ModelChange]
    /// Where the objects of each entity of the new model come from, in the order of the new model.
    public let entities: [EntityMigration]
    /// The names of the old entities whose objects are deleted.
    public let droppedEntities: [String]
    /// Whether the version hashes of all entities are the same, so that a store needs no migration.
    ///
    /// The hashes do not cover renaming identifiers. So two properties that swap names and are otherwise alike keep their
    /// hashes: the model needs a hash modifier to make it another version.
    public let hasSameVersion: Bool
    /// By pairs of the new schema.
    package let pairs: [PairsMigration]
    /// For each constraint of the new schema, once, by the entity that declares it.
    package let constraints: [ConstraintMigration]
    /// By hierarchy of the new schema.
    package let hierarchies: [HierarchyMigration]
    /// By entity of the new schema: what its properties come from; nil if it is new.
    let matches: [MigrationPlanner.PropertyMatch?]

    /// Compares two models.
    ///
    /// - Throws: `ModelError` if one of them is invalid.
    /// - Complexity: O(size of both models), apart from the matching of names, which is quadratic in the entities and in the
    ///   properties of each.
    public init(from old: ManagedObjectModel, to new: ManagedObjectModel) throws(ModelError) {
        self.init(from: try Schema(old, isStored: true), to: try Schema(new))
    }

    /// Compares two schemas.
    public init(from old: Schema, to new: Schema) {
        var planner = MigrationPlanner(old, new)
        planner.plan()
        oldSchema = old
        newSchema = new
        // What comes from several places may be said several times.
        changes = Set(planner.changes).sorted(by: ModelChange.comesBefore)
        entities = planner.entities
        pairs = planner.pairs
        constraints = planner.constraints
        hierarchies = planner.hierarchies
        matches = planner.matches
        droppedEntities = old.entities.filter { planner.destinations[$0.index] == nil }.map(\.name)
            .sorted { $0.comesBefore($1) }
        hasSameVersion =
            old.model.entityVersionHashesByName == new.model.entityVersionHashesByName
    }

    /// The old model.
    public var source: ManagedObjectModel { oldSchema.model }

    /// The new model.
    public var destination: ManagedObjectModel { newSchema.model }

    /// Whether a store can infer the migration for all changes.
    public var inferability: Inferability { changes.map(\.inferability).max() ?? .yes }

    /// Whether it needs a mapping, and that which can be inferred is one: only numbers change their type.
    package var hasInferredMapping: Bool {
        inferability == .no
            && changes.allSatisfy { $0.inferability < .no || $0.convertsNumbers }
    }

    /// The highest cost of a change.
    public var cost: MigrationCost { changes.map(\.cost).max() ?? .nothing }

    /// Where the objects of an entity of the new model come from; nil if there is no such entity.
    public func entity(named name: String) -> EntityMigration? {
        newSchema.entity(named: name).map { entities[$0.index] }
    }

    /// A summary, on one line.
    ///
    /// ```text
    /// needs a mapping for Product.price and Product.url
    /// ```
    public var conclusion: String {
        let word = inferability
        // Several changes of one property stand together.
        var places: [String] = []
        for change in changes where change.inferability == word && places.last != change.place {
            places.append(change.place)
        }
        let list = Self.list(places)
        switch word {
        case .no: return "needs a mapping for \(list)"
        case .ifNoDuplicates: return "can be inferred if there are no duplicates of \(list)"
        case .ifNoneMissing: return "can be inferred if every object has \(list)"
        case .yes:
            if changes.isEmpty { return "no difference requires a migration" }
            if cost == .nothing { return "no difference affects stored data" }
            if hasSameVersion { return "can be inferred, and the version stays the same" }
            return "can be inferred: \(cost)"
        }
    }

    /// Names with commas and a word before the last; of very many the first ones.
    private static func list(_ names: [String]) -> String {
        guard names.count <= 8 else {
            return names.prefix(6).joined(separator: ", ") + " and \(names.count - 6) more"
        }
        guard let last = names.last, names.count > 1 else { return names.first ?? "" }
        return names.dropLast().joined(separator: ", ") + " and " + last
    }
}
