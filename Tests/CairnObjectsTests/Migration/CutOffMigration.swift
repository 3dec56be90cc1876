// Migrations of every kind, to be cut off: what the store was before, and what it may be afterwards.

import Cairn
import CairnFileSystem
import CairnTestSupport
import SystemPackage

@testable import CairnLog
@testable import CairnObjects

/// A store and a migration of it.
struct CutOffMigration {
    enum Kind: String, Sendable, CaseIterable {
        /// Inferred, with a constraint and derived attributes that are new.
        case inferred
        /// Inferred, and duplicates become one in the same commit.
        case folding
        /// By a mapping, with a policy.
        case mapping
        /// Over several versions, with code before and after one of the stages.
        case staged
    }

    /// What the store may be.
    struct State: Equatable {
        /// The model's number.
        var model: Int
        var text: String
    }

    let kind: Kind
    let models: [ManagedObjectModel]
    /// The store before, closed.
    private(set) var start = DiskImage()
    /// What the store may be, one after the other; in all kinds but the staged one the old store and the new one.
    private(set) var states: [State] = []
    /// The first objects, of which some may lead to others afterwards.
    private var ids: [ObjectID] = []

    init(_ kind: Kind) throws {
        self.kind = kind
        models = kind == .staged ? Pets.models : Self.users(kind)
        let disk = MemoryFileSystem()
        let store = try LogStore.open(
            at: "/store", schema: try Schema(models[0]), options: options(disk))
        ids = try Stack(store: store).store { context in
            kind == .staged ? Pets.make(in: context) : Self.makeUsers(kind, in: context)
        }
        states = [State(model: 0, text: try text(store))]
        try store.close()
        start = try DiskImage(of: disk)
        for (model, end) in kind == .staged ? Pets.ends : [(1, nil)] {
            let disk = try start.disk()
            do {
                try migrate(disk, endsIn: end)
            } catch {
                guard end != nil, (error as? StoreError)?.cause is Pets.Ended else { throw error }
            }
            let store = try LogStore.open(
                at: "/store", schema: try Schema(models[model]), options: options(disk))
            states.append(State(model: model, text: try text(store)))
            try store.close()
        }
    }

    var last: State { states[states.count - 1] }

    /// What the store was before it followed to the model of a state.
    func unmigrated(_ state: State) -> State? { states.last { $0.model < state.model } }

    func options(_ disk: any FileSystem) -> LogStoreOptions {
        var options = LogStoreOptions()
        options.fileSystem = disk
        options.sizes.rowsPerBlock = 16
        options.sizes.fillBytes = 0
        options.sizes.checkpointBytes = 1 << 20
        // Nothing is done beside, so that the same calls are made each time.
        options.makeScheduler = { IdleScheduler() }
        if kind == .folding {
            options.deduplicateWhenMigrating([
                DeduplicationRequest(
                    entityName: "User", by: ["uniqueId"], keeping: .newest(by: "age"))
            ])
        }
        return options
    }

    private final class IdleScheduler: BackgroundScheduler {
        func schedule(after seconds: Double, _ task: @escaping @Sendable () -> Void) {}
        func stop() {}
    }

    /// Leads the store on a disk to the last model.
    func migrate(_ disk: any FileSystem) throws { try migrate(disk, endsIn: nil) }

    private func migrate(_ disk: any FileSystem, endsIn end: String?) throws {
        let model = models[models.count - 1]
        switch kind {
        case .inferred, .folding:
            try LogStore.migrate(at: "/store", to: try Schema(model), options: options(disk))
        case .mapping:
            if try LogStore.metadata(forStoreAt: "/store", on: disk).model == model { return }
            var mapping = MappingModel(
                drafting: try ModelMigrationPlan(from: models[0], to: model))
            mapping["UserToUser"]?.entityMigrationPolicy = UsersWithDuplicates.KeepFirst.self
            try PersistentContainer.migrateStore(
                at: "/store", to: model, mapping: mapping, options: options(disk))
        case .staged:
            try Pets.manager(endsIn: end).migrateStore(
                at: "/store", to: model, options: options(disk))
        }
    }

    /// All that a store has, and where the first objects have gone.
    func text(_ store: LogStore) throws -> String {
        let stack = Stack(store: store)
        let keys = ["User": kind == .staged ? "name" : "age", "Note": "text", "Pet": "name"]
        var text = try Content(stack, keys: keys).description
        let context = stack.context()
        for id in ids {
            guard let other = try context.redirectedObjectID(for: id), other != id else { continue }
            text += "\n\(id.reference) leads to \(other.reference)"
        }
        return text
    }

    // MARK: Users

    private static func users(_ kind: Kind) -> [ManagedObjectModel] {
        var models = [false, true].map { UsersWithDuplicates.model(unique: $0) }
        if kind == .inferred {
            var count = AttributeDescription("noteCount", .integer64)
            count.derivationExpression = "notes.@count"
            var upper = AttributeDescription("upper", .string)
            upper.derivationExpression = "uppercase:(uniqueId)"
            models[1].entities[0].attributes += [count, upper]
        }
        return models
    }

    private static func makeUsers(_ kind: Kind, in context: ManagedObjectContext)
        -> [ManagedObject]
    {
        (0..<40).map { number in
            let id: String? =
                switch kind {
                case .inferred: number % 5 == 0 ? nil : "u\(number)"
                default: "u\(number / 2)"
                }
            let user = context.make("User", ["uniqueId": id, "age": number])
            for note in 0..<number % 3 {
                context.make("Note", ["text": "n\(number) \(note)", "user": user])
            }
            return user
        }
    }
}

/// Users whose pets become objects.
private enum Pets {
    struct Ended: Error {}

    static let models: [ManagedObjectModel] = {
        let first = ManagedObjectModel(entities: [
            EntityDescription(
                "User", attributes: [.init("name", .string), .init("petName", .string)])
        ])
        var second = first
        second.entities[0].attributes.append(
            .init("age", .integer32, optional: false, default: .integer(1)))
        var third = second
        third.entities[0].relationships = [.init("pet", to: "Pet", inverse: "owner")]
        third.entities.append(
            EntityDescription(
                "Pet", attributes: [.init("name", .string)],
                relationships: [.init("owner", to: "User", inverse: "pet")]))
        var fourth = third
        fourth.entities[0].attributes.removeAll { $0.name == "petName" }
        return [first, second, third, fourth]
    }()

    /// Of which model the store is when the code of the stage ends it there, and in the end.
    static let ends: [(Int, String?)] = [(1, "will"), (2, "did"), (2, "saved"), (3, nil)]

    static func make(in context: ManagedObjectContext) -> [ManagedObject] {
        (0..<20).map { context.make("User", ["name": "u\($0)", "petName": "p\($0)"]) }
    }

    static func manager(endsIn end: String?) -> StagedMigrationManager {
        var stage = CustomMigrationStage(
            currentModel: ModelReference(models[1]), nextModel: ModelReference(models[2]),
            label: "pets")
        stage.willMigrateHandler = { _ in if end == "will" { throw Ended() } }
        stage.didMigrateHandler = { context in
            if end == "did" { throw Ended() }
            for user in try context.all("User") where user.object("pet") == nil {
                guard let name = user.string("petName") else { continue }
                context.make("Pet", ["name": name, "owner": user])
            }
            try context.save()
            if end == "saved" { throw Ended() }
        }
        return StagedMigrationManager(
            [
                LightweightMigrationStage(models[...1].map { ModelReference($0) }),
                stage, LightweightMigrationStage([ModelReference(models[3])]),
            ], models: [ModelReference(models[0])])
    }
}
