// A row of a fetch request that asks for values.
//
// The rows of one answer share their names.
//
// Threads: a value.

public import CairnModel

/// Values by name: one row of the answer to a `FetchRequest<DictionaryResult>`.
///
/// ```swift
/// for row in try context.fetch(request) {
///     print(row["email"] as? String ?? "", row["count"] as? Int ?? 0)
/// }
/// ```
public struct DictionaryResult: Sendable, Hashable {
    private let columns: Columns
    /// The values, in the order of ``names``.
    public let values: [Value]

    /// The names of all rows of an answer.
    final class Columns: Sendable {
        let names: [String]
        let indices: [String: Int]

        init(_ names: [String]) {
            self.names = names
            indices = Dictionary(
                names.enumerated().map { ($1, $0) }, uniquingKeysWith: { first, _ in first })
        }
    }

    init(_ columns: Columns, _ values: [Value]) {
        self.columns = columns
        self.values = values
    }

    /// The names, in the order of the request's ``FetchRequest/propertiesToFetch``.
    public var names: [String] { columns.names }

    /// The value for a name, as in ``ManagedObject/subscript(_:)``: integers as `Int`, other attributes as their Swift
    /// type, an object as its `ObjectID`. Nil also for a name that the row does not have.
    ///
    /// - Complexity: O(1).
    public subscript(_ name: String) -> Any? { value(name).any }

    /// The value of a name; `.null` also for a name that the row does not have.
    ///
    /// - Complexity: O(1).
    public func value(_ name: String) -> Value { columns.indices[name].map { values[$0] } ?? .null }

    /// The values that are not nil, by their names.
    ///
    /// - Complexity: O(n) in the number of the values.
    public var dictionary: [String: Any] {
        var dictionary: [String: Any] = [:]
        for (name, value) in zip(names, values) { dictionary[name] = value.any }
        return dictionary
    }

    /// Whether two rows have the same names, in the same order, with the same values.
    public static func == (left: DictionaryResult, right: DictionaryResult) -> Bool {
        left.values == right.values
            && (left.columns === right.columns || left.names == right.names)
    }

    /// Adds the values to a hash.
    public func hash(into hasher: inout Hasher) { hasher.combine(values) }
}

extension DictionaryResult: CustomStringConvertible {
    /// The names and their values, as a predicate format writes them.
    public var description: String {
        "[\(zip(names, values).map { "\($0): \($1.predicateFormat)" }.joined(separator: ", "))]"
    }
}
