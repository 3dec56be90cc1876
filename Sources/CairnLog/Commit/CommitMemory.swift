// Memory that the holder of the write lock reuses from one commit to the next.
//
// It is behind pointers: each access to a part of an object's property checks for exclusivity, which a commit
// of one row would do by the dozen.
//
// Threads: used by the holder of the turn alone.

import CairnFormat

/// Memory that commits reuse.
final class CommitMemory: @unchecked Sendable {
    // Used by the holder of the write lock alone.
    let encoder: UnsafeMutablePointer<RowBlockEncoder>
    let smallRows: UnsafeMutablePointer<SmallRowsByEntity>
    /// What the last batch insert has left for the next one: always of one class.
    let batch: UnsafeMutablePointer<AnyObject?>
    /// From the last commit that changed a fetch index.
    let fetchIndexWriter: UnsafeMutablePointer<FetchIndexWriter?>
    /// For the frames of a commit.
    let buffer: UnsafeMutablePointer<ByteWriter?>
    /// For the pages of a commit.
    let pageLists: UnsafeMutablePointer<PageLists?>
    /// For the counters in a commit frame.
    let counters: UnsafeMutablePointer<[TreeCounter]>

    /// The maximum size of a buffer that is kept, in bytes.
    private static let mostBytes = 256 << 10

    init() {
        encoder = .allocate(capacity: 1)
        encoder.initialize(to: RowBlockEncoder())
        smallRows = .allocate(capacity: 1)
        smallRows.initialize(to: SmallRowsByEntity())
        batch = .allocate(capacity: 1)
        batch.initialize(to: nil)
        fetchIndexWriter = .allocate(capacity: 1)
        fetchIndexWriter.initialize(to: nil)
        buffer = .allocate(capacity: 1)
        buffer.initialize(to: nil)
        pageLists = .allocate(capacity: 1)
        pageLists.initialize(to: nil)
        counters = .allocate(capacity: 1)
        counters.initialize(to: [])
    }

    /// Keeps a used buffer.
    func keep(_ used: consuming ByteWriter) {
        guard used.capacity <= Self.mostBytes else { return }
        used.reset()
        buffer.pointee = consume used
    }

    deinit {
        encoder.deinitialize(count: 1)
        encoder.deallocate()
        smallRows.deinitialize(count: 1)
        smallRows.deallocate()
        batch.deinitialize(count: 1)
        batch.deallocate()
        fetchIndexWriter.deinitialize(count: 1)
        fetchIndexWriter.deallocate()
        buffer.deinitialize(count: 1)
        buffer.deallocate()
        pageLists.deinitialize(count: 1)
        pageLists.deallocate()
        counters.deinitialize(count: 1)
        counters.deallocate()
    }
}
