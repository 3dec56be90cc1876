// Merges a batch's row with its object by the model's rules.
//
// Under the declared policy, a row behaves like a new object that is saved alone and meets the object with
// its key. To that end the row's own cells are changed, before it is applied as under object trump for the
// properties that it names:
//
//   1. Which of the two is newer is decided for all properties first, because the attribute that decides may
//      be merged itself.
//   2. For each property that the row names:
//      store, union     its cells become untouched, so that the stored value stays
//      object           they stay
//      fillNil, newest, they stay or become untouched; if they stay, those parts of a composite attribute
//      maximum, minimum that the row does not name get their defaults
//      sum              the cell gets the sum
//
// A target that does not exist yet counts as greater than any other, because its number will be. A target
// that is looked up only at the end is treated the same way. The target that an object waits for counts as
// its value. If that never appears, and may be missing, the target that gave way to it counts.
//
// Invariants: changes only the cells of the row and what it waits for.
// Threads: within the turn, in one thread.

import CairnModel
import CairnStore

extension BatchInserter {
    /// The object that a row is merged into.
    enum Kept {
        case stored(BlockView, slot: Int)
        /// A row of the open block.
        case staged(Int)
        /// An object of another entity, by its columns; the first ones are shared with the row's entity.
        case values([Value], shared: Int)
    }

    /// Replaces a row's cells by the merged values.
    @inline(never)
    mutating func merge(
        _ row: Int, of batch: ColumnBatch, _ number: UInt32, with kept: Kept,
        _ properties: [MergedProperty]
    ) throws(StoreError) {
        room.isNewer.removeAll(keepingCapacity: true)
        for property in properties {
            var isNewer = false
            if case .newest(let order) = property.rule, names(property, row, of: batch) {
                isNewer = try self.isNewer(property, order, row, of: batch, number, than: kept)
            }
            room.isNewer.append(isNewer)
        }
        for (place, property) in properties.enumerated() where names(property, row, of: batch) {
            let takes: Bool
            switch property.rule {
            case .keep: takes = false
            case .fillNil:
                takes = property.columns.allSatisfy { isNil($0, number, of: batch, kept) }
                if !takes, links != nil {
                    giveWay(property.columns.lowerBound, row, of: batch, number, isTie: false)
                }
            case .newest: takes = room.isNewer[place]
            case .maximum:
                takes = try isBeyond(property.columns.lowerBound, 1, row, of: batch, kept)
            case .minimum:
                takes = try isBeyond(property.columns.lowerBound, -1, row, of: batch, kept)
            case .sum(let type):
                takes = try add(property.columns.lowerBound, type, row, of: batch, kept)
            }
            for column in property.columns {
                if takes {
                    try fill(column, row, of: batch)
                } else {
                    batch.columns[column].states[row] = ColumnBuffer.State.untouched
                    links?.drop(row, column)
                }
            }
        }
    }

    // MARK: What there is

    /// Whether a row names a property, or a part of it.
    private func names(_ property: MergedProperty, _ row: Int, of batch: ColumnBatch) -> Bool {
        for column in property.columns {
            if batch.columns[column].states[row] != ColumnBuffer.State.untouched { return true }
            if let links, links.wait(row, column) != nil { return true }
        }
        return false
    }

    /// The value of an existing object.
    private func value(_ column: Int, of batch: ColumnBatch, _ kept: Kept) throws(StoreError)
        -> Value
    {
        switch kept {
        case .stored(let view, let slot):
            let cells = view.cells[column]
            if cells.isNil(slot) { return .null }
            switch batch.entity.columns[column].kind {
            case .reference(let root):
                return .objectID(
                    identity.id(UInt64(bitPattern: cells.integer(slot)), entity: root))
            case .attribute(let type):
                return try Value.stored(cells, slot, type, view.block)
            }
        case .staged(let row): return value(column, row, of: batch)
        case .values(let values, _): return values[column]
        }
    }

    /// Whether an existing object has no value, and waits for none.
    private func isNil(_ column: Int, _ number: UInt32, of batch: ColumnBatch, _ kept: Kept)
        -> Bool
    {
        if let open = links?.open[BatchLinks.Cell(number, column)] { return open.wanted == nil }
        return switch kept {
        case .stored(let view, let slot): view.cells[column].isNil(slot)
        case .staged(let row): !batch.columns[column].hasValue(row)
        case .values(let values, _): values[column].isNull
        }
    }

