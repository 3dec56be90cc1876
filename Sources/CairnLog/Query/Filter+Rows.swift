// Holds a single row against a compiled condition: for candidates that an index names.

import CairnFormat
import CairnStore

extension Filter {
    /// Whether the row in a slot matches.
    func matches(_ block: CachedBlock, _ entity: Catalog.StoredEntity, _ slot: Int)
        throws(StoreError)
        -> Bool
    {
        switch self {
        case .constant(let value): return value
        case .isNull(let column):
            return try block.column(entity.columns[column])?.isNil(at: slot) ?? true
        case .integer(let column, let order, let value):
            guard let cells = try present(block, entity, column, slot) else { return false }
            return order.holds(cells.integer(at: slot), value)
        case .double(let column, let order, let value):
            guard let cells = try present(block, entity, column, slot) else { return false }
            return order.holds(cells.double(at: slot), value)
        case .float(let column, let order, let value):
            guard let cells = try present(block, entity, column, slot) else { return false }
            return order.holds(cells.float(at: slot), value)
        case .bytes(let column, let order, let value):
            guard let cells = try present(block, entity, column, slot) else { return false }
            return try block.withBytes(cells, slot) { bytes in
                value.withUnsafeBytes { order.holds(compareCells(bytes, $0)) }
            }
        case .decimal(let column, let order, let value):
            guard let cells = try present(block, entity, column, slot) else { return false }
            return DecimalCoding.decode(cells.bytes(at: slot)).map { order.holds($0, value) }
                ?? false
        case .number(let wanted): return wanted.contains(try block.numbers().number(slot))
        case .not(let filter): return try !filter.matches(block, entity, slot)
        case .and(let filters):
            for filter in filters where try !filter.matches(block, entity, slot) { return false }
            return true
        case .or(let filters):
            for filter in filters where try filter.matches(block, entity, slot) { return true }
            return false
        }
    }

    /// The cells of a column in which the row has a value.
    private func present(
        _ block: CachedBlock, _ entity: Catalog.StoredEntity, _ column: Int, _ slot: Int
    ) throws(StoreError) -> DecodedColumn? {
        guard let cells = try block.column(entity.columns[column]), !cells.isNil(at: slot) else {
            return nil
        }
        return cells
    }
}
