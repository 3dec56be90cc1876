// One object in the file of a mapping model.
//
// Xcode keeps a mapping model as a Core Data XML store of its own objects: each has a type, an id, attributes as texts, and
// relationships as lists of ids.
//
//   1. Core Data writes what XML has another use for as `\u` and four hexadecimal digits, the lower byte of the UTF-16 unit first:
//      `\u2600` is &, `\u3c00` is <.
//   2. Bytes are written in base 64, in lines.
//
// Threads: a value.

import FoundationEssentials

/// An object in the file of a mapping model.
struct MappingFileObject {
    /// The types of objects that are understood.
    enum Kind: String {
        case model = "XDDEVMAPPINGMODEL"
        case entity = "XDDEVENTITYMAPPING"
        case attribute = "XDDEVATTRIBUTEMAPPING"
        case relationship = "XDDEVRELATIONSHIPMAPPING"
    }

    let id: String
    /// Its type, in capital letters.
    let type: String
    /// Where it begins, from 1.
    let line: Int
    private var attributes: [String: String] = [:]
    private var relationships: [String: [String]] = [:]

    var kind: Kind? { Kind(rawValue: type) }

    /// Reads an element; it has to have an id and a type.
    init(_ element: ModelElement) throws(ModelError) {
        var marks = Marks(element)
        id = try marks.require("id", of: nil)
        type = try marks.require("type", of: id).uppercased()
        line = element.line
        for child in element.children {
            var marks = Marks(child)
            switch child.name {
            case "attribute":
                let name = try marks.require("name", of: id).lowercased()
                guard attributes.updateValue(child.text, forKey: name) == nil else {
                    throw ModelError(
                        .malformed, "the object has the attribute \(name) twice", element: id,
                        line: child.line)
                }
            case "relationship":
                let name = try marks.require("name", of: id).lowercased()
                let ids = (marks.take("idrefs") ?? "").split(whereSeparator: \.isWhitespace)
                guard relationships.updateValue(ids.map(String.init), forKey: name) == nil else {
                    throw ModelError(
                        .malformed, "the object has the relationship \(name) twice", element: id,
                        line: child.line)
                }
            default: break  // Of no use here, whatever it says.
            }
        }
    }

    /// The text of an attribute; nil if there is none, or nothing in it.
    func text(_ name: String) -> String? {
        guard let text = attributes[name], !text.isEmpty else { return nil }
        return text.contains("\\u") ? Self.plain(text) : text
    }

    /// Whether an attribute is true; nil if it is not there.
    func flag(_ name: String) -> Bool? {
        text(name).map { Bool(modelText: $0) == true }
    }

    /// The bytes of an attribute; nil if there is none, or nothing in it.
    ///
    /// - Parameter element: what the error is about.
    func bytes(_ name: String, of element: String) throws(ModelError) -> [UInt8]? {
        guard let text = attributes[name] else { return nil }
        let packed = text.utf8.filter { $0 > 0x20 }
        if packed.isEmpty { return nil }
        guard let data = Data(base64Encoded: Data(packed)) else {
            throw ModelError(
                .malformed, "\(name) is not written in base64", element: element, line: line)
        }
        return Array(data)
    }

    /// The ids that a relationship leads to.
    func ids(_ name: String) -> [String] { relationships[name] ?? [] }

    /// A text without Core Data's escapes. What only looks like one, and what says no character, stays as it is.
    private static func plain(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var plain: [UInt8] = []
        plain.reserveCapacity(bytes.count)
        var position = 0
        while position < bytes.count {
            if let (character, length) = character(bytes, position) {
                plain += character.utf8
                position += length
            } else {
                plain.append(bytes[position])
                position += 1
            }
        }
        return String(decoding: plain, as: UTF8.self)
    }

    /// The character of the escape at a place, or of the two that are its halves, and how long they are.
    private static func character(_ bytes: [UInt8], _ position: Int) -> (String, Int)? {
        guard let first = unit(bytes, position)?.byteSwapped else { return nil }
        if let character = String(validating: [first], as: UTF16.self) { return (character, 6) }
        guard let second = unit(bytes, position + 6)?.byteSwapped else { return nil }
        return String(validating: [first, second], as: UTF16.self).map { ($0, 12) }
    }

    /// The number of an escape at a place.
    private static func unit(_ bytes: [UInt8], _ position: Int) -> UInt16? {
        guard position + 6 <= bytes.count, bytes[position] == UInt8(ascii: "\\"),
            bytes[position + 1] == UInt8(ascii: "u"), bytes[position + 2] != UInt8(ascii: "+"),
            bytes[position + 2] != UInt8(ascii: "-")
        else { return nil }
        return UInt16(
            String(decoding: bytes[position + 2..<position + 6], as: UTF8.self), radix: 16)
    }
}
