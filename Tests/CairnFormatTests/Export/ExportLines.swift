// The lines of the canonical export as the specification has them, made of blocks alone.    Format 80, F-801 to F-804
//
//   1. `appendHeader`, once.
//   2. For each object `beginObject`, then for each property `appendName` and a value, then `endObject`.

import CairnFormat

enum ExportLines {
    /// The first line.
    static func appendHeader(schemaVersion: UInt32, to writer: inout ByteWriter) {
        writer.append(utf8: "{\"cairn\":\"export\",\"format\":\(FormatVersion.current),\"schema\":")
        writer.append(utf8: "\(schemaVersion)}\n")
    }

    /// The line of an object up to its values.
    static func beginObject(
        entity: String, number: UInt32, version: UInt32, to writer: inout ByteWriter
    ) {
        writer.append(utf8: "{\"entity\":")
        CanonicalText.append(entity, to: &writer)
        writer.append(utf8: ",\"id\":\(number),\"version\":\(version),\"values\":{")
    }

    /// The name of the next property.
    static func appendName(_ name: String, isFirst: Bool, to writer: inout ByteWriter) {
        if !isFirst { writer.append(UInt8(ascii: ",")) }
        CanonicalText.append(name, to: &writer)
        writer.append(UInt8(ascii: ":"))
    }

    static func endObject(_ writer: inout ByteWriter) {
        writer.append(utf8: "}}\n")
    }

    /// The value of a row that has no frames of its own.
    static func append(
        _ kind: PropertyKind, _ column: DecodedColumn, row: Int, to writer: inout ByteWriter
    ) throws(FormatError) {
        precondition(column.kind == kind.column, "the column has the kind of its property")
        precondition(!column.isExternal(at: row), "a large value is read from its frames first")
        if column.isNil(at: row) {
            writer.append(utf8: "null")
            return
        }
        switch kind.column {
        case .integer:
            if kind == .boolean {
                writer.append(utf8: column.integer(at: row) == 0 ? "false" : "true")
            } else {
                CanonicalNumber.append(integer: column.integer(at: row), to: &writer)
            }
        case .double:
            if kind == .date {
                CanonicalDate.append(column.double(at: row), to: &writer)
            } else {
                CanonicalNumber.append(double: column.double(at: row), to: &writer)
            }
        case .float: CanonicalNumber.append(float: column.float(at: row), to: &writer)
        case .fixed16: CanonicalText.append(uuid: column.fixed16(at: row), to: &writer)
        case .bytes: try append(kind, bytes: column.bytes(at: row), to: &writer)
        }
    }

    /// A value of a column of bytes.
    private static func append(
        _ kind: PropertyKind, bytes: UnsafeRawBufferPointer, to writer: inout ByteWriter
    ) throws(FormatError) {
        switch kind {
        case .string, .uri: try CanonicalText.append(utf8: bytes, to: &writer)
        case .binary, .transformable: CanonicalText.append(base64: bytes, to: &writer)
        case .decimal:
            CanonicalNumber.append(decimal: try DecimalBytes(decoding: bytes), to: &writer)
        default: preconditionFailure("the kind has bytes")
        }
    }
}
