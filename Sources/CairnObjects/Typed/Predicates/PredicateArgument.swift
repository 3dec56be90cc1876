// What can take the place of a placeholder in a format.

public import CairnModel
import CairnStore
public import FoundationEssentials

/// A value, or a list of values, for `%@` in a predicate format. Nil is a value, too.
///
/// An object is replaced by its id: `"shop == %@", shop` is the same as `"shop == %@", shop.objectID`. So it can be used
/// wherever the object can.
public protocol PredicateArgument {
    /// The argument as the format's reader takes it.
    var _predicateArgument: PredicateParser.Argument { get }
}

extension PredicateArgument where Self: PropertyValue {
    /// The argument as the format's reader takes it.
    public var _predicateArgument: PredicateParser.Argument { .value(attributeValue) }
}

extension Int: PredicateArgument {}
extension Int64: PredicateArgument {}
extension Int32: PredicateArgument {}
extension Int16: PredicateArgument {}
extension Bool: PredicateArgument {}
extension Double: PredicateArgument {}
extension Float: PredicateArgument {}
extension Decimal: PredicateArgument {}
extension String: PredicateArgument {}
extension Date: PredicateArgument {}
extension Data: PredicateArgument {}
extension UUID: PredicateArgument {}
extension URL: PredicateArgument {}

extension ObjectID: PredicateArgument {
    /// The argument as the format's reader takes it.
    public var _predicateArgument: PredicateParser.Argument { .value(.objectID(self)) }
}

extension ManagedObject: PredicateArgument {
    /// The object's id as the format's reader takes it.
    public final var _predicateArgument: PredicateParser.Argument { .value(.objectID(objectID)) }
}

extension Optional: PredicateArgument where Wrapped: PredicateArgument {
    /// The argument as the format's reader takes it.
    public var _predicateArgument: PredicateParser.Argument {
        self?._predicateArgument ?? .value(.null)
    }
}

extension Array: PredicateArgument where Element: PredicateArgument {
    /// The argument as the format's reader takes it.
    public var _predicateArgument: PredicateParser.Argument { list(self) }
}

extension Set: PredicateArgument where Element: PredicateArgument {
    /// The argument as the format's reader takes it.
    public var _predicateArgument: PredicateParser.Argument { list(self) }
}

/// The members of a list; those of lists in a list count as its own.
private func list(_ members: some Sequence<some PredicateArgument>) -> PredicateParser.Argument {
    .list(
        members.flatMap { member in
            switch member._predicateArgument {
            case .value(let value): [value]
            case .list(let values): values
            case .expression: preconditionFailure("a list has values, no expressions")
            }
        })
}

extension FetchRequest where Result: PersistentEntity {
    /// Asks for the objects of a class that match a format.
    ///
    /// ```swift
    /// let request = try FetchRequest<Product>(
    ///     where: "price < %@ AND category IN %@", 10, ["toys", "food"], sortBy: [SortKey("name")])
    /// ```
    ///
    /// - Throws: `PredicateFormatError` with the place.
    public init(
        where format: String, _ arguments: (any PredicateArgument)?..., sortBy keys: [SortKey] = []
    ) throws(PredicateFormatError) {
        self.init(
            predicate: try PredicateNode(
                format: format, arguments: arguments.map { $0?._predicateArgument ?? .value(.null) }
            ),
            sortBy: keys)
    }
}
