// Where the store of one test is: nothing of it is left afterwards.
//
//   try backend.withStore(schema) { store in … }
//   try backend.withPlace(schema) { place in
//       let store = try place.open()
//       try store.close()
//       let same = try place.open()
//   }
//
// Threads: one.

package import CairnModel
import CairnStore
import FoundationEssentials

/// Where a store is, or will be.
package final class StorePlace {
    /// The model of the store.
    let schema: Schema
    /// A folder with a name of its own, for those that need one. It is made by who does.
    let folder: String
    /// A name that no other place has.
    let name: String
    private let backend: Backend
    private var stores: [any WholeStore] = []

    fileprivate init(_ backend: Backend, _ schema: Schema) {
        self.backend = backend
        self.schema = schema
        name = "cairn-store-\(UUID().uuidString)"
        folder = FileManager.default.temporaryDirectory.appending(path: name).path
    }

    /// Opens the store. Those of `Backend.lastingStores` have what was written before.
    package func open(tracksHistory: Bool = false) throws -> any WholeStore {
        let store = try backend.open(at: self, tracksHistory: tracksHistory)
        stores.append(store)
        return store
    }

    fileprivate func closeAll() throws {
        // Closing what the test itself has closed changes nothing.
        for store in stores { try store.close() }
    }

    fileprivate func clear() throws { try backend.clear(self) }
}

extension Backend {
    /// Runs a body with a place for a store. Afterwards the store is closed, and what it has left is removed.
    package func withPlace<R>(_ schema: Schema, _ body: (StorePlace) throws -> R) throws -> R {
        let place = StorePlace(self, schema)
        let result: R
        do {
            result = try body(place)
        } catch {
            // What the body threw says more than what may go wrong now.
            try? place.closeAll()
            try? place.clear()
            throw error
        }
        try place.closeAll()
        try place.clear()
        return result
    }

    /// Runs a body with a new, empty store. Afterwards it is closed, and what it has left is removed.
    package func withStore<R>(
        _ schema: Schema, history: Bool = false, _ body: (any WholeStore) throws -> R
    ) throws -> R {
        try withPlace(schema) { place in try body(place.open(tracksHistory: history)) }
    }
}
