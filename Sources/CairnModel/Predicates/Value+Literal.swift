// Exact conversions of values to other types.
//
// A number written with a decimal point is no exact double, so "exactly" means for fractions of floating-point
// types: the double that the number's text means, as in every programming language.

import FoundationEssentials

extension Value {
    /// This value converted to that type, or nil if the type has no such value.
    ///
    /// Whole numbers of any numeric type become integers and back; 0 and 1 become Booleans and back. Strings become dates
    /// (ISO 8601, see ``Foundation/Date``), UUIDs, URIs, and bytes (base64). Nil stays nil.
    package func literal(of type: AttributeType) -> Value? {
        if isNull || fits(type) { return self }
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = asInteger, Value.integer(number).fits(type) else { return nil }
            return .integer(number)
        case .decimal:
            guard case .decimal(let number) = asNumber, !number.isNaN else { return nil }
            return .decimal(number)
        case .double: return asDouble.map { .double($0) }
        case .float: return asFloat.map { .float($0) }
        case .boolean:
            switch asInteger {
            case 0: return .boolean(false)
            case 1: return .boolean(true)
            default: return nil
            }
        case .date:
            guard case .string(let text) = self, let date = Date(exactText: text) else {
                return nil
            }
            return .date(date)
        case .uuid:
            guard case .string(let text) = self, let uuid = UUID(uuidString: text) else {
                return nil
            }
            return .uuid(uuid)
        case .uri:
            guard case .string(let text) = self, !text.isEmpty, let uri = URL(string: text) else {
                return nil
            }
            return .uri(uri)
        case .binary:
            guard case .string(let text) = self, let bytes = Data(base64Encoded: text) else {
                return nil
            }
            return .binary(bytes)
        case .string, .transformable, .objectID, .composite, .undefined:
            return nil
        }
    }

    /// The same for a comparison with values of the type: a decimal that none of them equals is none, though one may be near.
    func exactLiteral(of type: AttributeType) -> Value? {
        guard let literal = literal(of: type) else { return nil }
        if case .decimal = self, type == .double || type == .float {
            return ValueComparison(operator: .equal).order(literal, self) == 0 ? literal : nil
        }
        return literal
    }

    /// The number as a decimal, if it is a number; else the value itself.
    var asNumber: Value {
        switch self {
        case .integer(let number): .decimal(Decimal(number))
        case .double(let number): Decimal(equalTo: number).map { .decimal($0) } ?? self
        case .float(let number): Decimal(equalTo: number).map { .decimal($0) } ?? self
        default: self
        }
    }

    private var asInteger: Int64? {
        switch self {
        case .integer(let number): return number
        case .boolean(let truth): return truth ? 1 : 0
        case .double(let number): return Int64(exactly: number)
        case .float(let number): return Int64(exactly: number)
        case .decimal(let number):
            guard let parts = DecimalText("\(number)"), parts.exponent >= 0 else { return nil }
            return Int64("\(number)")
        default: return nil
        }
    }

    private var asDouble: Double? {
        switch self {
        case .integer(let number): return Double(exactly: number)
        case .decimal(let number): return Double("\(number)").flatMap { $0.isFinite ? $0 : nil }
        case .float(let number): return Double(number)
        case .string(let text): return Self.special(text)
        default: return nil
        }
    }

    private var asFloat: Float? {
        switch self {
        case .integer(let number): return Float(exactly: number)
        case .decimal(let number): return Float("\(number)").flatMap { $0.isFinite ? $0 : nil }
        case .double(let number):
            // 0.1 is a different number in either type, but it is the same text.
            let near = Float(number)
            return Double(near) == number || near.description == number.description ? near : nil
        case .string(let text): return Self.special(text).map { Float($0) }
        default: return nil
        }
    }

    /// What no number can be written for.
    private static func special(_ text: String) -> Double? {
        switch text.lowercased() {
        case "nan": .nan
        case "inf", "infinity": .infinity
        case "-inf", "-infinity": -.infinity
        default: nil
        }
    }
}
