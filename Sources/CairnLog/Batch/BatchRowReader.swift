// Reads single values out of a column batch, for the rare rows that are decided value by value.

import CairnModel
import CairnStore
import FoundationEssentials

struct BatchRowReader {
    let catalog: Catalog
    let entity: Int

    /// The value of a cell of an attribute; relationships are not set by batches.
    func value(_ batch: ColumnBatch, _ row: Int, _ column: Int) -> Value {
        let buffer = batch.columns[column]
        guard buffer.hasValue(row),
            case .attribute(let type) = catalog.schema.entities[entity].columns[column].kind
        else { return .null }
        switch type {
        case .integer16, .integer32, .integer64:
            return .integer(Int64(bitPattern: buffer.word(row)))
        case .boolean: return .boolean(buffer.word(row) != 0)
        case .double: return .double(Double(bitPattern: buffer.word(row)))
        case .date:
            return .date(
                Date(timeIntervalSinceReferenceDate: Double(bitPattern: buffer.word(row))))
        case .float: return .float(Float(bitPattern: UInt32(truncatingIfNeeded: buffer.word(row))))
        case .string: return .string(String(decoding: buffer.cell(row), as: UTF8.self))
        case .uri:
            return URL(string: String(decoding: buffer.cell(row), as: UTF8.self)).map(Value.uri)
                ?? .null
        case .binary, .transformable: return .binary(Data(buffer.cell(row)))
        case .decimal: return DecimalCoding.decode(buffer.cell(row)).map(Value.decimal) ?? .null
        case .uuid: return UUIDCoding.decode(buffer.cell(row)).map(Value.uuid) ?? .null
        case .undefined, .objectID, .composite: return .null
        }
    }
}
