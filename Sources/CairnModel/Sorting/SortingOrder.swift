// The order of two values of one kind, the same in memory and in stores: strings, URIs, bytes and UUIDs by their bytes,
// numbers and dates by value with NaN last, false before true, and nil before everything. Numbers of different types are
// ordered by value too: those are equal that are the same group key (see `Value+Groups`).

import FoundationEssentials

/// The order of values.
package enum SortingOrder {
    /// Negative, zero or positive. Values of different kinds are ordered by kind.
    package static func compare(_ left: Value, _ right: Value) -> Int {
        switch (left, right) {
        case (.null, .null): 0
        case (.null, _): -1
        case (_, .null): 1
        case (.integer(let a), .integer(let b)): order(a, b)
        case (.double(let a), .double(let b)): order(a, b)
        case (.float(let a), .float(let b)): order(a, b)
        case (.date(let a), .date(let b)):
            order(a.timeIntervalSinceReferenceDate, b.timeIntervalSinceReferenceDate)
        case (.decimal(let a), .decimal(let b)):
            a.isNaN || b.isNaN ? order(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) : order(a, b)
        case (.boolean(let a), .boolean(let b)): order(a ? 1 : 0, b ? 1 : 0)
        case (.string(let a), .string(let b)): ValueComparison.bytes(a.utf8, b.utf8)
        case (.uri(let a), .uri(let b)):
            ValueComparison.bytes(a.absoluteString.utf8, b.absoluteString.utf8)
        case (.binary(let a), .binary(let b)): ValueComparison.bytes(a, b)
        case (.uuid(let a), .uuid(let b)):
            withUnsafeBytes(of: a.uuid) { a in
                withUnsafeBytes(of: b.uuid) { b in ValueComparison.bytes(a, b) }
            }
        case (.objectID(let a), .objectID(let b)): compare(a, b)
        default: order(left, right)
        }
    }

    /// The same where nil may come after everything.
    package static func compare(_ left: Value, _ right: Value, nilIsGreatest: Bool) -> Int {
        let order = compare(left, right)
        return nilIsGreatest && (left.isNull || right.isNull) ? -order : order
    }

    /// Of two values of different types.
    private static func order(_ left: Value, _ right: Value) -> Int {
        guard left.numberType != 0, right.numberType != 0 else {
            return order(kind(left), kind(right))
        }
        // As groups tell them apart: without that the order of three types would have circles.
        let (one, other) = (left.groupIdentity, right.groupIdentity)
        return Number.order(one, other) ?? order(one.isNaN ? 1 : 0, other.isNaN ? 1 : 0)
    }

    /// By number, and objects of several stores with one number by their store; temporary ids come after all others.
    package static func compare(_ left: ObjectID, _ right: ObjectID) -> Int {
        if left.isTemporary != right.isTemporary { return left.isTemporary ? 1 : -1 }
        if left.reference != right.reference { return left.reference < right.reference ? -1 : 1 }
        return left.store == right.store
            ? 0 : compare(Value.uuid(left.store), Value.uuid(right.store))
    }

    private static func order<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }

    private static func order<T: FloatingPoint>(_ a: T, _ b: T) -> Int {
        if a.isNaN || b.isNaN { return order(a.isNaN ? 1 : 0, b.isNaN ? 1 : 0) }
        return a < b ? -1 : a == b ? 0 : 1
    }

    private static func kind(_ value: Value) -> Int {
        switch value {
        case .null: 0
        case .integer, .decimal, .double, .float: 1
        case .string: 5
        case .boolean: 6
        case .date: 7
        case .binary: 8
        case .uuid: 9
        case .uri: 10
        case .objectID: 11
        }
    }
}

extension Value {
    fileprivate var isNaN: Bool {
        if case .double(let number) = self { number.isNaN } else { false }
    }
}
