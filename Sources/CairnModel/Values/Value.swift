// One value of an attribute or to-one relationship, as it is passed between a model, an object layer and a store.
//
// Inside a store values lie in columns and inside an object in raw cells; this form is for the edges:
// defaults, limits, dictionaries of a batch, single values asked for by key.

public import FoundationEssentials

/// A single value: nil, or one of the types that attributes and to-one relationships can have.
///
/// Equality is exact. Two NaN doubles are equal here, and `0.0` differs from `-0.0`, because whether a value has changed
/// depends on bits, not on arithmetic.
public enum Value: Sendable {
    /// No value.
    case null
    /// Integer 16, 32 and 64.
    case integer(Int64)
    /// An exact decimal number.
    case decimal(Decimal)
    /// A double-precision number.
    case double(Double)
    /// A single-precision number.
    case float(Float)
    /// A string.
    case string(String)
    /// A Boolean.
    case boolean(Bool)
    /// A date, with the precision of `Date`.
    case date(Date)
    /// Bytes: binary attributes, and transformable ones in their archived form.
    case binary(Data)
    /// A UUID.
    case uuid(UUID)
    /// A URI.
    case uri(URL)
    /// The target of a to-one relationship.
    case objectID(ObjectID)

    /// Whether there is no value.
    public var isNull: Bool {
        if case .null = self { true } else { false }
    }
}

extension Value: Hashable {
    /// Whether both have the same type and the same bits; all NaNs are equal.
    public static func == (left: Value, right: Value) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.integer(let a), .integer(let b)): a == b
        case (.decimal(let a), .decimal(let b)): a == b
        case (.double(let a), .double(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
        case (.float(let a), .float(let b)): a.bitPattern == b.bitPattern || (a.isNaN && b.isNaN)
        // Bytes, not canonical equivalence: a store compares what it keeps.
        case (.string(let a), .string(let b)): a.hasSameBytes(as: b)
        case (.boolean(let a), .boolean(let b)): a == b
        case (.date(let a), .date(let b)):
            a.timeIntervalSinceReferenceDate == b.timeIntervalSinceReferenceDate
                || (a.timeIntervalSinceReferenceDate.isNaN
                    && b.timeIntervalSinceReferenceDate.isNaN)
        case (.binary(let a), .binary(let b)): a == b
        case (.uuid(let a), .uuid(let b)): a == b
        case (.uri(let a), .uri(let b)): a.absoluteString == b.absoluteString
        case (.objectID(let a), .objectID(let b)): a == b
        default: false
        }
    }

    /// Hashes what equality compares.
    public func hash(into hasher: inout Hasher) {
        switch self {
        case .null: hasher.combine(0)
        case .integer(let value): hasher.combine(value)
        case .decimal(let value): hasher.combine(value)
        case .double(let value): hasher.combine(value.isNaN ? .nan : value.bitPattern)
        case .float(let value): hasher.combine(value.isNaN ? .nan : value.bitPattern)
        case .string(let value): for byte in value.utf8 { hasher.combine(byte) }
        case .boolean(let value): hasher.combine(value)
        case .date(let value):
            let seconds = value.timeIntervalSinceReferenceDate
            hasher.combine(seconds.isNaN ? .nan : seconds == 0 ? 0 : seconds.bitPattern)
        case .binary(let value): hasher.combine(value)
        case .uuid(let value): hasher.combine(value)
        case .uri(let value): hasher.combine(value.absoluteString)
        case .objectID(let value): hasher.combine(value)
        }
    }
}

extension UInt64 {
    /// One bit pattern for every NaN, so that equal values hash alike.
    fileprivate static let nan: UInt64 = 0x7FF8_0000_0000_0000
}

extension UInt32 {
    /// One bit pattern for every NaN, so that equal values hash alike.
    fileprivate static let nan: UInt32 = 0x7FC0_0000
}

extension Value: CustomStringConvertible {
    /// The value as text for people.
    public var description: String {
        switch self {
        case .null: "nil"
        case .integer(let value): "\(value)"
        case .decimal(let value): "\(value)"
        case .double(let value): "\(value)"
        case .float(let value): "\(value)"
        case .string(let value): "\"\(value)\""
        case .boolean(let value): value ? "YES" : "NO"
        // Foundation's own text traps on a date that is no moment.
        case .date(let value): value.exactText
        case .binary(let value): "<\(value.count) bytes>"
        case .uuid(let value): value.uuidString
        case .uri(let value): value.absoluteString
        case .objectID(let value): "\(value)"
        }
    }
}

extension String {
    /// Whether both have the same bytes as UTF-8; `==` takes some that differ for equal.
    package func hasSameBytes(as other: String) -> Bool {
        let equal = utf8.withContiguousStorageIfAvailable { here in
            other.utf8.withContiguousStorageIfAvailable { there in
                here.count == there.count && here.elementsEqual(there)
            }
        }
        if case .some(.some(let equal)) = equal { return equal }
        return utf8.elementsEqual(other.utf8)
    }
}
