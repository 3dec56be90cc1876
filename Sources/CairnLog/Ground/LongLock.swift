// A lock for sections that wait for a disk, so that other threads often wait for the lock.
//
// It is a `Mutex`. But the kernel passes on a contended Mutex, which the thread sanitizer does not see: it
// would report every such section as a race. The atomic next to it establishes the same order in a way that
// the sanitizer sees, at the cost of two plain instructions.
//
// Threads: any.

import Synchronization

/// A value that one thread at a time can use, possibly for long.
struct LongLock<Value: ~Copyable>: ~Copyable {
    private let mutex: Mutex<Value>
    private let passed = Atomic<UInt>(0)
    /// The thread that holds the lock; 0 if none.
    private let holder = Atomic<UInt>(0)

    init(_ value: consuming sending Value) {
        mutex = Mutex(value)
    }

    /// Whether the calling thread holds the lock: waiting for it would never end.
    var isHeldByThisThread: Bool { holder.load(ordering: .relaxed) == SystemThread.current }

    /// Runs a closure while holding the lock.
    borrowing func withLock<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R {
        try mutex.withLock { value throws(E) in
            let turn = passed.load(ordering: .acquiring)
            holder.store(SystemThread.current, ordering: .relaxed)
            defer {
                holder.store(0, ordering: .relaxed)
                passed.store(turn &+ 1, ordering: .releasing)
            }
            return try body(&value)
        }
    }

    /// The same if no other thread holds the lock; otherwise returns nil.
    borrowing func withLockIfAvailable<R: ~Copyable, E: Error>(
        _ body: (inout sending Value) throws(E) -> sending R
    ) throws(E) -> sending R? {
        try mutex.withLockIfAvailable { value throws(E) in
            let turn = passed.load(ordering: .acquiring)
            holder.store(SystemThread.current, ordering: .relaxed)
            defer {
                holder.store(0, ordering: .relaxed)
                passed.store(turn &+ 1, ordering: .releasing)
            }
            return try body(&value)
        }
    }
}

extension LongLock: Sendable where Value: ~Copyable {}
