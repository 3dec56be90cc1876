// One file of an in-memory disk: its bytes and its locks, shared by all its open files.
//
// Threads: any; one lock for both parts. The bytes of a read or a write move under it.

internal import Synchronization

final class MemoryContent: Sendable {
    struct State: ~Copyable {
        var bytes = SparseBytes()
        var locks = ByteLocks()
    }

    let identity: FileIdentity
    private let state = Mutex(State())

    init(_ identity: FileIdentity) {
        self.identity = identity
    }

    func withBytes<Result: Sendable>(_ body: (inout SparseBytes) -> Result) -> Result {
        state.withLock { body(&$0.bytes) }
    }

    func withLocks<Result: Sendable>(_ body: (inout ByteLocks) -> Result) -> Result {
        state.withLock { body(&$0.locks) }
    }
}

/// The locked bytes and their owners, by the number of the open file.
struct ByteLocks: Sendable {
    private enum Holders {
        case shared(Set<UInt64>)
        case exclusive(UInt64)
    }

    private var bytes: [UInt64: Holders] = [:]

    /// Locks a byte for `owner`, or changes its lock; returns false if another owner holds a conflicting
    /// lock.
    mutating func lock(_ byte: UInt64, exclusive: Bool, by owner: UInt64) -> Bool {
        if exclusive {
            if isHeld(byte, byOtherThan: owner) { return false }
            bytes[byte] = .exclusive(owner)
            return true
        }
        switch bytes[byte] {
        case .exclusive(let holder) where holder != owner: return false
        case .shared(let holders): bytes[byte] = .shared(holders.union([owner]))
        case .exclusive, nil: bytes[byte] = .shared([owner])
        }
        return true
    }

    mutating func unlock(_ byte: UInt64, by owner: UInt64) {
        switch bytes[byte] {
        case .exclusive(owner): bytes[byte] = nil
        case .shared(let holders):
            let rest = holders.subtracting([owner])
            bytes[byte] = rest.isEmpty ? nil : .shared(rest)
        case .exclusive, nil: break
        }
    }

    mutating func unlockAll(by owner: UInt64) {
        for byte in Array(bytes.keys) { unlock(byte, by: owner) }
    }

    func isHeld(_ byte: UInt64, byOtherThan owner: UInt64) -> Bool {
        switch bytes[byte] {
        case .exclusive(let holder): holder != owner
        case .shared(let holders): holders.contains { $0 != owner }
        case nil: false
        }
    }
}
