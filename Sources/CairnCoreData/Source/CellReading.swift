// The values of columns of SQLite as values of attributes.
//
//   integers, booleans   whole numbers in range; 0 and 1
//   doubles, floats      numbers
//   decimals             numbers; SQLite keeps them as binary ones, whose shortest text is meant
//   dates                seconds since 2001
//   texts, URIs          texts
//   UUIDs                16 bytes
//   bytes                as they are. Of an attribute that may keep values in files the first byte says where the
//                        value is: 1 behind it, 2 in the file whose name follows, with a zero at its end.
//
// SQLite keeps values of any type in any column. What does not fit is no value, and a reason.

import CairnModel
import FoundationEssentials

/// A cell, read.
enum CellReading {
    case value(Value)
    /// The name of the file that holds it.
    case external(String)
    /// Why it is no value, without the value itself.
    case misfit(String)

    init(_ cell: SQLiteValue, as type: AttributeType, isExternal: Bool = false) {
        switch (cell, type) {
        case (.null, _): self = .value(.null)
        case (.notText, _): self = .misfit("it is not UTF-8")
        case (.integer(let number), .integer16), (.integer(let number), .integer32),
            (.integer(let number), .integer64):
            self = Self.integer(number, type)
        case (.real(let number), .integer16), (.real(let number), .integer32),
            (.real(let number), .integer64):
            guard let whole = Int64(exactly: number) else {
                self = .misfit("it is not a whole number")
                return
            }
            self = Self.integer(whole, type)
        case (.integer(let number), .boolean):
            self =
                number == 0 || number == 1
                ? .value(.boolean(number == 1)) : .misfit("it is neither 0 nor 1")
        case (.integer(let number), .double): self = .value(.double(Double(number)))
        case (.real(let number), .double): self = .value(.double(number))
        case (.integer(let number), .float): self = .value(.float(Float(number)))
        case (.real(let number), .float):
            let short = Float(number)
            self =
                short.isInfinite && number.isFinite
                ? .misfit("it is out of the range of a float") : .value(.float(short))
        case (.integer(let number), .decimal): self = .value(.decimal(Decimal(number)))
        case (.real(let number), .decimal):
            if let whole = Int64(exactly: number) {
                self = .value(.decimal(Decimal(whole)))
            } else {
                self = Self.decimal(number.description)
            }
        case (.text(let text), .decimal): self = Self.decimal(text)
        case (.integer(let number), .date):
            self = .value(.date(Date(timeIntervalSinceReferenceDate: Double(number))))
        case (.real(let number), .date):
            self =
                number.isFinite
                ? .value(.date(Date(timeIntervalSinceReferenceDate: number)))
                : .misfit("it is not a finite date")
        case (.text(let text), .string): self = .value(.string(text))
        case (.text(let text), .uri):
            // A URI that is not kept as it is written would not be found again.
            guard let uri = URL(string: text), uri.absoluteString == text else {
                self = .misfit("it is not a URI")
                return
            }
            self = .value(.uri(uri))
        case (.blob(let bytes), .uuid):
            self =
                bytes.count == 16
                ? .value(.uuid(UUID(bytes: bytes))) : .misfit("it does not have 16 bytes")
        case (.text(let text), .uuid):
            self = UUID(uuidString: text).map { .value(.uuid($0)) } ?? .misfit("it is not a UUID")
        case (.blob(let bytes), .binary), (.blob(let bytes), .transformable):
            self = isExternal ? Self.marked(bytes) : .value(.binary(Data(bytes)))
        case (.integer, _), (.real, _): self = .misfit("it is a number")
        case (.text, _): self = .misfit("it is a text")
        case (.blob, _): self = .misfit("it is bytes")
        }
    }

    private static func integer(_ number: Int64, _ type: AttributeType) -> CellReading {
        let value = Value.integer(number)
        return value.fits(type) ? .value(value) : .misfit("it is out of range")
    }

    private static func decimal(_ text: String) -> CellReading {
        Decimal(exactText: text).map { .value(.decimal($0)) }
            ?? .misfit("it is not a decimal number")
    }

    private static func marked(_ bytes: [UInt8]) -> CellReading {
        switch bytes.first {
        case 1: return .value(.binary(Data(bytes.dropFirst())))
        case 2:
            let name = bytes.dropFirst().prefix { $0 != 0 }
            guard let text = String(validating: name, as: UTF8.self), !text.isEmpty else {
                return .misfit("it does not name a file")
            }
            return .external(text)
        // Written before the attribute was one of the kind.
        default: return .value(.binary(Data(bytes)))
        }
    }
}

extension SQLiteValue {
    /// The value for people, short; bytes are only counted.
    var outline: String {
        switch self {
        case .null: "nil"
        case .integer(let number): "\(number)"
        case .real(let number): "\(number)"
        case .text(let text):
            text.count <= 40 ? "\"\(text)\"" : "\"\(text.prefix(40))…\""
        case .notText(let count): "\(count) bytes"
        case .blob(let bytes): "\(bytes.count) bytes"
        }
    }

    /// About how many bytes it takes.
    var byteCount: Int {
        switch self {
        case .null: 8
        case .integer, .real: 16
        case .text(let text): 32 + text.utf8.count
        case .notText: 8
        case .blob(let bytes): 32 + bytes.count
        }
    }
}
