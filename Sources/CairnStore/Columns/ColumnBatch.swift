// Up to 1,024 rows of one entity, column by column, to be written to a store.
//
//   1. A `RowFiller` fills cells of row `rows` and raises `rows`.
//   2. `seal` checks what the schema says and gives untouched cells their default.
//   3. The store reads the columns; `reset` makes the batch empty for the next rows.
//
// Invariants: cells of rows from `rows` on are untouched.
// Threads: handed from the one that fills it to the store.

package import CairnModel

/// Rows of one entity as columns.
package final class ColumnBatch: @unchecked Sendable {
    // Handed from the thread that fills it to the store, never used by two at a time.

    /// The most rows a batch can have: as many as a block.
    package static let capacity = 1024
    /// A batch whose values needed more room than this is full, however few its rows are: a thousand rows
    /// of large values must not be in memory at once.
    package static let largeSize = 4 << 20

    /// The entity of the rows.
    package let entity: SchemaEntity
    /// Says which columns there are; see `SchemaEntity.layout`.
    package let layout: UInt64
    /// The columns, by column index of the entity; then the order keys, if it has room for them.
    package let columns: UnsafeMutableBufferPointer<ColumnBuffer>
    /// By column.
    let rules: [ColumnRule]
    /// The validation predicates of columns that have some.
    let conditions: [Int: [ValueCondition]]
    /// How many rows are filled. Behind a pointer: an access to a variable of an object is guarded.
    @inlinable package var rows: Int {
        get { count.pointee }
        set { count.pointee = newValue }
    }
    @usableFromInline let count: UnsafeMutablePointer<Int>
    /// What its rows say of to-many relationships, which have no columns.
    package let lists: UnsafeMutablePointer<RowLists>
    private let reserved: UnsafeMutablePointer<Int>
    /// The room that its values had before there were any.
    private var emptyRoom: Int

    /// Room for rows of an entity.
    ///
    /// - Parameter orders: how many order keys the rows have, each a column behind those of the entity.
    package init(_ entity: SchemaEntity, orders: Int = 0) {
        self.entity = entity
        layout = entity.layout
        let width = entity.columns.count + orders
        let rules = entity.columns.map(ColumnRule.init)
        self.rules = rules
        var conditions: [Int: [ValueCondition]] = [:]
        for index in rules.indices where rules[index].isRuled {
            let some = entity.columns[index].conditions
            if !some.isEmpty { conditions[index] = some }
        }
        self.conditions = conditions
        reserved = .allocate(capacity: 1)
        reserved.initialize(to: 0)
        count = .allocate(capacity: 1)
        count.initialize(to: 0)
        lists = .allocate(capacity: 1)
        lists.initialize(to: RowLists())
        // At least one, so that there is an address even for an entity without columns.
        let room = UnsafeMutableBufferPointer<ColumnBuffer>.allocate(
            capacity: max(width, 1))
        columns = UnsafeMutableBufferPointer(rebasing: room[..<width])
        emptyRoom = 0
        for (index, column) in entity.columns.enumerated() {
            columns.initializeElement(
                at: index,
                to: ColumnBuffer(
                    kind: ColumnBuffer.Kind(column), rows: Self.capacity, reserved: reserved))
        }
        for index in entity.columns.count..<width {
            columns.initializeElement(
                at: index,
                to: ColumnBuffer(kind: .integer, rows: Self.capacity, reserved: reserved))
        }
        emptyRoom = reserved.pointee
    }

    deinit {
        for column in columns { column.deallocate() }
        columns.baseAddress?.deallocate()
        reserved.deallocate()
        count.deallocate()
        lists.deinitialize(count: 1)
        lists.deallocate()
    }

    /// Makes it empty.
    package func reset() {
        // A row of which some cells were set, until an error, does not count.
        let touched = min(rows + 1, Self.capacity)
        for index in columns.indices {
            columns[index].reset(rows: touched, capacity: Self.capacity)
        }
        lists.pointee.removeAll()
        rows = 0
        emptyRoom = reserved.pointee
    }

    /// Makes the cells of a row untouched that is not to be there after all.
    func forget(row: Int) {
        for column in columns { column.states[row] = ColumnBuffer.State.untouched }
        lists.pointee.forget(row: row)
    }

    /// Whether its values needed so much room that no more rows should come. An empty batch is never large,
    /// however many columns it has: it would take no row at all.
    var isLarge: Bool { reserved.pointee - emptyRoom + lists.pointee.bytes > Self.largeSize }

    /// The bytes that its values take.
    package var byteCount: Int {
        var sum = lists.pointee.bytes
        for index in columns.indices {
            sum += columns[index].used + rows * columns[index].kind.widthOfRow
        }
        return sum
    }
}
