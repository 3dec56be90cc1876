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

    /// The same request, which lets a property have a value in objects that no row names. If it marks other properties, this one
    /// besides.
    ///
    /// What is stored neither as it is nor by its raw value cannot be marked so: of a composite attribute take the elements.
    public func markingMissing<T: PersistentEntity, V>(_ path: KeyPath<T, V>, as value: V)
        -> BatchInsertRequest
    {
        guard let name = TypedEntity.of(T.self).key(of: path) else {
            return refusing("the key path does not lead to a stored property", "\(path)")
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

    /// The same request, for which only objects that match a predicate as they are stored can be missing.
    ///
    /// A part of the predicate that no store can answer is an error when the request is carried out.
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
