// The catalogs of the schema frames that this process has read most recently.
//
// A program opens its stores again and again, and all of one kind have the same schema frame. Reading one takes longer than
// anything else that opening does, so what it means is kept, by its bytes: they are compared one by one, as a checksum could be that
// of another model.
//
// Invariants: what is kept was read and found right, says nothing of a place, and never changes.
// Threads: any; one lock, under which bytes are compared and nothing is read.

import CairnFormat
import Synchronization

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// Cached catalogs, by the bytes of their schema frames.
final class KnownCatalogs: Sendable {
    static let shared = KnownCatalogs()

    private struct Known: Sendable {
        let payload: [UInt8]
        let catalog: Catalog

        func isOf(_ other: UnsafeRawBufferPointer) -> Bool {
            payload.count == other.count
                && payload.withUnsafeBytes { payload in
                    guard let mine = payload.baseAddress, let theirs = other.baseAddress else {
                        return true
                    }
                    return memcmp(mine, theirs, payload.count) == 0
                }
        }
    }

    /// A program has few models. What is kept is for as long as it runs.
    private static let most = 8
    /// The schema of a model of some hundred entities; one that is larger is read each time.
    private static let longest = 256 << 10

    /// The one that was asked for last is the last.
    private let known = Mutex<[Known]>([])

    /// The catalog of a frame with these bytes: as it is known, or as a closure reads it.
    func catalog(
        _ payload: UnsafeRawBufferPointer, read: (UnsafeRawBufferPointer) throws -> Catalog
    ) rethrows -> Catalog {
        guard payload.count <= Self.longest else { return try read(payload) }
        if let catalog = find(payload) { return catalog }
        let catalog = try read(payload)
        let made = Known(payload: Array(payload), catalog: catalog)
        // What is given up must not end under the lock.
        let former = known.withLock { known -> [Known] in
            let former = known
            if known.count == Self.most { known.removeFirst() }
            known.append(made)
            return former
        }
        withExtendedLifetime(former) {}
        return catalog
    }

    private func find(_ payload: UnsafeRawBufferPointer) -> Catalog? {
        known.withLock { known in
            guard let place = known.lastIndex(where: { $0.isOf(payload) }) else {
                return nil
            }
            known.append(known.remove(at: place))
            return known[known.count - 1].catalog
        }
    }
}
