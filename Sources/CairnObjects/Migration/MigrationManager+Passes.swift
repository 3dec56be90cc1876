// The passes of a migration.

import CairnModel
import CairnStore

extension MigrationManager {
    func carryOut() throws(StoreError) {
        for run in runs where run.goesOverObjects {
            progress.expect(try sourceContext.count(for: request(run)) * (run.connects ? 3 : 2))
        }
        for run in runs { try makeInstances(run) }
        try save()
        for run in runs { try connectInstances(run) }
        try save()
        for run in runs {
            current = run
            try step(run, "performCustomValidation") {
                try run.policy.performCustomValidation(forMapping: run.mapping, manager: self)
            }
        }
        for run in runs {
            current = run
            try step(run, "end") { try run.policy.end(run.mapping, manager: self) }
        }
        current = nil
        try save()
        try validate()
    }

    /// What a mapping asks of the old store.
    private func request(_ run: MappingRun) -> FetchRequest<ObjectID> {
        var request = FetchRequest<ObjectID>(
            entityName: run.mapping.sourceEntityName ?? "", predicate: run.mapping.sourcePredicate)
        request.includesSubentities = false
        return request
    }

    /// Has a policy do one of its steps, and says whose it was if it fails.
    func step(_ run: MappingRun, _ name: String, _ body: () throws -> Void) throws(StoreError) {
        do {
            try body()
            try sourceContext.throwReadError()
            try destinationContext.throwReadError()
        } catch {
            // Whoever cancels often throws as well.
            try checkCancelled()
            let known = error as? StoreError
            if let known, run.isPlain || known.code == .migrationCancelled { throw known }
            throw StoreError(
                run.isPlain ? .migrationFailed : .migrationPolicy,
                run.isPlain
                    ? "the entity mapping \(run.mapping.name) failed"
                    : "the policy of the entity mapping \(run.mapping.name) has failed in \(name)",
                context: .init(
                    entity: run.mapping.destinationEntityName ?? run.mapping.sourceEntityName),
                cause: error)
        }
        try checkCancelled()
    }

    // MARK: Instances

    private func makeInstances(_ run: MappingRun) throws(StoreError) {
        current = run
        let mapping = run.mapping
        try step(run, "begin") { try run.policy.begin(mapping, with: self) }
        if run.goesOverObjects, let entity = run.source {
            let numbers = try sourceContext.fetchObjectIDs(request(run)).map {
                UInt32(truncatingIfNeeded: $0.reference)
            }
            for start in stride(from: 0, to: numbers.count, by: Self.batch) {
                let some = numbers[start..<min(start + Self.batch, numbers.count)]
                let objects = sourceContext.faults(
                    with: some.map { sourceContext.identity.id(UInt64($0), entity: entity.index) },
                    of: entity)
                try sourceContext.fulfill(objects)
                // A policy may delete objects that are still to come.
                for object in objects where !object.isDeleted {
                    try step(run, "createDestinationInstances") {
                        try run.policy.createDestinationInstances(
                            forSource: object, in: mapping, manager: self)
                    }
                    if destinationContext.changed.count >= Self.changesPerSave { try save() }
                }
                progress.advance(by: some.count)
            }
        }
        try step(run, "endInstanceCreation") {
            try run.policy.endInstanceCreation(forMapping: mapping, manager: self)
        }
    }

    // MARK: Relationships

    private func connectInstances(_ run: MappingRun) throws(StoreError) {
        current = run
        if run.connects, run.source != nil, run.destination != nil { try connectAll(run) }
        try step(run, "endRelationshipCreation") {
            try run.policy.endRelationshipCreation(forMapping: run.mapping, manager: self)
        }
    }

    private func connectAll(_ run: MappingRun) throws(StoreError) {
        defer { connecting = nil }
        // What is associated from now on is connected by whoever does it.
        let count = run.associations.count
        var seen: Set<UInt32> = []
        for start in stride(from: 0, to: count, by: Self.batch) {
            let end = min(start + Self.batch, count)
            var places = Array(start..<end)
            if run.associations.mayRepeatDestinations {
                places = places.filter {
                    seen.insert(run.associations.destination(at: $0)).inserted
                }
            }
            let olds = sources(places.map { run.associations.source(at: $0) }, run)
            let news = destinations(places.map { run.associations.destination(at: $0) }, run)
            try sourceContext.fulfill(olds)
            try destinationContext.fulfill(news)
            for (old, new) in zip(olds, news) where !new.isDeleted {
                connecting = (new, old)
                try step(run, "createRelationships") {
                    try run.policy.createRelationships(
                        forDestination: new, in: run.mapping, manager: self)
                }
                if destinationContext.changed.count >= Self.changesPerSave { try save() }
            }
            progress.advance(by: end - start)
        }
    }

    // MARK: Validation

    /// How many errors are told.
    private static var toldErrors: Int { 100 }

    /// Asks of all new objects what the model asks of them.
    private func validate() throws(StoreError) {
        var errors: [StoreError] = []
        for entity in migration.destination.schema.entities where !entity.isAbstract {
            let rules = destinationContext.scope(of: entity).rules
            if rules.mandatory.allSatisfy({ $0 == 0 }), rules.limited.isEmpty, rules.counted.isEmpty
            {
                continue
            }
            var request = FetchRequest<ObjectID>(entityName: entity.name)
            request.includesSubentities = false
            let ids = try destinationContext.fetchObjectIDs(request)
            for start in stride(from: 0, to: ids.count, by: Self.batch) {
                let some = ids[start..<min(start + Self.batch, ids.count)]
                let objects = destinationContext.faults(with: Array(some), of: entity)
                try destinationContext.fulfill(objects)
                for object in objects { errors += object.modelErrorsOfAll() }
                try destinationContext.throwReadError()
                try checkCancelled()
                if errors.count >= Self.toldErrors { break }
                progress.advance(by: some.count)
            }
        }
        if let error = StoreError.combining(Array(errors.prefix(Self.toldErrors))) { throw error }
    }
}
