// Stores in memory that coordinators share by a name, as Core Data's stores at /dev/null/NAME are shared.
//
// Invariant: a store lives as long as one of its coordinators has it.
// Threads: any.

import CairnLog
import CairnModel
import CairnStore
import Synchronization

/// The stores in memory that have names.
enum SharedMemoryStores {
    private struct WeakStore: Sendable {
        weak let store: LogStore?
    }

    private static let stores = Mutex<[String: WeakStore]>([:])

    /// The store of a name, which is made if there is none.
    ///
    /// - Throws: `StoreError` if it cannot be made.
    static func store(_ name: String, _ schema: Schema, _ options: LogStoreOptions)
        throws(StoreError) -> LogStore
    {
        try stores.withLock { stores throws(StoreError) in
            if let store = stores[name]?.store { return store }
            stores = stores.filter { $0.value.store != nil }
            let store = try LogStore.inMemory(schema: schema, options: options)
            stores[name] = WeakStore(store: store)
            return store
        }
    }
}
