// The type of an untyped value, and its conversion to an attribute's type.

package import CairnModel
import Foundation

extension Value {
    /// The value for an untyped one; nil if its type cannot be stored.
    package init?(any: Any) {
        // The common types first and by their exact type, which is cheaper than a cast that fails.
        let type = Swift.type(of: any)
        if type == String.self, let value = any as? String {
            self = .string(value)
        } else if type == Int.self, let value = any as? Int {
            self = .integer(Int64(value))
        } else if type == Double.self, let value = any as? Double {
            self = .double(value)
        } else if type == Bool.self, let value = any as? Bool {
            self = .boolean(value)
        } else if type == Date.self, let value = any as? Date {
            self = .date(value)
        } else if type == Int64.self, let value = any as? Int64 {
            self = .integer(value)
        } else if type == Int32.self, let value = any as? Int32 {
            self = .integer(Int64(value))
        } else if type == UUID.self, let value = any as? UUID {
            self = .uuid(value)
        } else if type == Decimal.self, let value = any as? Decimal {
            self = .decimal(value)
        } else if type == Data.self, let value = any as? Data {
            self = .binary(value)
        } else if type is AnyClass {
            self.init(object: any)
        } else {
            self.init(uncommon: any)
        }
    }

    private init?(uncommon any: Any) {
        switch any {
        case let value as any AttributeValue: self = value.attributeValue
        case let value as any BinaryInteger: self.init(integer: value)
        case let value as Substring: self = .string(String(value))
        case let value as Character: self = .string(String(value))
        case let value as CGFloat: self = .double(Double(value))
        case let value as [UInt8]: self = .binary(Data(value))
        case let value as ObjectID: self = .objectID(value)
        case let value as any AnyOptional:
            guard let wrapped = value.wrapped else {
                self = .null
                return
            }
            self.init(any: wrapped)
        default: return nil
        }
    }

    /// A whole number; one that only a decimal number can hold becomes that.
    private init?(integer value: any BinaryInteger) {
        if let exact = Int64(exactly: value) {
            self = .integer(exact)
        } else if let exact = UInt64(exactly: value) {
            self = .decimal(Decimal(exact))
        } else {
            return nil
        }
    }

    /// What the classes of Foundation stand for.
    private init?(object: Any) {
        switch object {
        case is NSNull: self = .null
        case let value as NSDecimalNumber:
            self = .decimal(value.decimalValue)
        case let value as NSNumber: self.init(number: value)
        case is NSString:
            guard let value = object as? String else { return nil }
            self = .string(value)
        case is NSDate:
            guard let value = object as? Date else { return nil }
            self = .date(value)
        case is NSData:
            guard let value = object as? Data else { return nil }
            self = .binary(value)
        case is NSURL:
            guard let value = object as? URL else { return nil }
            self = .uri(value)
        case is NSUUID:
            guard let value = object as? UUID else { return nil }
            self = .uuid(value)
        case let value as any ValueObject: self = value.objectValue
        default: return nil
        }
    }

    /// What a number or truth value of parsed JSON is.
    private init(number: NSNumber) {
        #if canImport(Darwin)
            let isBoolean = CFGetTypeID(number) == CFBooleanGetTypeID()
        #else
            // Here `c` is the type of truth values alone: small integers are made wider ones.
            let isBoolean = number.objCType.pointee == CChar(bitPattern: UInt8(ascii: "c"))
        #endif
        if isBoolean {
            self = .boolean(number.boolValue)
            return
        }
        switch UInt8(bitPattern: number.objCType.pointee) {
        case UInt8(ascii: "d"): self = .double(number.doubleValue)
        case UInt8(ascii: "f"): self = .float(number.floatValue)
        case UInt8(ascii: "Q"):
            // Beyond the integers of a store: only a decimal or a double attribute can take it.
            let value = number.uint64Value
            self = Int64(exactly: value).map(Value.integer) ?? .decimal(Decimal(value))
        default: self = .integer(number.int64Value)
        }
    }

    /// The same value as one of an attribute's type; nil if there is none that equals it.
    ///
    /// Whole numbers and truth values convert exactly or not at all. Between numbers with a fraction, which
    /// are seldom exact in more than one form, the nearest is taken: a decimal or a double goes into a
    /// narrower kind by rounding, and a double is the shortest decimal that reads back as the same double,
    /// which is what its writer wrote.
    package func converted(to type: AttributeType) -> Value? {
        if isNull { return .null }
        if fits(type) { return self }
        switch self {
        case .integer(let value): return Value.converted(value, to: type)
        case .boolean(let value):
            switch type {
            case .integer16, .integer32, .integer64: return .integer(value ? 1 : 0)
            default: return nil
            }
        case .double(let value): return Value.converted(value, to: type)
        case .float(let value):
            switch type {
            case .double: return .double(Double(value))
            // Its own digits, not those of the double that it equals: 0.1, not 0.10000000149011612.
            case .decimal:
                return value.isFinite ? Decimal(string: "\(value)").map(Value.decimal) : nil
            default: return Value.converted(Double(value), to: type)
            }
        case .decimal(let value): return Value.converted(value, to: type)
        default: return nil
        }
    }

    private static func converted(_ value: Int64, to type: AttributeType) -> Value? {
        switch type {
        case .double: Double(exactly: value).map(Value.double)
        case .float: Float(exactly: value).map(Value.float)
        case .decimal: .decimal(Decimal(value))
        case .boolean: value == 0 || value == 1 ? .boolean(value == 1) : nil
        default: nil
        }
    }

    private static func converted(_ value: Double, to type: AttributeType) -> Value? {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let exact = Int64(exactly: value) else { return nil }
            return Value.integer(exact).converted(to: type)
        case .float: return .float(Float(value))
        case .decimal:
            guard value.isFinite, let decimal = Decimal(string: "\(value)"),
                Double("\(decimal)") == value
            else { return nil }
            return .decimal(decimal)
        default: return nil
        }
    }

    private static func converted(_ value: Decimal, to type: AttributeType) -> Value? {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let exact = DecimalCoding.integer(value) else { return nil }
            return Value.integer(exact).converted(to: type)
        case .double: return value.isNaN ? nil : Double("\(value)").map(Value.double)
        case .float: return value.isNaN ? nil : Float("\(value)").map(Value.float)
        default: return nil
        }
    }

    /// What kind of value it is, for errors.
    package var kindName: String {
        switch self {
        case .null: "nil"
        case .integer: "integer"
        case .decimal: "decimal number"
        case .double: "double"
        case .float: "float"
        case .string: "string"
        case .boolean: "boolean"
        case .date: "date"
        case .binary: "binary value"
        case .uuid: "UUID"
        case .uri: "URI"
        case .objectID: "object id"
        }
    }
}

/// An optional, seen through `Any`.
private protocol AnyOptional {
    var wrapped: Any? { get }
}

extension Optional: AnyOptional {
    fileprivate var wrapped: Any? { map { $0 as Any } }
}

/// An object that stands for a value.
package protocol ValueObject: AnyObject {
    /// The value.
    var objectValue: Value { get }
}
