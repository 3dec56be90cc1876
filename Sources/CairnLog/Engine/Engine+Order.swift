// Upgrades stores that were created before the order of ordered relationships was stored.
//
// Their schema has no property for it. Read-only, their lists are in the order of the numbers, which is the
// order of lists without keys. Opened for writing, they get another schema frame with a larger version: it
// keeps the previous properties under their numbers and appends those of the order keys. No row is written
// for it.

import CairnFormat
import CairnModel
import CairnStore

extension Engine {
    /// Adds the properties for order keys to the store if it has none.
    func makePlacesForOrder() throws(StoreError) {
        let catalog = registry.read { $0.catalog }
        guard !isReadOnly, sizes.keepsOrder, !catalog.keepsOrder else { return }
        _ = try commit(author: nil, contextName: nil) { builder throws(StoreError) in
            try builder.makePlacesForOrder()
        }
        // From here on, segments are retired in a segment that names the new schema.                    F-723
        try rollSegment()
    }
}

extension CommitBuilder {
    /// Writes the schema with the properties of order keys. The first frame of a commit.
    fileprivate mutating func makePlacesForOrder() throws(StoreError) {
        guard catalog.version < UInt32.max else {
            throw .damaged("the schema's version is the last possible one")
        }
        let catalog = catalog.withOrder
        if let excess = catalog.excess { throw StoreError(.invalidRequest, excess) }
        let json = try CatalogDocument.encode(catalog)
        let place = try log.append(.schema) { writer throws(StoreError) in
            json.withUnsafeBytes { writer.append($0) }
        }
        state.catalog = catalog.placed(at: place)
        hasChanges = true
    }
}
