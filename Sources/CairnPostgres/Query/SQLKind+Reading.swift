// Reads values computed by the server.
//
// Threads: plain values.

import CairnModel
import CairnStore

extension SQLKind {
    /// A value of this kind, from a result.
    func value(
        _ result: PostgresResult, _ row: Int, _ column: Int, _ layout: TableLayout,
        _ identity: StoreIdentity
    ) throws(SQLFailure) -> Value {
        if result.isNull(row, column) { return .null }
        switch self {
        case .integer: return .integer(try result.integer(row, column))
        case .object(let table):
            return .objectID(
                identity.id(
                    UInt64(bitPattern: try result.int64(row, column)),
                    entity: layout.tables[table].root))
        case .decimal: return try RowSelection.value(result, row, column, .decimal)
        case .single: return try RowSelection.value(result, row, column, .float)
        case .double: return try RowSelection.value(result, row, column, .double)
        case .boolean: return try RowSelection.value(result, row, column, .boolean)
        case .text: return try RowSelection.value(result, row, column, .string)
        case .date: return try RowSelection.value(result, row, column, .date)
        case .uri: return try RowSelection.value(result, row, column, .uri)
        case .uuid: return try RowSelection.value(result, row, column, .uuid)
        case .bytes, .opaque: return try RowSelection.value(result, row, column, .binary)
        }
    }
}
