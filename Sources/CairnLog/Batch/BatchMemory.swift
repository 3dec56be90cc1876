// Threads: used only by the holder of the write lock.

/// Memory that batch inserts reuse.
final class BatchMemory {
    private var room: BatchRoom?

    /// The memory kept in a commit's memory.
    static func of(_ memory: CommitMemory) -> BatchMemory {
        if let known = memory.batch.pointee { return unsafeDowncast(known, to: BatchMemory.self) }
        let made = BatchMemory()
        memory.batch.pointee = made
        return made
    }

    func take() -> BatchRoom? { room.take() }

    func keep(_ used: consuming BatchRoom) { room = consume used }
}
