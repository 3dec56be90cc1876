// Carries a mapping model out: brings the objects of a store over into a store of another model.
//
//   1. Instances    mapping by mapping: what the policy does first, then new objects for old ones, some at a time
//   2. Relationships  mapping by mapping, when all new objects are there
//   3. Validation   what policies ask, then what the new model asks, of all objects
//   4. The end      the store takes what was made, in one step
//
// Old objects are read some hundred at a time, in the order of their numbers; new ones are saved when there are some more, before
// they are whole (see `MigrationPart`), and nobody holds them then but the program. What stays in memory are the associations,
// as numbers.
//
//   MappingRun, PropertyPlan      what is to be done, looked up once
//   InstanceAssociations          what became of what
//   +Passes                       the passes
//   +Values                       values of properties
//
// Invariants: nothing is written to the old store; whatever is thrown, it is as it was.
// Threads: one; a `MappingProgress` is for others.

public import CairnModel
public import CairnStore

/// Migrates a store's objects to a store with another model, using a mapping model.
///
/// ```swift
/// let migration = try store.beginMigration(to: newModel)
/// let manager = try MigrationManager(migration, mapping: mapping)
/// try manager.migrate()
/// ```
///
/// Policies receive the manager in each of their steps. Both contexts have plain objects, whatever classes the models
/// name.
public final class MigrationManager {
    /// The mapping model of the migration.
    public let mappingModel: MappingModel
    /// Reads the old store. You can change its objects: deleted objects are not migrated, and changed values are
    /// migrated. Nothing is ever written; a save succeeds and does nothing.
    public let sourceContext: ManagedObjectContext
    /// Creates the new store. It is saved from time to time during the migration, without validation. References to
    /// objects stay valid.
    public let destinationContext: ManagedObjectContext
    /// The progress of the migration. It can be read, and cancelled, from any thread.
    public let progress: MappingProgress
    /// Whoever has it do the work for a layer above, whose policies see that instead.
    package weak var facade: AnyObject?
    /// Values that policies share with one another.
    public var userInfo: [AnyHashable: Any] = [:]

    let migration: any MappedMigration
    let runs: [MappingRun]
    private let runsByName: [String: MappingRun]
    /// Whose turn it is.
    var current: MappingRun?
    /// Which old object the new one comes from whose relationships are being set.
    var connecting: (destination: ManagedObject, source: ManagedObject)?
    /// What a function has thrown in the middle of an expression.
    var callError: (any Error)?
    /// Associations of new objects that have no number yet.
    private var pending: [Pending] = []
    private var pendingBySource: [PendingSource: [Int]] = [:]
    private var pendingByDestination: [ObjectIdentifier: [Int]] = [:]
    private var cancellation: (any Error)?
    private var isCancelled = false
    private var isStarted = false

    /// How many old objects are read at once.
    static let batch = 512
    /// How many new or changed objects there are in the destination before they are saved.
    static let changesPerSave = 1024

    private struct Pending {
        let run: MappingRun
        let source: UInt32
        let destination: ManagedObject
    }

    private struct PendingSource: Hashable {
        let run: ObjectIdentifier
        let source: UInt32
    }

    /// Prepares a migration. If that fails, the migration is cancelled.
    ///
    /// - Parameters:
    ///   - migration: a migration started by a store.
    ///   - mapping: the mapping model.
    ///   - policies: the policy classes that mappings refer to by name, with or without the module.
    ///   - progress: reports progress.
    /// - Throws: `StoreError`: `.missingMappingModel` if the mapping does not fit both models, with the mapping and property, and a
    ///   `ModelError` as its cause.
    public convenience init(
        _ migration: any MappedMigration, mapping: MappingModel,
        policies: [String: EntityMigrationPolicy.Type] = [:],
        progress: MappingProgress = MappingProgress()
    ) throws(StoreError) {
        try self.init(
            migration, mapping: mapping, policies: policies, progress: progress,
            plainClass: ManagedObject.self)
    }

