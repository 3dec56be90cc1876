// Converts cells of a list to values of an attribute's type: exactly, or not at all, with the reason.
//
//   integers    whole numbers in range, however they are written: 10, 10.0, 1e1; true and false as 1 and 0
//   double      whole numbers if a double represents them exactly; others as the nearest double, which their
//               writer meant
//   float       the same
//   decimal     every digit
//   boolean     true, false, 0, 1; strings also yes and no, in any case
//   string      strings unchanged; numbers and truth values as they are written
//   date        strings in ISO 8601, a day or day and time; or seconds as they are printed if ISO 8601 has no
//               form, as in "1e+16 s since 2001"; never a number, because its unit is unknown
//   (a key value is never rounded: a key rejects values that a double, float or date cannot distinguish from
//   their neighbours)
//   uuid, uri   their string form; binary: base 64
//
// A string that looks like a number is one, unless it has a leading zero, a plus sign or spaces.

package import CairnModel
import FoundationEssentials

/// The value of a cell, or the reason why there is none.
package enum CellConversion: Sendable, Equatable {
    case value(Value)
    case failure(String)
}

extension ListRecord {
    /// Converts a cell to a value of a type.
    ///
    /// With `keepsNested` a string attribute accepts objects and arrays as JSON text; with `isKey` the
    /// attribute identifies objects, so that two values must not become one.
    package func value(
        of cell: Cell, as type: AttributeType, keepsNested: Bool = false, isKey: Bool = false
    ) -> CellConversion {
        switch cell.kind {
        case .null: return .value(.null)
        case .nested:
            if type == .string, keepsNested { return .value(.string(text(cell))) }
            return .failure("it is an object or an array, but the attribute holds single values")
        case .no, .yes:
            let truth = cell.kind == .yes
            switch type {
            case .boolean: return .value(.boolean(truth))
            case .integer16, .integer32, .integer64: return .value(.integer(truth ? 1 : 0))
            case .string: return .value(.string(truth ? "true" : "false"))
            default: return .failure("it is true or false")
            }
        case .number, .string, .text:
            if type == .string { return .value(.string(text(cell))) }
            return bytes.withUnsafeBufferPointer {
                Self.convert(
                    UnsafeBufferPointer(rebasing: $0[cell.range]), isNumber: cell.kind == .number,
                    isKey: isKey, type)
            }
        }
    }

    fileprivate static func convert(
        _ text: UnsafeBufferPointer<UInt8>, isNumber: Bool, isKey: Bool, _ type: AttributeType
    ) -> CellConversion {
        switch type {
        case .integer16, .integer32, .integer64:
            guard let number = NumberText(text) else { return noNumber(text) }
            switch number.whole {
            case .fraction: return .failure("it has a fraction")
            case .tooLarge: return .failure("it is out of range")
            case .value(let integer):
                let value = Value.integer(integer)
                return value.fits(type) ? .value(value) : .failure("it is out of range")
            }
        case .double: return double(text, isKey: isKey)
        case .float: return float(text, isKey: isKey)
        case .decimal:
            guard let number = NumberText(text) else { return noNumber(text) }
            guard let value = Decimal(exactText: number.string) else {
                return .failure("it has more digits than a decimal can hold")
            }
            return .value(.decimal(value))
        case .boolean: return boolean(text, isNumber: isNumber)
        case .date:
            if isNumber {
                return .failure(
                    "a number is ambiguous as a date: write 2024-05-01 or"
                        + " 2024-05-01T12:00:00Z, or make the attribute a number")
            }
            let text = String(decoding: text, as: UTF8.self)
            guard let date = Date(exactText: text) else {
                return .failure("a date is written as 2024-05-01 or 2024-05-01T12:00:00Z")
            }
            if isKey, !Date.isTold(byText: text) {
                return .failure(
                    "a date would round it, and a key must not be rounded: make the attribute a string"
                )
            }
            return .value(.date(date))
        case .uuid, .uri, .binary:
            if isNumber { return .failure("it is a number") }
            return .init(String(decoding: text, as: UTF8.self), type)
        case .transformable: return .failure("a list cannot hold transformable values")
        case .string, .undefined, .objectID, .composite:
            return .failure("a list cannot hold values of this type")
        }
    }

