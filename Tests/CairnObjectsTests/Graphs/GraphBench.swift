// A store with some contexts that random graphs are made in.

import CairnFileSystem
import CairnLog
import CairnModel
import CairnObjects
import CairnStore
import StoreBackends

/// The contexts of one store.
final class GraphBench {
    private static let schema = Result { try Schema(GraphModel.model) }

    /// Contexts of the store; each has been brought up to date with what the others saved.
    private(set) var contexts: [ManagedObjectContext] = []
    private(set) var store: any PersistentStore
    private let options: LogStoreOptions?

    init(_ backend: Backend, rowsPerBlock: Int) throws {
        let schema = try Self.schema.get()
        switch backend {
        case .dictionary:
            options = nil
            store = DictionaryStore(schema)
        case .log, .logOnDisk, .postgres:
            var options = LogStoreOptions()
            options.fileSystem = MemoryFileSystem()
            options.durability = .relaxed
            options.sizes.rowsPerBlock = rowsPerBlock
            self.options = options
            store = try LogStore.open(at: "/store", schema: schema, options: options)
        }
        makeContexts()
    }

    /// A context of the store, one that works on it, and one that works on that.
    func family(_ number: Int) -> [ManagedObjectContext] {
        let child = contexts[number].newChildContext()
        return [contexts[number], child, child.newChildContext()]
    }

    /// A fresh context.
    func context() -> ManagedObjectContext { ManagedObjectContext(store: store) }

    private func makeContexts() {
        contexts = (0..<3).map { _ in
            let context = context()
            context.undoHistory = UndoHistory()
            return context
        }
    }

    /// Closes and opens the store, if it has files, and makes new contexts.
    func reopen() throws {
        for context in contexts { context.reset() }
        if let options, let store = store as? LogStore {
            try store.close()
            self.store = try LogStore.open(
                at: "/store", schema: try Self.schema.get(), options: options)
        }
        makeContexts()
    }

    func compact() throws { _ = try (store as? LogStore)?.compact() }

    /// Has all contexts forget what was done, and see what is stored.
    func refresh() {
        for context in contexts {
            context.undoHistory?.removeAllActions()
            context.refreshAllObjects()
        }
    }
}
