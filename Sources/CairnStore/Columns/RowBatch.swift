// A batch of rows of a result, column by column.

/// Rows that a store returns together. It is only valid inside the closure that receives it.
public struct RowBatch: ~Copyable {
    /// The number of rows.
    public let count: Int
    /// By column index of the entity.
    @usableFromInline let columns: UnsafePointer<CellColumn>
    /// The object numbers.
    @usableFromInline let numbers: UnsafePointer<CellColumn>
    /// Where each row lies in the columns; nil: one after the other.
    @usableFromInline let slots: UnsafePointer<UInt16>?
    /// The position of each row; nil: one after the other from `firstPosition`.
    @usableFromInline let positions: UnsafePointer<Int>?
    @usableFromInline let firstPosition: Int
    @usableFromInline let layout: UInt64
    @usableFromInline let origin: RowOrigin

    /// Rows of an entity with that layout. Every pointer must be good as long as the batch is.
    package init(
        count: Int, layout: UInt64, origin: RowOrigin, columns: UnsafePointer<CellColumn>,
        numbers: UnsafePointer<CellColumn>, slots: UnsafePointer<UInt16>? = nil,
        positions: UnsafePointer<Int>? = nil, firstPosition: Int = 0
    ) {
        self.count = count
        self.columns = columns
        self.numbers = numbers
        self.slots = slots
        self.positions = positions
        self.firstPosition = firstPosition
        self.layout = layout
        self.origin = origin
    }

    /// A row of the batch, by its index.
    ///
    /// - Precondition: `index` is below `count`.
    @inlinable public func row(_ index: Int) -> RowView {
        precondition(index >= 0 && index < count, "the batch has no such row")
        return RowView(
            columns: columns, row: slots.map { Int($0[index]) } ?? index, layout: layout,
            position: positions.map { $0[index] } ?? firstPosition &+ index, numbers: numbers,
            origin: origin)
    }

    /// Calls a closure with each row: one view goes from row to row.
    @inlinable @inline(__always)
    func forEachRow(_ body: (borrowing RowView) throws -> Void) rethrows {
        if count == 0 { return }
        var view = row(0)
        for index in 0..<count {
            view.row = if let slots { Int(slots[index]) } else { index }
            view.place = if let positions { positions[index] } else { firstPosition &+ index }
            try body(view)
        }
    }
}
