// How the values of an attribute become those of another type without a mapping.

/// How values of one attribute type become values of another without anything being lost.
public enum ValueConversion: String, Sendable, Hashable, CaseIterable, Codable {
    /// A whole number into one with more bits.
    case widenedInteger
    /// A truth value into a whole number: 0 or 1.
    case booleanToInteger
    /// A number of single precision into the same of double precision.
    case floatToDouble

    /// The conversion; nil if there is none, or none is needed.
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

    /// The value that it becomes; nil stays nil.
    public func convert(_ value: Value) -> Value {
        switch (self, value) {
        case (.floatToDouble, .float(let number)): return .double(Double(number))
        case (.booleanToInteger, .boolean(let truth)): return .integer(truth ? 1 : 0)
        default: return value
        }
    }
}
