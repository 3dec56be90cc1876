// Object number → position of the row.

/// The position of a row, in 64 bits: block handle 32 | slot 10 | row version 22. Zero: there is no row.
package struct DirectoryCell: BitwiseCopyable, Equatable, Sendable {
    let bits: UInt64

    package static let empty = DirectoryCell(bits: 0)
    static let maximumVersion: UInt32 = (1 << 22) - 1
    /// The difference between the cells of two consecutive rows in a block that have the same version.
    static let nextSlot: UInt64 = 1 << 22

    @inline(__always) init(bits: UInt64) { self.bits = bits }

    @inline(__always) package init(handle: BlockHandle, slot: Int, version: UInt32) {
        assert(slot >> 10 == 0 && version <= Self.maximumVersion, "slot and version fit a cell")
        bits = UInt64(handle.raw) << 32 | UInt64(slot) << 22 | UInt64(version)
    }

    @inline(__always) package var isEmpty: Bool { bits == 0 }
    @inline(__always) package var handle: BlockHandle {
        BlockHandle(raw: UInt32(truncatingIfNeeded: bits >> 32))
    }
    @inline(__always) package var slot: Int { Int(truncatingIfNeeded: bits >> 22) & 1023 }
    @inline(__always) var version: UInt32 { UInt32(truncatingIfNeeded: bits) & Self.maximumVersion }

    /// Handle and slot combined: the next slot of a block has a value one larger.
    @inline(__always) var place: UInt64 { bits >> 22 }

    /// Returns the version after this one: 0 is skipped when they wrap.
    @inline(__always) package static func next(_ version: UInt32) -> UInt32 {
        version >= maximumVersion ? 1 : version + 1
    }
}

/// The cells of one tree.
package struct RowDirectory: BitwiseCopyable, Sendable {
    var cells = RadixArray()

    package init() {}

    @inline(__always)
    package subscript(_ number: UInt32) -> DirectoryCell { DirectoryCell(bits: cells[number]) }

    /// Returns the first number from `start` on that has a row; nil if there is none. Pages without rows cost
    /// nothing: numbers may be far apart.
    func next(from start: UInt32) -> UInt32? {
        var number = start
        while let candidate = cells.written(from: number) {
            var index = candidate
            repeat {
                if cells[index] != 0 { return index }
                if index == .max { return nil }
                index += 1
            } while index & 511 != 0
            number = index
        }
        return nil
    }

    /// Sets the cells of the rows of a block, slot by slot.
    mutating func set(
        _ numbers: UnsafePointer<UInt32>, _ versions: UnsafePointer<UInt32>, _ handle: BlockHandle,
        rows: Int, in pages: inout PageTransaction
    ) {
        for slot in 0..<rows {
            cells.set(
                numbers[slot],
                DirectoryCell(handle: handle, slot: slot, version: versions[slot]).bits, in: &pages)
        }
    }

    @inline(__always)
    package mutating func set(
        _ number: UInt32, _ cell: DirectoryCell, in pages: inout PageTransaction
    ) {
        cells.set(number, cell.bits, in: &pages)
    }
}
