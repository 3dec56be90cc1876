// Rows to be written into a block: which ones it takes, and how many.
//
//   1. `RowList` lists the rows of a block by slot. Whoever has them in a batch of its own needs no more.
//   2. `BlockFiller` has a batch besides: cells are put behind those of the rows that are there, then the row is added.
//   3. `MovedRows` are rows that were in blocks before, and count by what they took there.
//
// Where they are written is for others to say: `CommitBuilder` writes to the main log, `SideWriter` to a side segment.
//
// Threads: one owner at a time.

package import CairnStore

/// The rows of a block to write, by slot.
package struct RowList {
    /// The row of the batch that has the cells.
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
            // What most commits have goes without replacing a range by nothing.
            selection.removeLast()
            numbers.removeLast()
            versions.removeLast()
            return
        }
        selection.removeAll(keepingCapacity: true)
        numbers.removeAll(keepingCapacity: true)
        versions.removeAll(keepingCapacity: true)
    }

    /// Some of the rows.
    func part(_ range: Range<Int>) -> RowList {
        var part = RowList()
        part.selection = Array(selection[range])
        part.numbers = Array(numbers[range])
        part.versions = Array(versions[range])
        return part
    }
}

/// Rows of one entity in a batch of their own, until they make a block.
package struct BlockFiller {
    package let entity: Int
    package let batch: ColumnBatch
    private(set) var rows = RowList()

    /// - Parameter batches: gives the batch; what writes the last rows gives it back.
    package init(_ entity: Int, _ catalog: Catalog, _ batches: ColumnBatchPool) {
        self.entity = entity
        batch = batches.takeWhole(entity, catalog)
    }

    /// Counts the row whose cells were put into the batch behind the others.
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

/// Rows on their way into another block, unchanged.
struct MovedRows {
    private(set) var rows = RowList()
    /// Rows are counted by what they took where they were: by their plain bytes a block of rows that encode to
    /// little would be cut early, and be a small one again.
    private var length = 0.0

    mutating func clear() {
        rows.clear()
        length = 0
    }

    mutating func add(_ row: Int, number: UInt32, version: UInt32, length: Double) {
        rows.add(row, number: number, version: version)
        self.length += length
    }

    /// Whether a block takes no more.
    func isEnough(_ sizes: StoreSizes) -> Bool {
        rows.count == sizes.rowsPerBlock || length >= Double(sizes.fullRawBytes)
    }
}
