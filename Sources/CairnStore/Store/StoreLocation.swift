// Where a store is, for those who open one without knowing its kind.

public import CairnModel

/// Where a store is, and how it is opened.
///
/// ```swift
/// let container = try PersistentContainer(at: .postgres("postgresql://db1/shop"), for: Product.self)
/// ```
///
/// The module of a kind of store adds its places here; a path is one of the log.
public protocol StoreLocation: Sendable {
    /// Opens the store there; one that is missing is made.
    ///
    /// - Throws: `StoreError` if the store cannot be opened, or not with this model.
    func openStore(_ schema: Schema) throws(StoreError) -> any PersistentStore
}
