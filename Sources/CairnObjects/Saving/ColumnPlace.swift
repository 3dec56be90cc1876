// Where a context saves new objects as columns: its store, or the only one of its coordinator.

import CairnStore
import FoundationEssentials
import Synchronization

/// The store that takes new objects of all entities as columns.
struct ColumnPlace {
    private let store: any ColumnStore
    /// The coordinator, and what it knows of the store.
    private let coordinated: (PersistentStoreCoordinator, CoordinatedStore)?

    /// What stands for the store in references; 0 without a coordinator.
    var number: UInt32 { coordinated?.1.number ?? 0 }

    var identifier: UUID { store.identity.identifier }

    init(_ store: any ColumnStore) {
        self.store = store
        coordinated = nil
    }

    /// Nil if there are several stores, others than those that the context knows of, or if the only one takes no columns or
    /// not all objects.
    init?(_ coordinator: PersistentStoreCoordinator, known: Int) {
        let (version, stores) = coordinator.state.withLock { ($0.version, $0.attached) }
        guard version == known, stores.count == 1, stores[0].configuration == nil,
            !stores[0].isReadOnly, let store = stores[0].store as? any ColumnStore
        else { return nil }
        self.store = store
        coordinated = (coordinator, stores[0])
    }

    /// Inserts new objects; nil if they are to be saved by a request, which says or resolves what stands against them.
    func insert(
        _ rows: inout NewObjectRows, merging: NewRowMerging, author: String?, contextName: String?
    ) throws(StoreError) -> NewNumbers? {
        guard let (coordinator, attached) = coordinated else {
            return try store.insert(
                &rows, merging: merging, author: author, contextName: contextName)
        }
        do throws(StoreError) {
            return try coordinator.writing(to: attached, isSame: true) {
                current throws(StoreError) in
                try (current as? any ColumnStore)?.insert(
                    &rows, merging: merging, author: author, contextName: contextName)
            }
        } catch {
            // Stores have come or gone, which a save by a request notices.
            if error.code == .unusable { return nil }
            throw error
        }
    }
}

extension ManagedObjectContext {
    /// Where new objects can be saved as columns, if anywhere.
    var columnPlace: ColumnPlace? {
        guard let coordinator else { return columnStore.map { ColumnPlace($0) } }
        // Who reads a pinned state has the stores of that state, whatever has become of them.
        guard parent == nil, root.generation?.snapshot == nil else { return nil }
        return ColumnPlace(coordinator, known: knownStores)
    }
}
