// Folds duplicates in the commit of a migration, so that a constraint of the new model holds.
//
//   1. Requests are in the words of the new model; what they are about is in the store under the names of the old one.
//   2. Each is carried out on the store as it is; what it would save is recorded, and saved by the migration.
//
// Threads: those of whoever migrates.

import CairnModel
package import CairnStore

extension MigrationPrelude {
    /// What folds the duplicates that requests are about; nil if there are no requests.
    ///
    /// Objects that two requests change make the migration fail: which of them comes first nobody can say.
    package static func deduplicating(_ requests: [DeduplicationRequest]) -> Maker? {
        if requests.isEmpty { return nil }
        return { store, plan throws(StoreError) in
            var saves: [SaveRequest] = []
            var folded = 0
            for request in requests {
                let recorder = RecordingStore(over: store)
                let result = try Deduplicator.execute(request.translated(by: plan), on: recorder)
                saves += recorder.requests
                folded += result.deletedCount
            }
            return saves.isEmpty ? nil : MigrationPrelude(saves, foldedObjects: folded)
        }
    }
}

extension DeduplicationRequest {
    /// The same request in the names of the old model. What the new one does not know is taken for a name of the old one.
    fileprivate func translated(by plan: ModelMigrationPlan) -> DeduplicationRequest {
        guard let entity = plan.entity(named: entityName), let source = entity.source else {
            return self
        }
        func old(_ name: String) -> String {
            for column in entity.columns where column.name == name {
                if case .column(let before) = column.origin { return before }
            }
            return name
        }
        var request = self
        request.entityName = source
        request.keys = keys.map(old)
        request.rule = rule.renamed(old)
        return request
    }
}

extension DeduplicationRule {
    fileprivate func renamed(_ name: (String) -> String) -> DeduplicationRule {
        switch self {
        case .first, .last, .mostComplete, .nullKey, .fail: self
        case .newest(let attribute): .newest(by: name(attribute))
        case .smallest(let attribute): .smallest(by: name(attribute))
        case .merge(let rules, let winner):
            .merge(
                Dictionary(
                    rules.map { (name($0.key), $0.value.renamed(name)) },
                    uniquingKeysWith: { first, _ in first }), into: winner.renamed(name))
        }
    }
}

extension FoldingRule {
    fileprivate func renamed(_ name: (String) -> String) -> FoldingRule {
        if case .newest(let attribute) = self { return .newest(by: name(attribute)) }
        return self
    }
}
