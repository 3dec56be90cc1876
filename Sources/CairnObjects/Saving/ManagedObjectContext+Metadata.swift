// Metadata of stores that wait for a save.

import CairnStore

extension ManagedObjectContext {
    /// Writes metadata that wait: for a save without changes.
    @inline(never)
    func writeWaitingMetadata() throws(StoreError) {
        if parent != nil { return }
        guard let coordinator else {
            guard let store = store as? any MetadataStore, store.hasMetadataToWrite else { return }
            return try store.writeMetadata()
        }
        for store in coordinator.attached where store.hasMetadataToWrite {
            try coordinator.writeMetadata(for: store.store)
        }
    }
}
