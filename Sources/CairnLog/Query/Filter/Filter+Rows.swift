// Evaluates a compiled filter on a single row: for candidates from an index.

import CairnFormat
import CairnModel
import CairnStore

extension Filter {
    /// Whether the row in a slot, which must be live, matches.
    func matches(_ place: FilterPlace, _ slot: Int, _ objects: StoredObjects?) throws(StoreError)
        -> Bool
    {
        let block = place.block
        switch self {
        case .constant(let value): return value
        case .isNull(let column): return try place.cells(column)?.isNil(at: slot) ?? true
        case .integer(let column, let order, let value):
            guard let cells = try present(place, column, slot) else { return false }
            return order.holds(cells.integer(at: slot), value)
        case .integers(let column, let set):
            guard let cells = try present(place, column, slot) else { return false }
            return set.contains(UInt64(bitPattern: cells.integer(at: slot)))
        case .double(let column, let order, let value):
            guard let cells = try present(place, column, slot) else { return false }
            return order.holds(cells.double(at: slot), value)
        case .doubles(let column, let set):
            guard let cells = try present(place, column, slot) else { return false }
            return set.contains(Self.bits(cells.double(at: slot)))
        case .float(let column, let order, let value):
            guard let cells = try present(place, column, slot) else { return false }
            return order.holds(cells.float(at: slot), value)
        case .bytes(let column, let order, let value):
            guard let cells = try present(place, column, slot) else { return false }
            return try block.withBytes(cells, slot) { bytes in
                value.withUnsafeBytes { order.holds(compareCells(bytes, $0)) }
            }
        case .keys(let column, let set):
            guard let cells = try present(place, column, slot) else { return false }
            return try block.withBytes(cells, slot) { set.contains($0) }
        case .text(let column, let test):
            guard let cells = try present(place, column, slot) else { return false }
            return try block.withBytes(cells, slot) { test.holds($0) }
        case .decimal(let column, let order, let value):
            guard let cells = try present(place, column, slot) else { return false }
            return try block.withBytes(cells, slot) { bytes in
                DecimalCoding.decode(bytes).map { order.holds($0, value) } ?? false
            }
        case .value(let column, let test):
            let cells = try block.cells(place.stored.columns[column], at: column).pointee
            guard !cells.isNil(slot) else { return test.holds(.null) }
            return test.holds(try Value.stored(cells, slot, test.type, block))
        case .columns(let left, let order, let right):
            return try compareColumns(place, slot, left, order, right)
        case .number(let wanted): return wanted.contains(try block.numbers().number(slot))
        case .entity(let wanted): return wanted.contains(place.entity)
        case .through(let filter): return try filter.matches(place, slot, needed(objects))
        case .members(let filter): return try filter.matches(place, slot, needed(objects))
        case .row(let test):
            let objects = needed(objects)
            let number = try block.numbers().number(slot)
            let cell = objects.state.directories[place.stored.tree][number]
            let answer = test.evaluator.matches(
                objects.object(number, cell, of: place.entity, in: block))
            try objects.rethrow()
            return answer
        case .not(let filter): return try !filter.matches(place, slot, objects)
        case .and(let filters):
            for filter in filters where try !filter.matches(place, slot, objects) { return false }
            return true
        case .or(let filters):
            for filter in filters where try filter.matches(place, slot, objects) { return true }
            return false
        }
    }

    private func needed(_ objects: StoredObjects?) -> StoredObjects {
        guard let objects else {
            preconditionFailure("a general condition requires the objects")
        }
        return objects
    }

    /// Returns the cells of a column, if the row has a value there.
    private func present(_ place: FilterPlace, _ column: Int, _ slot: Int) throws(StoreError)
        -> DecodedColumn?
    {
        guard let cells = try place.cells(column), !cells.isNil(at: slot) else { return nil }
        return cells
    }
}