    /// The same for a layer above.
    ///
    /// - Parameter plainClass: the class of the objects of both contexts.
    package init(
        _ migration: any MappedMigration, mapping: MappingModel,
        policies: [String: EntityMigrationPolicy.Type], progress: MappingProgress,
        plainClass: ManagedObject.Type
    ) throws(StoreError) {
        let (old, new) = (migration.source.schema, migration.destination.schema)
        do throws(StoreError) {
            do throws(ModelError) {
                try mapping.check(from: old, to: new)
            } catch {
                throw StoreError(
                    .missingMappingModel, "the mapping model does not fit: \(error)", cause: error)
            }
            var runs: [MappingRun] = []
            for mapping in mapping.entityMappings {
                runs.append(try MappingRun(mapping, from: old, to: new, policies))
            }
            self.runs = runs
        } catch {
            migration.cancel()
            throw error
        }
        runsByName = Dictionary(runs.map { ($0.mapping.name, $0) }) { first, _ in first }
        self.migration = migration
        mappingModel = mapping
        self.progress = progress
        sourceContext = ManagedObjectContext(
            store: migration.source, classes: ObjectClasses(ofAll: plainClass, in: old))
        sourceContext.migrationPart = .source
        destinationContext = ManagedObjectContext(
            store: migration.destination, classes: ObjectClasses(ofAll: plainClass, in: new))
        destinationContext.migrationPart = .destination
    }

    /// The old model.
    public var sourceModel: ManagedObjectModel { migration.source.schema.model }

    /// The new model.
    public var destinationModel: ManagedObjectModel { migration.destination.schema.model }

    /// How much is done, from 0 to 1.
    public var migrationProgress: Float { Float(progress.fractionCompleted) }

    /// The current mapping; nil before the first and after the last.
    public var currentEntityMapping: EntityMapping? { current?.mapping }

    /// The old entity of a mapping.
    public func sourceEntity(for mapping: EntityMapping) -> SchemaEntity? {
        mapping.sourceEntityName.flatMap { migration.source.schema.entity(named: $0) }
    }

    /// The new entity of a mapping.
    public func destinationEntity(for mapping: EntityMapping) -> SchemaEntity? {
        mapping.destinationEntityName.flatMap { migration.destination.schema.entity(named: $0) }
    }

    // MARK: Carrying out

    /// Migrates all objects. It can only be called once.
    ///
    /// - Throws: `StoreError`, and the store is unchanged: `.migrationPolicy` with the error of a policy;
    ///   `.migrationCancelled`; `.migrationConstraintViolation` if new objects have the same key; validation errors,
    ///   like a save; read and write errors.
    public func migrate() throws(StoreError) {
        precondition(!isStarted, "a migration can only run once")
        isStarted = true
        let successions: [ObjectSuccession]
        do throws(StoreError) {
            try carryOut()
            try checkCancelled()
            successions = self.successions
            abandon()
        } catch {
            abandon()
            migration.cancel()
            throw error
        }
        try migration.finish(successions)
        progress.complete()
    }

    /// What became of what, by mappings in their order.
    private var successions: [ObjectSuccession] {
        runs.compactMap { run in
            guard let source = run.source, let destination = run.destination else { return nil }
            let (sources, destinations) = run.associations.lists
            return ObjectSuccession(
                sourceEntity: source.index, destinationEntity: destination.index, sources: sources,
                destinations: destinations)
        }
    }

    /// Lets go of all objects: those that a policy still holds are of no use any more.
    private func abandon() {
        current = nil
        connecting = nil
        reset()
        userInfo = [:]
        sourceContext.rollback()
        destinationContext.rollback()
    }

    /// Cancels the migration: it throws `StoreError` with `.migrationCancelled` and this error as its cause, as soon as
    /// the current step returns. The store is unchanged.
    public func cancelMigration(with error: any Error) {
        cancellation = cancellation ?? error
        isCancelled = true
    }

    func checkCancelled() throws(StoreError) {
        guard isCancelled || progress.isCancelled || Task.isCancelled else { return }
        throw StoreError(.migrationCancelled, "the migration was cancelled", cause: cancellation)
    }

