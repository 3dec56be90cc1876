// Batch updates, as commits.

import CairnFileSystem
import CairnModel
import CairnStore
import FoundationEssentials

extension Engine {
    /// Updates all objects that match a condition in one commit. Nothing is written if none of them changes.
    func update(_ request: BatchUpdateRequest) throws(StoreError) -> BatchUpdateResult {
        try checkDerivations()
        let moment = Date(timeIntervalSinceReferenceDate: clock.now())
        let plan = try BatchUpdatePlan(request, in: schema, now: moment)
        var (result, commit) = try commit(
            author: request.author, contextName: request.contextName
        ) { builder throws(StoreError) in
            let derivations =
                builder.catalog.schema.derivations.isEmpty ? nil : BatchDerivations()
            let updater = BatchUpdater(
                plan, listsIDs: request.resultType == .objectIDs, moment: moment, derivations,
                builder)
            try updater.run(&builder)
            return updater.result
        }
        result.commit = commit
        return result
    }
}
