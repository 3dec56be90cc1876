// The location of a store, for callers that do not know its kind.

public import CairnModel

/// The location of a store, and how to open it.
///
/// ```swift
/// let container = try PersistentContainer(at: .postgres("postgresql://db1/shop"), for: Product.self)
/// ```
///
/// The module of each kind of store adds its locations here; a path is the location of a log store.
public protocol StoreLocation: Sendable {
    /// Opens the store at this location, or creates it if it does not exist.
    ///
    /// - Throws: `StoreError` if the store cannot be opened, or not with this model.
    func openStore(_ schema: Schema) throws(StoreError) -> any PersistentStore
}
