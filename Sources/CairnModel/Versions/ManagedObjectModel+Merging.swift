// One model composed of several: entities of different modules in one store.

public import FoundationEssentials

extension ManagedObjectModel {
    /// Merges models: the result has the entities of all of them, in the order of the models. What several models declare
    /// identically is included once.
    ///
    /// ```swift
    /// let model = try ManagedObjectModel(merging: [accounts, shop])
    /// ```
    ///
    /// A configuration that several models have contains the entities of all of them.
    ///
    /// - Throws: `ModelError` if two models declare an entity, composite or request with the same name differently.
    public init(merging models: [ManagedObjectModel]) throws(ModelError) {
        self.init()
        for model in models {
            try Self.add(model.entities, to: &entities, "entity", \.name)
            try Self.add(model.composites, to: &composites, "composite", \.name)
            try Self.add(
                model.fetchRequestTemplates, to: &fetchRequestTemplates, "fetch request", \.name)
            for (name, members) in model.configurations {
                let known = configurations[name] ?? []
                configurations[name] = known + members.filter { !known.contains($0) }
            }
            for identifier in model.versionIdentifiers
            where !versionIdentifiers.contains(identifier) { versionIdentifiers.append(identifier) }
            otherMarks.merge(model.otherMarks) { first, _ in first }
        }
    }

    private static func add<T: Equatable>(
        _ new: [T], to all: inout [T], _ noun: String, _ name: (T) -> String
    ) throws(ModelError) {
        for one in new {
            guard let known = all.first(where: { name($0) == name(one) }) else {
                all.append(one)
                continue
            }
            if known != one {
                throw ModelError(
                    .duplicateName, "two of the models have different versions of this \(noun)",
                    element: name(one))
            }
        }
    }

    /// Composes the model that has these hashes, taking each entity from the first model that has it in that version. The
    /// models can be of different versions. Nil if they do not have all of the entities.
    ///
    /// ```swift
    /// let old = ManagedObjectModel(merging: versions, forEntityVersionHashes: metadata.modelVersionHashes)
    /// ```
    public init?(
        merging models: [ManagedObjectModel], forEntityVersionHashes hashes: [String: Data]
    ) {
        self.init()
        var missing = hashes
        for model in models {
            let own = model.entityVersionHashesByName
            var isUsed = false
            for entity in model.entities {
                guard let hash = missing[entity.name], own[entity.name] == hash else { continue }
                missing[entity.name] = nil
                entities.append(entity)
                isUsed = true
            }
            guard isUsed else { continue }
            for composite in model.composites
            where !composites.contains(where: { $0.name == composite.name }) {
                composites.append(composite)
            }
            for (name, members) in model.configurations {
                let known = configurations[name] ?? []
                configurations[name] = known + members.filter { !known.contains($0) }
            }
            for identifier in model.versionIdentifiers
            where !versionIdentifiers.contains(identifier) { versionIdentifiers.append(identifier) }
        }
        // What an entity of one model takes from others may be another thing here.
        guard missing.isEmpty, entityVersionHashesByName == hashes else { return nil }
        let names = Set(entities.map(\.name))
        configurations = configurations.mapValues { $0.filter(names.contains) }
    }
}