    /// The advice for a key that a type would round.
    private static let exactKeys = "make the attribute a decimal or a string"

    private static func double(_ text: UnsafeBufferPointer<UInt8>, isKey: Bool)
        -> CellConversion
    {
        guard let number = NumberText(text) else {
            guard case .double(let value)? = special(text) else { return noNumber(text) }
            return .value(.double(value))
        }
        guard let value = number.floating(Double.self) else {
            return .failure("a double cannot hold it exactly")
        }
        if isKey, !number.isTold(by: Double.self) {
            return .failure(
                "a double would round it, and a key must not be rounded: \(Self.exactKeys)")
        }
        return .value(.double(value))
    }

    private static func float(_ text: UnsafeBufferPointer<UInt8>, isKey: Bool)
        -> CellConversion
    {
        guard let number = NumberText(text) else {
            guard case .double(let value)? = special(text) else { return noNumber(text) }
            return .value(.float(Float(value)))
        }
        guard let value = number.floating(Float.self) else {
            return .failure("a float cannot hold it exactly")
        }
        if isKey, !number.isTold(by: Float.self) {
            return .failure(
                "a float would round it, and a key must not be rounded: \(Self.exactKeys)")
        }
        return .value(.float(value))
    }

    /// Parses the doubles that no number can be written for, as in the canonical export.
    private static func special(_ text: UnsafeBufferPointer<UInt8>) -> Value? {
        switch String(decoding: text, as: UTF8.self) {
        case "NaN": .double(.nan)
        case "Infinity": .double(.infinity)
        case "-Infinity": .double(-.infinity)
        default: nil
        }
    }

    private static func boolean(_ text: UnsafeBufferPointer<UInt8>, isNumber: Bool)
        -> CellConversion
    {
        if let number = NumberText(text) {
            switch number.whole {
            case .value(0): return .value(.boolean(false))
            case .value(1): return .value(.boolean(true))
            default: return .failure("the only numbers valid for a boolean are 0 and 1")
            }
        }
        switch String(decoding: text, as: UTF8.self).lowercased() {
        case "true", "yes": return .value(.boolean(true))
        case "false", "no": return .value(.boolean(false))
        default: return .failure("a boolean is written as true, false, yes, no, 1 or 0")
        }
    }

    /// Returns the reason why a string is not a number.
    private static func noNumber(_ text: UnsafeBufferPointer<UInt8>) -> CellConversion {
        guard let first = text.first, let last = text.last else {
            return .failure("an empty text is not a number")
        }
        if first == 0x20 || last == 0x20 {
            return .failure("it contains spaces, so it is a string")
        }
        if first == UInt8(ascii: "+") { return .failure("it has a plus sign, so it is a string") }
        let digits = first == UInt8(ascii: "-") ? text.dropFirst() : text[...]
        if digits.count > 1, digits.first == 0x30, digits.allSatisfy({ 0x30...0x39 ~= $0 }) {
            return .failure("it has leading zeros, so it is a string")
        }
        return .failure("it is not a number")
    }
}

extension CellConversion {
    /// Returns whether a decimal represents every digit of a number.
    static func isDecimal(_ number: NumberText) -> Bool {
        Decimal(exactText: number.string) != nil
    }

    /// Converts a string to a UUID, URI or bytes.
    fileprivate init(_ text: String, _ type: AttributeType) {
        switch type {
        case .uuid:
            self = UUID(uuidString: text).map { .value(.uuid($0)) } ?? .failure("it is not a UUID")
        case .uri:
            // A fetch would not find a URI that is stored in another spelling.
            guard !text.isEmpty, let uri = URL(string: text), uri.absoluteString == text else {
                self = .failure("it is not a URI")
                return
            }
            self = .value(.uri(uri))
        default:
            self =
                Data(base64Encoded: text).map { .value(.binary($0)) }
                ?? .failure("binary data is written in base64")
        }
    }
}

extension CellConversion {
    /// Converts a string that a user typed, like a cell of CSV.
    package init(text: String, as type: AttributeType, isKey: Bool = false) {
        if type == .string {
            self = .value(.string(text))
            return
        }
        var text = text
        self = text.withUTF8 { ListRecord.convert($0, isNumber: false, isKey: isKey, type) }
    }
}
