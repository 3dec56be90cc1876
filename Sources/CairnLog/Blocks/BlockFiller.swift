// Collects the rows that are to be written into a block.
//
//   1. `RowList` lists the rows of a block by slot. A caller with the cells in a batch of its own needs no
//      more.
//   2. `BlockFiller` has a batch too: cells are appended to it, then the row is added.
//   3. `MovedRows` are rows that were in other blocks, and count by the bytes that they took there.
//
// Other types write them: `CommitBuilder` to the main log, `SideWriter` to a side segment.
//
// Threads: one owner at a time.

package import CairnStore

/// The rows of a block to write, by slot.
package struct RowList {
    /// By slot: the row of the batch that has the cells.
    var selection: [UInt16] = []
    /// The number of the object, and the version of the row.
    private(set) var numbers: [UInt32] = []
    private(set) var versions: [UInt32] = []

    package init() {}

    var count: Int { selection.count }
    var isEmpty: Bool { selection.isEmpty }

    @inline(__always)
    package mutating func add(_ row: Int, number: UInt32, version: UInt32) {
        selection.append(UInt16(row))
        numbers.append(number)
        versions.append(version)
    }

    /// Empties it for the next block.
    mutating func clear() {
        if selection.count == 1 {
            // The single row of most commits is removed without replacing a range by nothing.
            selection.removeLast()
            numbers.removeLast()
            versions.removeLast()
            return
        }
        selection.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        versions.removeAll(keepingCapacity: true)
    }

    /// Returns some of the rows.
    func part(_ range: Range<Int>) -> RowList {
        var part = RowList()
        part.selection = Array(selection[range])
        part.numbers = Array(numbers[range])
        part.versions = Array(versions[range])
        return part
    }
}

/// Rows of one entity in a batch of their own, until they are written as a block.
package struct BlockFiller {
    package let entity: Int
    package let batch: ColumnBatch
    private(set) var rows = RowList()

    /// Creates an empty filler for rows of an entity.
    ///
    /// - Parameter batches: the pool of the batch, to which the code that writes the last rows returns it.
    package init(_ entity: Int, _ catalog: Catalog, _ batches: ColumnBatchPool) {
        self.entity = entity
        batch = batches.takeWhole(entity, catalog)
    }

    /// Adds the row whose cells were appended to the batch.
    @inline(__always)
    package mutating func add(_ number: UInt32, version: UInt32) {
        rows.add(batch.rows, number: number, version: version)
        batch.rows += 1
    }

    /// Empties it for the next block.
    mutating func clear() {
        batch.reset()
        rows.clear()
    }
}

/// Rows that move into another block, unchanged.
struct MovedRows {
    private(set) var rows = RowList()
    /// Rows count by the bytes that they took where they were: by their plain bytes, a block of rows that
    /// encode to little would be cut early, and be small again.
    private var length = 0.0

    mutating func clear() {
        rows.clear()
        length = 0
    }

    mutating func add(_ row: Int, number: UInt32, version: UInt32, length: Double) {
        rows.add(row, number: number, version: version)
        self.length += length
    }

    /// Whether the block is full.
    func isEnough(_ sizes: StoreSizes) -> Bool {
        rows.count == sizes.rowsPerBlock || length >= Double(sizes.fullRawBytes)
    }
}
