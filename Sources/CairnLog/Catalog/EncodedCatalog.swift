// A catalog with its document: encoding takes longer than creating a store in memory otherwise does.
//
// Threads: plain values.

package import CairnStore

package struct EncodedCatalog: Sendable {
    package let catalog: Catalog
    /// The JSON of a schema frame.
    let document: [UInt8]

    package init(_ catalog: Catalog) throws(StoreError) {
        self.catalog = catalog
        document = try CatalogDocument.encode(catalog)
    }
}
