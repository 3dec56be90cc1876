// A rewritten block of a batch update, until it is written.
//
// Threads: used by one at a time: who makes it, then who writes it.

import CairnFormat
import CairnStore

/// What happens to a block.
final class RewrittenBlock {
    enum Outcome {
        /// None of its rows is affected.
        case nothing
        /// This many of its rows are affected, and already have the new values.
        case unchanged
        /// So many of its rows change that they stay together; contains the block to write.
        case made
        /// Some rows are affected, or they need more than a comparison of columns; contains the block and the
        /// slots.
        case selected
        /// The same, but the remaining rows would not fill a block, or too few rows change for a new block;
        /// contains the block and the slots.
        case small
        case failed(StoreError)
    }

    var outcome = Outcome.nothing
    /// The payload of its frame.
    var payload = ByteWriter(capacity: 64 << 10)
    var checksum: UInt32 = 0
    private(set) var kind = FrameKind.block
    private(set) var hasReferences = false
    /// For a patch: the block that it patches, and the number of bytes that it has from there.
    private(set) var patched = Place.none
    private(set) var borrowedBytes = 0
    /// By row: its object's number, and its new version.
    let numbers = UnsafeMutablePointer<UInt32>.allocate(capacity: FormatLimits.maximumRows)
    let versions = UnsafeMutablePointer<UInt32>.allocate(capacity: FormatLimits.maximumRows)
    var rows = 0
    var block: CachedBlock?
    /// The affected rows; of a rewritten block, those that change.
    let slots = UnsafeMutablePointer<UInt16>.allocate(capacity: FormatLimits.maximumRows)
    var count = 0
    /// The number of rows of a rewritten block that are affected and do not change.
    var unchangedCount = 0

    deinit {
        numbers.deallocate()
        versions.deallocate()
        slots.deallocate()
    }

    /// Takes the numbers of a block's rows, and the versions that follow theirs.
    func take(_ block: CachedBlock) throws(StoreError) {
        try copyHidden(block)
        for row in 0..<rows { versions[row] = DirectoryCell.next(versions[row]) }
        for row in 0..<rows { slots[row] = UInt16(truncatingIfNeeded: row) }
        count = rows
    }

    /// The same if only some of them change.
    ///
    /// - Parameters:
    ///   - concerned: the affected rows.
    ///   - changed: those of them that change, by their places.
    func take(
        _ block: CachedBlock, _ concerned: UnsafeBufferPointer<UInt16>,
        _ changed: UnsafeBufferPointer<UInt16>
    ) throws(StoreError) {
        try copyHidden(block)
        for (place, row) in changed.enumerated() {
            let slot = concerned[Int(row)]
            slots[place] = slot
            versions[Int(slot)] = DirectoryCell.next(versions[Int(slot)])
        }
        count = changed.count
    }

    private func copyHidden(_ block: CachedBlock) throws(StoreError) {
        rows = block.rows
        Self.copy(try block.numberCells(), rows, to: numbers)
        Self.copy(try block.versionCells(), rows, to: versions)
    }

    /// Numbers out of range were rejected when the block was registered.
    private static func copy(
        _ cells: CellColumn, _ rows: Int, to target: UnsafeMutablePointer<UInt32>
    ) {
        if cells.width == 0 {
            let number = UInt32(truncatingIfNeeded: cells.base)
            return target.update(repeating: number, count: rows)
        }
        for row in 0..<rows { target[row] = UInt32(truncatingIfNeeded: cells.integer(row)) }
    }

    /// Makes the payload from the values of a batch's first rows, in the columns of a target, and the
    /// versions that were taken.
    ///
    /// - Returns: whether it is a full block, and either a patch or a block most of whose rows change. Values
    ///   may have become shorter: rows of a block that is not full move to others, with those of the next
    ///   blocks (BL5). And a block that is rewritten for a few of its rows would be many times their size.
    func make(
        _ block: CachedBlock, _ target: UpdateTarget, _ values: ColumnBatch, _ catalog: Catalog,
        _ sizes: StoreSizes, isPacking: Bool, _ encoder: inout RowBlockEncoder
    ) throws(StoreError) -> Bool {
        payload.reset()
        let written = try encoder.rewrite(
            block, target.columns, of: values, entity: target.stored,
            schemaVersion: catalog.version, isPacking: isPacking, versions: versions,
            into: &payload)
        guard sizes.level(rows: rows, rawLength: written.rawLength) == .full,
            written.borrowedBytes != nil || UpdateTarget.isWorthABlock(count, of: rows)
        else { return false }
        kind = written.kind
        hasReferences = written.hasReferences
        patched = written.borrowedBytes == nil ? .none : block.stored.base
        borrowedBytes = written.borrowedBytes ?? 0
        checksum = Checksum.crc32c(payload.bytes)
        return true
    }
}