    /// Forgets the associations of old and new objects, for all mappings.
    public func reset() {
        pending = []
        pendingBySource = [:]
        pendingByDestination = [:]
        for run in runs { run.associations = InstanceAssociations() }
    }

    // MARK: What became of what

    /// The mapping that is carried out under a name.
    func run(named name: String) -> MappingRun {
        guard let run = runsByName[name] else {
            preconditionFailure("there is no entity mapping named \(name)")
        }
        return run
    }

    /// Notes that a new object became of an old one, by a mapping. One old object may become several, and several old ones one.
    ///
    /// - Complexity: O(1).
    public func associate(
        sourceInstance: ManagedObject, withDestinationInstance destinationInstance: ManagedObject,
        for mapping: EntityMapping
    ) {
        let run = run(named: mapping.name)
        precondition(
            sourceInstance.managedObjectContext === sourceContext
                && destinationInstance.managedObjectContext === destinationContext,
            "an object of the source is associated with one of the destination")
        precondition(
            run.source?.root == sourceInstance.entity.root
                && run.destination?.root == destinationInstance.entity.root,
            "\(mapping.name) does not map \(sourceInstance.entity.name) to \(destinationInstance.entity.name)"
        )
        let source = UInt32(truncatingIfNeeded: sourceInstance.objectID.reference)
        if destinationInstance.entity !== run.destination { run.hasOtherEntities = true }
        let id = destinationInstance.objectID
        guard id.isTemporary || !pending.isEmpty else {
            return run.associations.append(
                source: source, destination: UInt32(truncatingIfNeeded: id.reference))
        }
        pendingBySource[PendingSource(run: ObjectIdentifier(run), source: source), default: []]
            .append(pending.count)
        pendingByDestination[ObjectIdentifier(destinationInstance), default: []].append(
            pending.count)
        pending.append(Pending(run: run, source: source, destination: destinationInstance))
    }

    /// Saves what is in the destination, and notes the numbers of new objects.
    func save() throws(StoreError) {
        do {
            try destinationContext.save()
        } catch let error as StoreError {
            throw error.code == .constraintConflict
                ? StoreError(violating: error, migration.destination.schema) : error
        } catch {
            throw StoreError(
                .migrationFailed, "the migrated objects could not be saved", cause: error)
        }
        for one in pending where one.destination.managedObjectContext === destinationContext {
            one.run.associations.append(
                source: one.source,
                destination: UInt32(truncatingIfNeeded: one.destination.objectID.reference))
        }
        pending = []
        pendingBySource = [:]
        pendingByDestination = [:]
    }

    /// The new objects that a mapping created for old ones: those for the first, then those for the second and so on,
    /// without duplicates.
    ///
    /// - Parameter name: the mapping, which must exist. Nil: all mappings, in order.
    /// - Complexity: O(log n) per old object if n have been migrated; O(1) if they were not migrated in the order of their
    ///   numbers.
    public func destinationInstances(
        forEntityMappingName name: String?, sourceInstances: some Sequence<ManagedObject>
    ) -> [ManagedObject] {
        let searched = name.map { [run(named: $0)] } ?? runs
        var seen: Set<ManagedObject> = []
        var found: [ManagedObject] = []
        for source in sourceInstances {
            for run in searched where run.source?.root == source.entity.root {
                let number = UInt32(truncatingIfNeeded: source.objectID.reference)
                for object in destinations(of: number, run) where seen.insert(object).inserted {
                    found.append(object)
                }
            }
        }
        return found
    }

    /// The old objects for which a mapping created new ones: those for the first, then those for the second and so on,
    /// without duplicates.
    ///
    /// - Parameter name: the mapping, which must exist. Nil: all mappings, in order.
    /// - Complexity: As ``destinationInstances(forEntityMappingName:sourceInstances:)``.
    public func sourceInstances(
        forEntityMappingName name: String?, destinationInstances: some Sequence<ManagedObject>
    ) -> [ManagedObject] {
        let searched = name.map { [run(named: $0)] } ?? runs
        var seen: Set<ManagedObject> = []
        var found: [ManagedObject] = []
        for destination in destinationInstances {
            for run in searched where run.destination?.root == destination.entity.root {
                var numbers: [UInt32] = []
                if !destination.objectID.isTemporary {
                    numbers = run.associations.sources(
                        of: UInt32(truncatingIfNeeded: destination.objectID.reference))
                }
                for place in pendingByDestination[ObjectIdentifier(destination)] ?? []
                where pending[place].run === run { numbers.append(pending[place].source) }
                for object in sources(numbers, run) where seen.insert(object).inserted {
                    found.append(object)
                }
            }
        }
        return found
    }

