// Memory that contains the cells of several rows; it is freed with the last of them.
//
// Threads: whoever made it writes; once a row has been made of a part, that part is never written again.

/// The memory of rows: see `RowCells`.
@usableFromInline
final class CellSlab: ManagedBuffer<Void, UInt64> {
    /// Memory of that many bytes, in whole words.
    static func make(byteCount: Int) -> CellSlab {
        unsafeDowncast(create(minimumCapacity: (byteCount + 7) / 8) { _ in () }, to: CellSlab.self)
    }

    /// Where the memory begins.
    var base: UnsafeMutableRawPointer {
        withUnsafeMutablePointerToElements { UnsafeMutableRawPointer($0) }
    }
}
