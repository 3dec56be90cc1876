// The canonical lines of objects from their values: for stores without a log, and for other data.   Format 80
//
// Threads: one.

import CairnFormat
package import CairnModel
import CairnStore
import FoundationEssentials

/// Formats canonical JSON lines, and passes them in pieces of whole lines.
package struct CanonicalLines: ~Copyable {
    private static let pieceBytes = 1 << 20
    private var writer = ByteWriter(capacity: pieceBytes)

    package init() {}

    /// Appends the line about the store.
    ///
    /// - Parameter version: the version of its schema.
    package mutating func appendHead(schema version: UInt32) {
        writer.append(
            utf8:
                "{\"cairn\":\"export\",\"format\":\(FormatVersion.current),\"schema\":\(version)}\n"
        )
    }

    /// Appends the line of an object. An object without a number is the row of a relationship.
    package mutating func append(
        entity: String, number: UInt32?, version: UInt32?, names: [String], values: [Value]
    ) {
        writer.append(utf8: "{\"entity\":")
        CanonicalText.append(entity, to: &writer)
        if let number { writer.append(utf8: ",\"id\":\(number)") }
        if let version { writer.append(utf8: ",\"version\":\(version)") }
        writer.append(utf8: ",\"values\":{")
        for (index, (name, value)) in zip(names, values).enumerated() {
            if index > 0 { writer.append(UInt8(ascii: ",")) }
            CanonicalText.append(name, to: &writer)
            writer.append(UInt8(ascii: ":"))
            append(value)
        }
        writer.append(utf8: "}}\n")
    }

    /// Appends the line with the members of an object's relationship, by their numbers.
    package mutating func append(relationship: String, of owner: UInt64, members: [UInt64]) {
        writer.append(utf8: "{\"relationship\":")
        CanonicalText.append(relationship, to: &writer)
        writer.append(utf8: ",\"id\":\(owner),\"members\":[")
        for (index, member) in members.enumerated() {
            writer.append(utf8: index > 0 ? ",\(member)" : "\(member)")
        }
        writer.append(utf8: "]}\n")
    }

    /// Passes the text written so far to the body, once it is large enough.
    package mutating func give(
        all: Bool = false, _ body: (UnsafeRawBufferPointer) throws -> Void
    ) throws {
        guard writer.count >= Self.pieceBytes || all && writer.count > 0 else { return }
        try body(writer.bytes)
        writer.reset()
    }

    private mutating func append(_ value: Value) {
        switch value {
        case .null: writer.append(utf8: "null")
        case .integer(let number): CanonicalNumber.append(integer: number, to: &writer)
        case .boolean(let truth): writer.append(utf8: truth ? "true" : "false")
        case .double(let number): CanonicalNumber.append(double: number, to: &writer)
        case .float(let number): CanonicalNumber.append(float: number, to: &writer)
        case .date(let date):
            CanonicalDate.append(date.timeIntervalSinceReferenceDate, to: &writer)
        case .decimal(let number):
            do {
                let bytes = DecimalCoding.encode(number)
                let decoded = try bytes.withUnsafeBytes { try DecimalBytes(decoding: $0) }
                CanonicalNumber.append(decimal: decoded, to: &writer)
            } catch {
                preconditionFailure("what was encoded can be decoded: \(error)")
            }
        case .string(let text): CanonicalText.append(text, to: &writer)
        case .uri(let uri): CanonicalText.append(uri.absoluteString, to: &writer)
        case .binary(let data):
            data.withUnsafeBytes { CanonicalText.append(base64: $0, to: &writer) }
        case .uuid(let uuid):
            withUnsafeBytes(of: uuid.uuid) { CanonicalText.append(uuid: $0, to: &writer) }
        case .objectID(let id):
            CanonicalNumber.append(integer: Int64(clamping: id.reference), to: &writer)
        }
    }
}
