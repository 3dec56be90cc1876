// What an untyped value is, and which value of an attribute's type it equals.

package import CairnModel
import Foundation

extension Value {
    /// The value that an untyped one stands for; nil if it is of no storable type.
    package init?(any: Any) {
        switch any {
        case let value as any AttributeValue: self = value.attributeValue
        case let value as ObjectID: self = .objectID(value)
        case is NSNull: self = .null
        case let value as UInt8: self = .integer(Int64(value))
        case let value as Int8: self = .integer(Int64(value))
        case let value as UInt16: self = .integer(Int64(value))
        case let value as UInt32: self = .integer(Int64(value))
        case let value as UInt:
            guard let exact = Int64(exactly: value) else { return nil }
            self = .integer(exact)
        case let value as UInt64:
            guard let exact = Int64(exactly: value) else { return nil }
            self = .integer(exact)
        case let value as [UInt8]: self = .binary(Data(value))
        case let value as NSNumber: self.init(number: value)
        default: return nil
        }
    }

    /// What a parsed JSON number or truth value is.
    private init(number: NSNumber) {
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "c"), UInt8(ascii: "B"): self = .boolean(number.boolValue)
        case UInt8(ascii: "d"): self = .double(number.doubleValue)
        case UInt8(ascii: "f"): self = .float(number.floatValue)
        default: self = .integer(number.int64Value)
        }
    }

    /// The same value as one of an attribute's type; nil if there is none that equals it.
    ///
    /// A double goes into a float attribute by rounding, since few decimal fractions are exact in either.
    package func converted(to type: AttributeType) -> Value? {
        if isNull { return .null }
        if fits(type) { return self }
        switch (self, type) {
        case (.integer(let value), .double): return Double(exactly: value).map(Value.double)
        case (.integer(let value), .float): return Float(exactly: value).map(Value.float)
        case (.integer(let value), .decimal): return .decimal(Decimal(value))
        case (.integer(let value), .boolean):
            return value == 0 || value == 1 ? .boolean(value == 1) : nil
        case (.boolean(let value), .integer16), (.boolean(let value), .integer32),
            (.boolean(let value), .integer64):
            return .integer(value ? 1 : 0)
        case (.double(let value), .integer16), (.double(let value), .integer32),
            (.double(let value), .integer64):
            guard let exact = Int64(exactly: value) else { return nil }
            return Value.integer(exact).converted(to: type)
        case (.double(let value), .float): return .float(Float(value))
        case (.float(let value), .double): return .double(Double(value))
        default: return nil
        }
    }
}
