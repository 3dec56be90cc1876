// Compares two schemas and determines where everything in the new one comes from.
//
// What is declared is compared once, where it is declared; but what it comes from may differ from one entity that inherits it to
// the next: an attribute that moves up comes from each of those that had it. So properties are matched for each entity of the
// new model that has a source, inherited ones among them, and a declaration is judged by its *bearers*: the entities of its
// family that have a source, since only they have objects.
//
// Threads: one planner in one thread.

struct MigrationPlanner {
    let old: Schema
    let new: Schema
    /// The old entity for each new entity.
    let sources: [Int?]
    /// By old entity: the new one.
    let destinations: [Int?]
    /// By new entity with a source: what its properties come from.
    let matches: [PropertyMatch?]
    /// New entities that claim to be an old one which another new one is.
    let rivals: [Int: Int]
    var changes: [ModelChange] = []
    var entities: [EntityMigration] = []
    var pairs: [PairsMigration] = []
    var constraints: [ConstraintMigration] = []
    var hierarchies: [HierarchyMigration] = []

    /// By property of a new entity, inherited ones too: that of the old entity.
    struct PropertyMatch {
        let attributes: [Int?]
        let relationships: [Int?]
        /// New properties that claim to be an old one which another new one is, by index.
        let rivalAttributes: [Int: Int]
        let rivalRelationships: [Int: Int]
    }

    /// A property by where it is declared: the same for all that inherit it.
    struct Declared: Hashable {
        let entity: Int
        let name: String
    }

    init(_ old: Schema, _ new: Schema) {
        self.old = old
        self.new = new
        let match = RenamingMatch(
            old.entities.map { .init($0.name, $0.description.renamingIdentifier) },
            new.entities.map { .init($0.name, $0.description.renamingIdentifier) })
        sources = match.sources
        rivals = match.rivals
        var destinations = [Int?](repeating: nil, count: old.entities.count)
        for (entity, source) in match.sources.enumerated() {
            if let source { destinations[source] = entity }
        }
        self.destinations = destinations
        matches = match.sources.enumerated().map { entity, source in
            source.map { Self.match(old.entities[$0], new.entities[entity]) }
        }
    }

    private static func match(_ old: SchemaEntity, _ new: SchemaEntity) -> PropertyMatch {
        func named(_ attributes: [SchemaAttribute]) -> [RenamingMatch.Named] {
            attributes.map { .init($0.description.name, $0.description.renamingIdentifier) }
        }
        func named(_ relationships: [SchemaRelationship]) -> [RenamingMatch.Named] {
            relationships.map { .init($0.description.name, $0.description.renamingIdentifier) }
        }
        let attributes = RenamingMatch(named(old.attributes), named(new.attributes))
        let relationships = RenamingMatch(named(old.relationships), named(new.relationships))
        return PropertyMatch(
            attributes: attributes.sources, relationships: relationships.sources,
            rivalAttributes: attributes.rivals, rivalRelationships: relationships.rivals)
    }

    mutating func plan() {
        planHierarchies()
        planColumns()
        planPairs()
        compareEntities()
        compareAttributes()
        compareRelationships()
        compareConstraints()
        compareIndexes()
    }

    // MARK: Who has what

    /// The entities of a new entity's family that have objects from before, with their old entities, by name. Abstract ones too.
    func bearers(of entity: Int) -> [(new: Int, old: Int)] {
        new.entities[entity].family
            .compactMap { index in sources[index].map { (index, $0) } }
            .sorted { new.entities[$0.0].name.comesBefore(new.entities[$1.0].name) }
    }

    /// The entities of an old entity's family that go on, with their new entities, by name.
    func survivors(of entity: Int) -> [(old: Int, new: Int)] {
        old.entities[entity].family
            .compactMap { index in destinations[index].map { (index, $0) } }
            .sorted { old.entities[$0.0].name.comesBefore(old.entities[$1.0].name) }
    }

    /// What an old entity is called today: what is said of it is said where one looks for it.
    func todaysName(of entity: Int) -> String {
        destinations[entity].map { new.entities[$0].name } ?? old.entities[entity].name
    }

    /// Their names, with commas.
    static func names(_ entities: [SchemaEntity]) -> String {
        entities.map(\.name).sorted { $0.comesBefore($1) }.joined(separator: ", ")
    }

    /// Notes a change of an entity of the new model itself.
    mutating func note(
        _ subject: ModelChange.Subject, _ action: ModelChange.Action, _ entity: Int,
        _ verdict: ModelChange.Verdict
    ) {
        changes.append(ModelChange(subject, action, new.entities[entity].name, nil, verdict))
    }

    /// Notes a change of something that an entity of the new model has.
    mutating func note(
        _ subject: ModelChange.Subject, _ action: ModelChange.Action, _ entity: Int,
        _ property: String, _ verdict: ModelChange.Verdict
    ) {
        changes.append(
            ModelChange(subject, action, new.entities[entity].name, property, verdict))
    }
}
