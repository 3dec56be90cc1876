// What the holder of the turn keeps from one commit to the next, so as not to make it anew.
//
// It lies behind pointers: a property of an object is guarded at every access to a part of it, which a commit of one
// row would make by the dozen.
//
// Threads: used by the holder of the turn alone.

/// Memory that commits use one after the other.
final class CommitMemory: @unchecked Sendable {
    // Used by the holder of the turn alone.
    let encoder: UnsafeMutablePointer<RowBlockEncoder>
    let smallRows: UnsafeMutablePointer<SmallRowsByEntity>

    init() {
        encoder = .allocate(capacity: 1)
        encoder.initialize(to: RowBlockEncoder())
        smallRows = .allocate(capacity: 1)
        smallRows.initialize(to: SmallRowsByEntity())
    }

    deinit {
        encoder.deinitialize(count: 1)
        encoder.deallocate()
        smallRows.deinitialize(count: 1)
        smallRows.deallocate()
    }
}
