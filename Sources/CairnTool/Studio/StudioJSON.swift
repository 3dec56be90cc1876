// JSON from a page: numbers keep their text until their target type is known.
//
// Threads: values.

import CairnInspection
import FoundationEssentials

/// A JSON value.
indirect enum StudioJSON {
    case null
    case boolean(Bool)
    case number(String)
    case string(String)
    case array([StudioJSON])
    case object([String: StudioJSON])

    /// Parses one value.
    init(_ data: Data) throws(ListError) {
        var scanner = try JSONScanner(MemoryByteStream(Array(data)))
        self = try Self.value(&scanner)
        if try scanner.peek() != nil { throw scanner.error("the text goes on behind the value") }
    }

    private static func value(_ scanner: inout JSONScanner) throws(ListError) -> StudioJSON {
        var text: [UInt8] = []
        switch try scanner.kind() {
        case .null:
            try scanner.takeNull()
            return .null
        case .boolean: return .boolean(try scanner.takeBoolean())
        case .number:
            try scanner.takeNumber(into: &text)
            return .number(String(decoding: text, as: UTF8.self))
        case .string:
            try scanner.takeString(into: &text)
            return .string(String(decoding: text, as: UTF8.self))
        case .array:
            var (elements, isFirst) = ([StudioJSON](), true)
            try scanner.enterArray()
            while try scanner.nextElement(isFirst: &isFirst) {
                elements.append(try value(&scanner))
            }
            return .array(elements)
        case .object:
            var (members, isFirst) = ([String: StudioJSON](), true)
            try scanner.enterObject()
            while try scanner.nextKey(into: &text, isFirst: &isFirst) {
                let key = String(decoding: text, as: UTF8.self)
                guard members[key] == nil else { throw scanner.duplicate(text) }
                members[key] = try value(&scanner)
            }
            return .object(members)
        }
    }

    /// The value for output.
    var shown: JSONValue {
        switch self {
        case .null: .null
        case .boolean(let truth): .boolean(truth)
        case .number(let text):
            Int64(text).map { .integer($0) } ?? Double(text).map { .double($0) } ?? .string(text)
        case .string(let text): .string(text)
        case .array(let elements): .array(elements.map(\.shown))
        case .object(let members):
            .object(
                members.sorted { $0.key < $1.key }.map { .init(key: $0.key, value: $0.value.shown) }
            )
        }
    }
}
