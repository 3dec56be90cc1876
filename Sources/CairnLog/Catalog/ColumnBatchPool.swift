// Batches to be reused by the next commit: a new one allocates memory for 1,024 rows, too much for each commit of one row.
//
// Threads: any; one lock.

import CairnModel
package import CairnStore
import Synchronization

/// Keeps a few empty batches.
package final class ColumnBatchPool: Sendable {
    private let idle = Mutex<[ColumnBatch]>([])
    private static let most = 8

    /// An empty batch for rows of an entity, with room for so many order keys of each.
    func take(_ entity: SchemaEntity, orders: Int = 0) -> ColumnBatch {
        let width = entity.columns.count + orders
        let known = idle.withLock { idle in
            idle.lastIndex { $0.entity === entity && $0.columns.count == width }
                .map { idle.remove(at: $0) }
        }
        return known ?? ColumnBatch(entity, orders: orders)
    }

    /// An empty batch for whole rows of an entity, order keys included.
    package func takeWhole(_ entity: Int, _ catalog: Catalog) -> ColumnBatch {
        take(catalog.description(of: entity), orders: catalog.entities[entity].orders.count)
    }

    /// Takes back a batch that nobody uses any more.
    package func give(_ batch: ColumnBatch) {
        batch.reset()
        idle.withLock { idle in
            if idle.count == Self.most { idle.removeFirst() }
            idle.append(batch)
        }
    }
}
