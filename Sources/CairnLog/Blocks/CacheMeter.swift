// Counts the bytes of the blocks in a cache, which grow as columns are decoded.
//
// Threads: any.

import Synchronization

/// Counts the bytes of the blocks in a cache.
final class CacheMeter: Sendable {
    private let count = Atomic<Int>(0)

    /// The number of bytes.
    var bytes: Int { count.load(ordering: .relaxed) }

    /// Adds a number of bytes, which may be negative.
    func add(_ bytes: Int) { count.wrappingAdd(bytes, ordering: .relaxed) }
}

/// The bytes that one block is charged for, as long as it is in a cache.
struct CacheCharge: ~Copyable {
    struct Charge {
        var meter: CacheMeter?
        var bytes: Int
    }

    private let charge: Mutex<Charge>

    /// - Parameter bytes: the size of the block without decoded columns.
    init(_ bytes: Int) { charge = Mutex(Charge(meter: nil, bytes: bytes)) }

    /// The size of the block.
    var bytes: Int { charge.withLock { $0.bytes } }

    /// Adds to the size of the block.
    func grow(_ more: Int) {
        charge.withLock {
            $0.bytes += more
            $0.meter?.add(more)
        }
    }

    /// Starts charging the block to a cache.
    func begin(_ meter: CacheMeter) {
        charge.withLock {
            $0.meter = meter
            meter.add($0.bytes)
        }
    }

    /// Stops charging the block to a cache.
    func end(_ meter: CacheMeter) {
        charge.withLock {
            guard $0.meter != nil else { return }
            $0.meter = nil
            meter.add(-$0.bytes)
        }
    }
}
