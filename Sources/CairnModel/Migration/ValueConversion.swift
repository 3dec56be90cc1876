// How values of an attribute are converted to another type without a mapping.

/// A lossless conversion of values of one attribute type to another.
public enum ValueConversion: String, Sendable, Hashable, CaseIterable, Codable {
    /// An integer to one with more bits.
    case widenedInteger
    /// A Boolean to an integer: 0 or 1.
    case booleanToInteger
    /// A single-precision number to the same double-precision number.
    case floatToDouble

    /// The conversion; nil if there is none or none is needed.
    public init?(from old: AttributeType, to new: AttributeType) {
        switch (old, new) {
        case (.integer16, .integer32), (.integer16, .integer64), (.integer32, .integer64):
            self = .widenedInteger
        case (.boolean, .integer16), (.boolean, .integer32), (.boolean, .integer64):
            self = .booleanToInteger
        case (.float, .double): self = .floatToDouble
        default: return nil
        }
    }

    /// The converted value. Nil stays nil.
    public func convert(_ value: Value) -> Value {
        switch (self, value) {
        case (.floatToDouble, .float(let number)): return .double(Double(number))
        case (.booleanToInteger, .boolean(let truth)): return .integer(truth ? 1 : 0)
        default: return value
        }
    }
}
