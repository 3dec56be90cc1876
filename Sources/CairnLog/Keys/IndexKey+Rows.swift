// Loads keys of ordered indexes from rows, wherever they are.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

extension IndexKey {
    /// Loads the key of a row of a batch, some cells of which may be references to values that are stored.
    mutating func load(
        _ batch: ColumnBatch, row: Int, _ parts: [Catalog.IndexPart], _ values: LargeValueReader
    ) throws(StoreError) {
        clear()
        for part in parts {
            let column = batch.columns[part.column]
            begin()
            if column.hasValue(row) {
                switch part.kind {
                case .integer:
                    put(integer: column.values.load(fromByteOffset: row &* 8, as: Int64.self))
                case .double:
                    put(double: column.values.load(fromByteOffset: row &* 8, as: Double.self))
                case .float:
                    put(float: column.values.load(fromByteOffset: row &* 4, as: Float.self))
                case .text:
                    if column.states[row] == ColumnBuffer.State.external {
                        let value = try values.read(column.bytes(row: row), from: .none)
                        value.withUnsafeBytes { put(text: $0) }
                    } else {
                        put(text: column.bytes(row: row))
                    }
                case .decimal: put(decimal: column.bytes(row: row))
                case .fixed16:
                    put(
                        fixed16: UnsafeRawBufferPointer(
                            start: column.values + row &* 16, count: 16))
                }
            } else {
                putNil()
            }
            end(isAscending: part.isAscending)
        }
    }

    /// Loads the key of a stored row, by the columns of the index in the row's block.
    ///
    /// - Parameter columns: one for each part; nil for one that the block does not have.
    mutating func load(
        _ block: CachedBlock, row: Int, _ parts: [Catalog.IndexPart], _ columns: [DecodedColumn?]
    ) throws(StoreError) {
        clear()
        for (index, part) in parts.enumerated() {
            begin()
            if let cells = columns[index], !cells.isNil(at: row) {
                switch part.kind {
                case .integer: put(integer: cells.integer(at: row))
                case .double: put(double: cells.double(at: row))
                case .float: put(float: cells.float(at: row))
                case .fixed16: put(fixed16: cells.cell(row))
                case .text, .decimal:
                    if cells.isExternal(at: row) {
                        let value = try block.large(cells.bytes(at: row))
                        value.withUnsafeBytes { put(text: $0) }
                    } else if part.kind == .text {
                        put(text: cells.cell(row))
                    } else {
                        put(decimal: cells.cell(row))
                    }
                }
            } else {
                putNil()
            }
            end(isAscending: part.isAscending)
        }
    }

    /// Adds a value as the next part; false if it is not one that the part's column has.
    mutating func append(_ value: Value, _ part: Catalog.IndexPart) -> Bool {
        begin()
        switch (part.kind, value) {
        case (_, .null): putNil()
        case (.integer, .integer(let value)): put(integer: value)
        case (.integer, .boolean(let value)): put(integer: value ? 1 : 0)
        case (.integer, .objectID(let id)):
            guard let number = CommitBuilder.number(id) else { return false }
            put(integer: Int64(number))
        case (.double, .double(let value)): put(double: value)
        case (.double, .date(let value)): put(double: value.timeIntervalSinceReferenceDate)
        case (.float, .float(let value)): put(float: value)
        case (.decimal, .decimal(let value)):
            if value.isNaN { putNil() } else { put(decimal: value) }
        case (.fixed16, .uuid(let value)): withUnsafeBytes(of: value.uuid) { put(fixed16: $0) }
        case (.text, .string(let value)): put(utf8: value)
        case (.text, .uri(let value)): put(utf8: value.absoluteString)
        case (.text, .binary(let value)): value.withUnsafeBytes { put(text: $0) }
        default: return false
        }
        end(isAscending: part.isAscending)
        return true
    }

    private mutating func put(utf8 text: String) {
        var text = text
        text.withUTF8 { put(text: UnsafeRawBufferPointer($0)) }
    }

    /// Adds what the values of the next part begin with.
    mutating func append(prefix: String, _ part: Catalog.IndexPart) -> Bool {
        guard part.kind == .text else { return false }
        begin()
        var prefix = prefix
        prefix.withUTF8 { put(prefix: UnsafeRawBufferPointer($0)) }
        end(isAscending: part.isAscending)
        return true
    }
}
