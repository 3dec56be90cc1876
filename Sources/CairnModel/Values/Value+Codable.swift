// How a value is encoded in the model that a store keeps, and in one for people.
//
// A store keeps the bits of doubles, floats and dates: NaN and the infinities have no form in JSON, and no digit may be lost.
// For people they are texts, from which the same bits are read.

import FoundationEssentials

extension Value: Codable {
    private enum Key: String, CodingKey {
        case integer, decimal, double, float, string, boolean, date, binary, uuid, uri, objectID
    }

    /// Decodes a value by the one key that names its type. No key means nil.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: Key.self)
        guard let key = container.allKeys.first else {
            self = .null
            return
        }
        switch key {
        case .integer: self = .integer(try container.decode(Int64.self, forKey: key))
        case .decimal:
            let text = try container.decode(String.self, forKey: key)
            guard let value = Decimal(exactText: text) else {
                throw DecodingError.dataCorruptedError(
                    forKey: key, in: container, debugDescription: "\(text) is not a decimal number")
            }
            self = .decimal(value)
        case .double:
            let number = try container.bits(.double, "a number", { Double($0) }) {
                Double(bitPattern: $0)
            }
            self = .double(number)
        case .float:
            let number = try container.bits(.float, "a number", { Float($0) }) {
                Float(bitPattern: $0)
            }
            self = .float(number)
        case .string: self = .string(try container.decode(String.self, forKey: key))
        case .boolean: self = .boolean(try container.decode(Bool.self, forKey: key))
        case .date:
            let date = try container.bits(.date, "a date", { Date(exactText: $0) }) {
                Date(timeIntervalSinceReferenceDate: Double(bitPattern: $0))
            }
            self = .date(date)
        case .binary: self = .binary(try container.decode(Data.self, forKey: key))
        case .uuid: self = .uuid(try container.decode(UUID.self, forKey: key))
        case .uri: self = .uri(try container.decode(URL.self, forKey: key))
        case .objectID: self = .objectID(try container.decode(ObjectID.self, forKey: key))
        }
    }

    /// Encodes a value with its type as the key.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        switch self {
        case .null: break
        case .integer(let value): try container.encode(value, forKey: .integer)
        case .decimal(let value): try container.encode("\(value)", forKey: .decimal)
        case .double(let value) where encoder.writesTexts:
            try container.encode("\(value)", forKey: .double)
        case .float(let value) where encoder.writesTexts:
            try container.encode("\(value)", forKey: .float)
        case .date(let value) where encoder.writesTexts:
            try container.encode(value.exactText, forKey: .date)
        case .double(let value): try container.encode(value.bitPattern, forKey: .double)
        case .float(let value): try container.encode(value.bitPattern, forKey: .float)
        case .string(let value): try container.encode(value, forKey: .string)
        case .boolean(let value): try container.encode(value, forKey: .boolean)
        case .date(let value):
            try container.encode(value.timeIntervalSinceReferenceDate.bitPattern, forKey: .date)
        case .binary(let value): try container.encode(value, forKey: .binary)
        case .uuid(let value): try container.encode(value, forKey: .uuid)
        case .uri(let value): try container.encode(value, forKey: .uri)
        case .objectID(let value): try container.encode(value, forKey: .objectID)
        }
    }

    /// Reads a value from plain JSON.
    init(plain json: inout PlainJSON) throws(NotPlainJSON) {
        self = .null
        var keys = try json.object()
        guard let key = try json.key(&keys) else { return }
        switch Key(rawValue: key) {
        case .integer: self = .integer(try json.int64())
        case .double: self = .double(Double(bitPattern: try json.uint64()))
        case .float: self = .float(Float(bitPattern: try json.uint32()))
        case .string: self = .string(try json.string())
        case .boolean: self = .boolean(try json.bool())
        case .date:
            self = .date(
                Date(timeIntervalSinceReferenceDate: Double(bitPattern: try json.uint64())))
        case .decimal, .binary, .uuid, .uri, .objectID, nil: throw NotPlainJSON()
        }
        guard try json.key(&keys) == nil else { throw NotPlainJSON() }
    }
}

extension KeyedDecodingContainer {
    /// A value that is written as its bits, or as a text for people.
    fileprivate func bits<Bits: FixedWidthInteger & Decodable, Result>(
        _ key: Key, _ what: String, _ read: (String) -> Result?, _ make: (Bits) -> Result
    ) throws -> Result {
        guard let text = try? decode(String.self, forKey: key) else {
            return make(try decode(Bits.self, forKey: key))
        }
        guard let value = read(text) else {
            throw DecodingError.dataCorruptedError(
                forKey: key, in: self, debugDescription: "\(text) is not \(what)")
        }
        return value
    }
}
