// What a fetch request can give.

public import CairnModel

/// A kind of result of a ``FetchRequest``: ``ManagedObject`` and its subclasses, `ObjectID`, ``DictionaryResult``, or
/// `Int` for a number alone.
///
/// ```swift
/// let products = try context.fetch(FetchRequest<Product>())
/// let ids = try context.fetch(FetchRequest<ObjectID>(entityName: "Product"))
/// let rows = try context.fetch(FetchRequest<DictionaryResult>(entityName: "Product"))
/// let count = try context.fetch(FetchRequest<Int>(entityName: "Product"))[0]
/// ```
public protocol FetchRequestResult {}

extension ObjectID: FetchRequestResult {}
extension DictionaryResult: FetchRequestResult {}
extension Int: FetchRequestResult {}

/// The kinds of results, with the numbers that Core Data has for them.
public enum FetchRequestResultType: Int, Sendable, Hashable, CaseIterable, Codable {
    /// Objects, or faults.
    case managedObject = 0
    /// The ids of objects.
    case managedObjectID = 1
    /// Values by name.
    case dictionary = 2
    /// One number: how many there are.
    case count = 4
}

extension FetchRequest {
    /// The kind of results, as determined by the request's type.
    public var resultType: FetchRequestResultType {
        if Result.self == ObjectID.self { return .managedObjectID }
        if Result.self == DictionaryResult.self { return .dictionary }
        if Result.self == Int.self { return .count }
        return .managedObject
    }
}
