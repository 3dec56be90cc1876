// Single values of a batch, for the rare rows that are processed value by value.

package import CairnModel
import FoundationEssentials

extension ColumnBatch {
    /// The value of an attribute's cell, or nil. Batches do not set relationships.
    package func value(_ column: Int, row: Int) -> Value {
        let buffer = columns[column]
        guard !buffer.isNil(row: row), case .attribute(let type) = entity.columns[column].kind
        else { return .null }
        func integer() -> Int64 {
            buffer.values.load(fromByteOffset: row * 8, as: Int64.self)
        }
        func double() -> Double {
            buffer.values.load(fromByteOffset: row * 8, as: Double.self)
        }
        func text() -> String { String(decoding: buffer.bytes(row: row), as: UTF8.self) }
        switch type {
        case .integer16, .integer32, .integer64: return .integer(integer())
        case .boolean: return .boolean(integer() != 0)
        case .double: return .double(double())
        case .date: return .date(Date(timeIntervalSinceReferenceDate: double()))
        case .float: return .float(buffer.values.load(fromByteOffset: row * 4, as: Float.self))
        case .string: return .string(text())
        case .uri: return URL(string: text()).map(Value.uri) ?? .null
        case .binary, .transformable: return .binary(Data(buffer.bytes(row: row)))
        case .decimal:
            return DecimalCoding.decode(buffer.bytes(row: row)).map(Value.decimal) ?? .null
        case .uuid:
            let bytes = UnsafeRawBufferPointer(start: buffer.values + row * 16, count: 16)
            return UUIDCoding.decode(bytes).map(Value.uuid) ?? .null
        case .undefined, .objectID, .composite: return .null
        }
    }
}
