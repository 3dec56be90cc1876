// Foundation's sort descriptors for typed requests.

public import CairnModel
public import CairnObjects
import CairnStore
public import Foundation

extension FetchRequest where Result: PersistentEntity {
    /// Fetches the objects of a class that match a predicate, in the given order.
    ///
    /// ```swift
    /// let cheap = try context.fetch(
    ///     FetchRequest<Product>(#Predicate { $0.price < 10 }, sortBy: [.init(\.name)]))
    /// ```
    ///
    /// Strings are ordered by their bytes; for other orders there is ``SortKey/Comparison``.
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming the part that a store does not support: part of the
    ///   predicate, a key path that does not end in a stored property (possibly through to-one relationships), or a
    ///   custom comparison.
    @_disfavoredOverload
    public init(_ predicate: Predicate<Result>, sortBy order: [SortDescriptor<Result>]) throws {
        try self.init(predicate)
        try sort(by: order)
    }

    /// Fetches the objects of a class in the given order.
    ///
    /// ```swift
    /// let dearest = try FetchRequest<Product>(sortBy: [.init(\.price, order: .reverse)])
    /// ```
    ///
    /// - Throws: `StoreError` with `.invalidRequest` naming a key path that does not end in a stored property (possibly
    ///   through to-one relationships), or a custom comparison.
    @_disfavoredOverload
    public init(predicate: PredicateNode? = nil, sortBy order: [SortDescriptor<Result>]) throws {
        self.init(predicate: predicate)
        try sort(by: order)
    }

    private mutating func sort(by order: [SortDescriptor<Result>]) throws {
        sortDescriptors = try order.map { descriptor in
            guard let path = descriptor.keyPath else {
                throw StoreError(
                    .invalidRequest, "a store cannot sort by a custom comparison: use a SortKey",
                    context: .init(entity: entityName))
            }
            guard let key = Result._key(for: path) else {
                throw StoreError(
                    .invalidRequest, "\(path) does not end in a persistent property to sort by",
                    context: .init(entity: entityName))
            }
            if let comparator = descriptor.stringComparator, comparator != .lexical {
                throw StoreError(
                    .invalidRequest, "a store sorts strings by its own comparisons: use a SortKey",
                    context: .init(entity: entityName, key: key))
            }
            return SortKey(key, ascending: descriptor.order == .forward)
        }
    }
}