    // MARK: Rules

    /// Whether a row is newer than an object, or, if they are equally new, has the greater value of a
    /// property.
    private func isNewer(
        _ property: MergedProperty, _ order: Int?, _ row: Int, of batch: ColumnBatch,
        _ number: UInt32, than kept: Kept
    ) throws(StoreError) -> Bool {
        if let order {
            // A column that only the object's entity has is not in the row.
            var shared = entity.columns.count
            if case .values(_, let count) = kept { shared = count }
            let given = order < shared ? value(order, row, of: batch) : .null
            let result = SortingOrder.compare(given, try value(order, of: batch, kept))
            if result != 0 { return result > 0 }
        }
        for column in property.columns {
            let open = links?.open[BatchLinks.Cell(number, column)]
            let (awaits, awaited) = (
                links?.wait(row, column)?.open.wanted != nil, open?.wanted != nil
            )
            if awaited {
                giveWay(column, row, of: batch, number, isTie: true)
                return false
            }
            // A pending entry without a target sets the relationship to nil.
            let known: Value = open == nil ? try value(column, of: batch, kept) : .null
            if awaits {
                if case .objectID(let id) = known { links?.giveWay(.object(id), row: row, column) }
                return true
            }
            let result = SortingOrder.compare(value(column, row, of: batch), known)
            if result != 0 { return result > 0 }
        }
        return false
    }

    /// Lets a row's target give way to the target that its object waits for, if there is one.
    private func giveWay(
        _ column: Int, _ row: Int, of batch: ColumnBatch, _ number: UInt32, isTie: Bool
    ) {
        guard let links, links.open[BatchLinks.Cell(number, column)]?.wanted != nil else { return }
        if let wait = links.wait(row, column) {
            if let wanted = wait.open.wanted { links.giveWay(wanted, number, column, isTie: isTie) }
        } else if case .reference(let root) = batch.entity.columns[column].kind,
            let target = batch.columns[column].target(row)
        {
            let id = identity.id(UInt64(target), entity: root)
            links.giveWay(.object(id), number, column, isTie: isTie)
        }
    }

    /// Whether a row's value is greater (1) or less (-1) than an object's. Nil does not count.
    private func isBeyond(
        _ column: Int, _ sign: Int, _ row: Int, of batch: ColumnBatch, _ kept: Kept
    ) throws(StoreError) -> Bool {
        let given = value(column, row, of: batch)
        if given.isNull { return false }
        let known = try value(column, of: batch, kept)
        return known.isNull || SortingOrder.compare(given, known) * sign > 0
    }

    /// Adds an object's value to that of a row. Returns whether the sum differs from the object's value.
    private func add(
        _ column: Int, _ type: AttributeType, _ row: Int, of batch: ColumnBatch, _ kept: Kept
    ) throws(StoreError) -> Bool {
        let given = value(column, row, of: batch)
        if given.isNull { return false }
        let known = try value(column, of: batch, kept)
        if known.isNull { return true }
        let sum: Value?
        if case .integer(let one) = known, case .integer(let other) = given {
            let (number, isOver) = one.addingReportingOverflow(other)
            sum = isOver ? nil : Value.integer(number).converted(to: type)
        } else {
            sum = FoldingRule.sum.folded([known, given], as: type)
        }
        guard let sum, batch.columns[column].store(sum, row: row) else {
            throw StoreError(
                .invalidRequest, "the sum of the values does not fit the attribute's type",
                context: .init(
                    entity: entity.name, key: entity.columns[column].name, row: firstRow + row))
        }
        return sum != known
    }

    /// Sets a part of a composite attribute to its default if the row's value is taken but does not name the
    /// part.
    private func fill(_ column: Int, _ row: Int, of batch: ColumnBatch) throws(StoreError) {
        guard batch.columns[column].states[row] == ColumnBuffer.State.untouched,
            entity.columns[column].target == nil
        else { return }
        if batch.columns[column].hasDefault {
            batch.columns[column].states[row] = ColumnBuffer.State.set
        } else if batch.entity.columns[column].mustBeGiven {
            throw batch.missingError(column: column, row: row, firstRow: firstRow)
        } else {
            batch.columns[column].setNil(row: row)
        }
    }
}
