// The order of two values of one type, if the type is ordered.

import FoundationEssentials

/// The order of two values.
public enum ValueOrder: Sendable, Hashable {
    /// The first is smaller.
    case ascending
    /// Neither is smaller.
    case same
    /// The first is greater.
    case descending
}

extension Value {
    /// Compares this value with another: nil if one of them is nil or NaN, the types differ, or the type is not ordered.
    /// Strings are compared by their UTF-8 bytes.
    public func compare(to other: Value) -> ValueOrder? {
        switch (self, other) {
        case (.integer(let a), .integer(let b)): Self.order(a, b)
        case (.decimal(let a), .decimal(let b)):
            a.isNaN || b.isNaN ? nil : Self.order(a, b)
        case (.double(let a), .double(let b)): a.isNaN || b.isNaN ? nil : Self.order(a, b)
        case (.float(let a), .float(let b)): a.isNaN || b.isNaN ? nil : Self.order(a, b)
        case (.date(let a), .date(let b)):
            Value.double(a.timeIntervalSinceReferenceDate)
                .compare(to: .double(b.timeIntervalSinceReferenceDate))
        case (.string(let a), .string(let b)):
            if a.utf8.elementsEqual(b.utf8) {
                .same
            } else {
                a.utf8.lexicographicallyPrecedes(b.utf8) ? .ascending : .descending
            }
        default: nil
        }
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> ValueOrder {
        if a < b { return .ascending }
        return a > b ? .descending : .same
    }
}
