// Counts the bytes of the blocks in a cache, which grow as columns are decoded.
//
// Threads: any.

import Synchronization

/// Counts the bytes of the blocks in a cache.
final class CacheMeter: Sendable {
    private let count = Atomic<Int>(0)

    /// How many there are.
    var bytes: Int { count.load(ordering: .relaxed) }

    /// There are more of them, or fewer.
    func add(_ bytes: Int) { count.wrappingAdd(bytes, ordering: .relaxed) }
}

/// What one block is charged for, as long as it is in a cache.
struct CacheCharge: ~Copyable {
    struct Charge {
        var meter: CacheMeter?
        var bytes: Int
    }

    private let charge: Mutex<Charge>

    /// - Parameter bytes: what the block takes without decoded columns.
    init(_ bytes: Int) { charge = Mutex(Charge(meter: nil, bytes: bytes)) }

    /// What the block takes.
    var bytes: Int { charge.withLock { $0.bytes } }

    /// It takes more.
    func grow(_ more: Int) {
        charge.withLock {
            $0.bytes += more
            $0.meter?.add(more)
        }
    }

    /// It is in a cache from now on.
    func begin(_ meter: CacheMeter) {
        charge.withLock {
            $0.meter = meter
            meter.add($0.bytes)
        }
    }

    /// It is in none any more.
    func end(_ meter: CacheMeter) {
        charge.withLock {
            guard $0.meter != nil else { return }
            $0.meter = nil
            meter.add(-$0.bytes)
        }
    }
}
