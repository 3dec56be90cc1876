// Values of models as Core Data's users have them: numbers in a class of Foundation, from which Swift casts to any type of number.

import CairnModel
import CairnObjects
import Foundation

extension Value {
    /// The value; nil for nil.
    var foundation: Any? {
        switch self {
        case .integer(let value): NSNumber(value: value)
        case .double(let value): NSNumber(value: value)
        case .float(let value): NSNumber(value: value)
        case .boolean(let value): NSNumber(value: value)
        case .decimal(let value): NSDecimalNumber(decimal: value)
        default: any
        }
    }

    /// The value of an attribute of a type; nil if it is none.
    init?(foundation any: Any?, as type: AttributeType) {
        guard let any, !(any is NSNull) else {
            self = .null
            return
        }
        let value: Value? =
            switch type {
            case .integer16, .integer32, .integer64: (any as? NSNumber).flatMap(Self.integer)
            case .boolean: (any as? NSNumber).map { .boolean($0.boolValue) }
            case .double: (any as? NSNumber).map { .double($0.doubleValue) }
            case .float: (any as? NSNumber).map { .float($0.floatValue) }
            case .decimal: (any as? Decimal).map { .decimal($0) } ?? Self.decimal(any)
            case .string: (any as? String).map { .string($0) }
            case .date: (any as? Date).map { .date($0) }
            case .binary, .transformable: (any as? Data).map { .binary($0) }
            case .uuid: (any as? UUID).map { .uuid($0) }
            case .uri: (any as? URL).map { .uri($0) }
            case .undefined, .objectID, .composite: nil
            }
        guard let value, value.fits(type) else { return nil }
        self = value
    }

    private static func integer(_ number: NSNumber) -> Value? {
        NSNumber(value: number.int64Value) == number ? .integer(number.int64Value) : nil
    }

    private static func decimal(_ any: Any) -> Value? {
        (any as? NSNumber).map { .decimal($0.decimalValue) }
    }
}
