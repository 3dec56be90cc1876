// Up to 1,024 rows of one entity, column by column, on their way into a store.

package import CairnModel

/// Rows of one entity as plain columns.
package final class ColumnBatch: @unchecked Sendable {
    // Handed from the thread that fills it to the store, never used by two at a time.

    /// The most rows a batch can have: as many as a block.
    package static let capacity = 1024

    /// The columns, by column index of the entity.
    package let columns: UnsafeMutableBufferPointer<ColumnBuffer>
    /// How many rows are filled.
    package var rows = 0

    /// Room for rows of an entity.
    package init(_ entity: SchemaEntity) {
        columns = .allocate(capacity: entity.columns.count)
        for (index, column) in entity.columns.enumerated() {
            let limits = column.integerLimits
            columns.initializeElement(
                at: index,
                to: ColumnBuffer(
                    kind: ColumnBuffer.Kind(column), minimum: limits.lowerBound,
                    maximum: limits.upperBound, rows: Self.capacity))
        }
    }

    deinit {
        for column in columns { column.deallocate() }
        columns.deallocate()
    }

    /// Makes it empty.
    package func reset() {
        for index in columns.indices { columns[index].reset(rows: rows) }
        rows = 0
    }

    /// The bytes that its values take.
    package var byteCount: Int {
        columns.reduce(0) { $0 + $1.used + rows * ($1.kind.width + 1) }
    }
}

extension SchemaColumn {
    /// The range of the column's integers.
    var integerLimits: ClosedRange<Int64> {
        switch kind {
        case .attribute(.integer16): Int64(Int16.min)...Int64(Int16.max)
        case .attribute(.integer32): Int64(Int32.min)...Int64(Int32.max)
        default: Int64.min...Int64.max
        }
    }
}
