// Batches to be reused by the next commit: a new one allocates memory for 1,024 rows, too much for each
// commit of one row.
//
// Threads: any; one lock.

import CairnModel
package import CairnStore
import Synchronization

/// Keeps a few empty batches.
package final class ColumnBatchPool: Sendable {
    private let idle = Mutex<[ColumnBatch]>([])
    private static let most = 8

    /// Takes an empty batch for rows of an entity, with room for a number of order keys in each.
    func take(_ entity: SchemaEntity, orders: Int = 0) -> ColumnBatch {
        let width = entity.columns.count + orders
        let known = idle.withLock { idle in
            idle.lastIndex { $0.entity === entity && $0.columns.count == width }
                .map { idle.remove(at: $0) }
        }
        return known ?? ColumnBatch(entity, orders: orders)
    }

    /// Takes an empty batch for whole rows of an entity, including order keys.
    package func takeWhole(_ entity: Int, _ catalog: Catalog) -> ColumnBatch {
        take(catalog.description(of: entity), orders: catalog.entities[entity].orders.count)
    }

    /// Returns an unused batch to the pool.
    package func give(_ batch: ColumnBatch) {
        batch.reset()
        idle.withLock { idle in
            if idle.count == Self.most { idle.removeFirst() }
            idle.append(batch)
        }
    }
}
