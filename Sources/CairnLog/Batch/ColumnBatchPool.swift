// Batches that were used, for the next commit: a fresh one is room for 1,024 rows, which a commit of one row
// would pay for each time.
//
// Threads: any; one lock.

import CairnModel
import CairnStore
import Synchronization

/// Keeps a few empty batches.
final class ColumnBatchPool: Sendable {
    private let idle = Mutex<[ColumnBatch]>([])
    private static let most = 8

    /// An empty batch for rows of an entity.
    func take(_ entity: SchemaEntity) -> ColumnBatch {
        let known = idle.withLock { idle in
            idle.lastIndex { $0.entity === entity }.map { idle.remove(at: $0) }
        }
        return known ?? ColumnBatch(entity)
    }

    /// Takes back a batch that nobody uses any more.
    func give(_ batch: ColumnBatch) {
        batch.reset()
        idle.withLock { idle in
            if idle.count == Self.most { idle.removeFirst() }
            idle.append(batch)
        }
    }
}
