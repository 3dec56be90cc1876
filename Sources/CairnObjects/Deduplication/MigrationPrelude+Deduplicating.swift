// Folds duplicates in the commit of a migration, so that a constraint of the new model holds.
//
//   1. Requests are in the words of the new model; what they are about is in the store under the names of the old one. One is
//      carried out only for constraints that objects may stand against: see `MigrationDeduplication`.
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
        return { store, plan, models throws(StoreError) in
            var saves: [SaveRequest] = []
            var folded = 0
            for request in requests {
                let needed = try request.needed(by: plan, knowing: models)
                if request.isDryRun { continue }
                for part in needed {
                    let recorder = RecordingStore(over: store)
                    let result = try Deduplicator.execute(part.request, on: recorder)
                    saves += recorder.requests
                    folded += result.deletedCount
                }
            }
            return saves.isEmpty ? nil : MigrationPrelude(saves, foldedObjects: folded)
        }
    }
}
