// The catalogs of the schema frames that this process has read most recently.
//
// A program opens its stores again and again, and all stores of one kind have the same schema frame. Decoding
// one takes longer than anything else in opening a store, so the result is cached by the frame's bytes. These
// are compared byte by byte, because a checksum could be that of another model.
//
// Invariants: a cached catalog was decoded and found valid, contains no place, and never changes.
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

    /// The maximum number of catalogs: a program has few models. They are kept as long as it runs.
    private static let most = 8
    /// The maximum length of a frame: the schema of some hundred entities. A longer one is decoded each time.
    private static let longest = 256 << 10

    /// The most recently used one is last.
    private let known = Mutex<[Known]>([])

    /// Returns the catalog of a frame with these bytes: the cached one, or the one that a closure reads.
    func catalog(
        _ payload: UnsafeRawBufferPointer, read: (UnsafeRawBufferPointer) throws -> Catalog
    ) rethrows -> Catalog {
        guard payload.count <= Self.longest else { return try read(payload) }
        if let catalog = find(payload) { return catalog }
        let catalog = try read(payload)
        let made = Known(payload: Array(payload), catalog: catalog)
        // Catalogs that are dropped must not be released under the lock.
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
