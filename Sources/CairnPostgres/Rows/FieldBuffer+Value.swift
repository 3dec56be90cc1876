// Values of the model in the form for the server.
//
// Threads: as the buffer.

import CairnModel
import CairnStore
import FoundationEssentials

extension FieldBuffer {
    /// Appends a value for a column of that type.
    mutating func append(_ value: Value, as type: ColumnType) throws(SQLFailure) {
        switch value {
        case .null: appendNull()
        case .integer(let number):
            switch type {
            case .smallint: append(number: Int16(truncatingIfNeeded: number))
            case .integer: append(number: Int32(truncatingIfNeeded: number))
            default: append(number: number)
            }
        case .decimal(let number): try append(numeric: "\(number)")
        case .double(let number): append(double: number)
        case .float(let number): append(float: number)
        case .string(let text): try append(text: text)
        case .boolean(let truth): append(bool: truth)
        case .date(let date): append(double: date.timeIntervalSinceReferenceDate)
        case .binary(let data): try append(data: data)
        case .uuid(let uuid): append(uuid: uuid)
        case .uri(let url): try append(text: url.absoluteString)
        case .objectID(let id): append(number: Int64(bitPattern: id.reference))
        }
    }
}