    /// All new objects that a mapping has made, each once.
    package func allDestinationInstances(ofMapping name: String) -> [ManagedObject] {
        let run = run(named: name)
        var seen: Set<ManagedObject> = []
        let mine = pending.lazy.filter { $0.run === run }.map(\.destination)
        return (destinations(run.associations.lists.destinations, run) + mine).filter {
            seen.insert($0).inserted
        }
    }

    /// All old objects of which a mapping has made some, each once.
    package func allSourceInstances(ofMapping name: String) -> [ManagedObject] {
        let run = run(named: name)
        var seen: Set<UInt32> = []
        let mine = pending.lazy.filter { $0.run === run }.map(\.source)
        return sources(
            (run.associations.lists.sources + mine).filter { seen.insert($0).inserted }, run)
    }

    /// The new objects of an old one.
    func destinations(of source: UInt32, _ run: MappingRun) -> [ManagedObject] {
        var objects = destinations(run.associations.destinations(of: source), run)
        if !pending.isEmpty {
            let places =
                pendingBySource[PendingSource(run: ObjectIdentifier(run), source: source)] ?? []
            objects += places.map { pending[$0].destination }
        }
        return objects
    }

    /// New objects by their numbers.
    func destinations(_ numbers: [UInt32], _ run: MappingRun) -> [ManagedObject] {
        guard let entity = run.destination, !numbers.isEmpty else { return [] }
        let ids = numbers.map {
            destinationContext.identity.id(UInt64($0), entity: entity.index)
        }
        return run.hasOtherEntities
            ? destinationContext.objects(
                with: ids, under: migration.destination.schema.entities[entity.root])
            : destinationContext.faults(with: ids, of: entity)
    }

    /// Old objects by their numbers. A policy may have associated one of an entity that inherits from the mapping's.
    func sources(_ numbers: [UInt32], _ run: MappingRun) -> [ManagedObject] {
        guard let entity = run.source, !numbers.isEmpty else { return [] }
        return sourceContext.objects(
            with: numbers.map { sourceContext.identity.id(UInt64($0), entity: entity.index) },
            under: migration.source.schema.entities[entity.root])
    }
}

@available(
    *, unavailable,
    message: "a migration belongs to the thread that carries it out: others have its progress"
)
extension MigrationManager: Sendable {}

extension StoreError {
    /// What stands against a uniqueness constraint of the new model.
    init(violating error: StoreError, _ schema: Schema) {
        var place = error.context
        var keys: [String: Int] = [:]
        var objects: [String: Int] = [:]
        for case .constraint(let violation) in error.conflicts {
            let name = schema.entities[violation.entity].name
            let constraint = "\(name)(\(violation.constraint.joined(separator: ", ")))"
            if place.entity == nil {
                place.entity = name
                place.key = violation.constraint.joined(separator: ", ")
            }
            keys[constraint, default: 0] += 1
            objects[constraint, default: 0] +=
                violation.objects.count + (violation.stored == nil ? 0 : 1)
        }
        let list = keys.keys.sorted().map {
            "\($0): at least \(keys[$0] ?? 0) keys that \(objects[$0] ?? 0) objects share"
        }
        self.init(
            .migrationConstraintViolation,
            "the new model has a uniqueness constraint that the objects violate"
                + (list.isEmpty ? "" : ": \(list.joined(separator: "; "))")
                + "; with a mapping model, its policy has to resolve them: "
                + "deduplicateWhenMigrating is for inferred migrations",
            context: place, conflicts: error.conflicts, cause: error)
    }
}
