// The differences between a store's model and another one.

public import CairnModel
public import FoundationEssentials

/// How a store's model differs from the model with which it was to be opened: the cause of an error with
/// ``StoreError/Code/incompatibleModel``.
public struct ModelMismatch: Error {
    /// The version hashes of the entities in the store, by name.
    public let storeHashes: [String: Data]
    /// The version hashes of the entities of the model.
    public let modelHashes: [String: Data]
    /// The migration from the store's model to the other one; nil if one of the models is invalid.
    public let plan: ModelMigrationPlan?
    /// The changes of the compared entities, in the order of their names.
    public let changes: [ModelChange]

    /// Compares two models.
    ///
    /// - Parameter entities: the entities to compare, together with those from which they inherit; nil: all.
    public init(
        store: ManagedObjectModel, model: ManagedObjectModel, entities: [String]? = nil
    ) {
        storeHashes = store.entityVersionHashesByName
        modelHashes = model.entityVersionHashesByName
        plan = try? ModelMigrationPlan(from: store, to: model)
        let names = entities.map { Self.line(of: $0, in: [store, model]) }
        changes = (plan?.changes ?? []).filter { change in
            change.cost > .nothing && names?.contains(change.entity) ?? true
        }
    }

    /// Entities and all that they inherit from.
    private static func line(of entities: [String], in models: [ManagedObjectModel]) -> Set<String>
    {
        var line: Set<String> = []
        var next = entities
        while let name = next.popLast() {
            guard line.insert(name).inserted else { continue }
            next += models.compactMap { $0.entity(named: name)?.superentityName }
        }
        return line
    }

    /// The names of the entities that only one model has, or that differ.
    public var entities: [String] {
        Set(storeHashes.keys).union(modelHashes.keys)
            .filter { storeHashes[$0] != modelHashes[$0] }.sorted()
    }
}

extension ModelMismatch: CustomStringConvertible {
    /// How many changes are told before it is only said how many more there are.
    private static var toldChanges: Int { 5 }

    /// The first changes, and how many more there are.
    public var description: String {
        guard !changes.isEmpty else {
            return entities.isEmpty
                ? "no differences" : "entities \(entities.joined(separator: ", ")) differ"
        }
        let told = changes.prefix(Self.toldChanges).map(\.description).joined(separator: "; ")
        let more = changes.count - Self.toldChanges
        return more > 0 ? "\(told); and \(more) more changes" : told
    }
}
