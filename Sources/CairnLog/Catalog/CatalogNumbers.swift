// The numbers that a catalog can assign to new elements: those that have never been used.           Format 70

/// The next numbers of a store's catalog. Numbers of removed entities and properties are never reused, so
/// that blocks cannot be confused.
package struct CatalogNumbers: Sendable, Hashable {
    /// The id of the next entity.
    package var entity: UInt32 = 1
    /// The id of the next tree.
    package var tree: UInt32 = 1
    /// By tree of the catalog: the id of its next property.
    package var properties: [UInt32] = []
    /// The checksums of the versions of the model that the store has left, oldest first.
    package private(set) var leftVersions: [String] = []

    package init() {}

    /// The numbers after those of a catalog: valid if nothing has been removed yet.
    init(behind entities: [Catalog.StoredEntity], _ trees: [Catalog.Tree]) {
        entity = (entities.map(\.id).max() ?? 0) + 1
        tree = (trees.map(\.id).max() ?? 0) + 1
        properties = trees.indices.map { tree in
            let ids = entities.lazy.filter { $0.tree == tree }
                .flatMap { $0.allColumns.map(\.propertyID) }
            return (ids.max() ?? 0) + 1
        }
    }

    /// The maximum number of left versions that are kept.
    private static let mostLeftVersions = 256

    /// Sets the versions of the model that were left.
    mutating func setLeftVersions(_ versions: [String]) {
        leftVersions = versions.suffix(Self.mostLeftVersions)
    }

    /// Records that a version of the model was left for another. If the other one was left before, it and
    /// those after it no longer count as left.
    mutating func leave(_ version: String, for next: String) {
        if let place = leftVersions.firstIndex(of: next) {
            leftVersions.removeSubrange(place...)
        } else if version != next {
            setLeftVersions(leftVersions + [version])
        }
    }
}
