// What a typed batch insert does about objects that no row names.

import CairnModel
public import CairnStore
public import FoundationEssentials

/// Synchronizing a list: what it no longer has is deleted, or marked.
///
/// ```swift
/// let request = BatchInsertRequest(Product.self, from: feed) { row, item in
///     row.serialCode = item.code
///     row.price = item.price
///     row.isActive = true
/// }
/// .markingMissing(\Product.isActive, as: false)
/// .withMissing(in: #Predicate<Product> { $0.shop?.name == "Corner" })
/// ```
extension BatchInsertRequest {
    /// The same request, which deletes the objects that no row names.
    public func deletingMissing() -> BatchInsertRequest {
        var request = self
        request.missing = .delete
        return request
    }

    /// A copy of the request that also sets a property in objects that no row identifies, in addition to properties that it
    /// already marks.
    ///
    /// A property that is stored neither directly nor by its raw value cannot be set this way: use the elements of a
    /// composite attribute.
    public func markingMissing<T: PersistentEntity, V>(_ path: KeyPath<T, V>, as value: V)
        -> BatchInsertRequest
    {
        guard let name = TypedEntity.of(T.self).key(of: path) else {
            return refusing("the key path does not end in a stored property", "\(path)")
        }
        guard let value = Value(typed: value) else {
            return refusing(
                "a batch insert cannot mark with a value of type \(V.self): set its elements, if it has any",
                name)
        }
        var request = self
        var values: [String: Value] = [:]
        if case .mark(let others) = missing { values = others }
        values[name] = value
        request.missing = .mark(values)
        return request
    }

    /// A copy of the request for which only objects whose stored state matches a predicate can be missing.
    ///
    /// If a part of the predicate is not supported by stores, executing the request fails.
    public func withMissing<T: PersistentEntity>(in scope: Predicate<T>) -> BatchInsertRequest {
        var request = self
        do throws(StoreError) {
            request.scope = try PredicateLowering.tree(scope)
        } catch {
            request.refusal = request.refusal ?? error
        }
        return request
    }

    private func refusing(_ message: String, _ key: String) -> BatchInsertRequest {
        var request = self
        request.refusal =
            request.refusal
            ?? StoreError(.invalidRequest, message, context: .init(entity: entityName, key: key))
        return request
    }
}
