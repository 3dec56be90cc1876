// The most recently requested listings.
//
//   1. A listing is created only once for all concurrent requests; a request that already has its first page
//      does not wait for it.
//   2. Their number and their total size are limited: the least recently requested are evicted.
//
// Threads: any.

import Synchronization

/// Caches listings.
final class StudioListings: Sendable {
    /// The maximum number of listings.
    static let most = 8
    /// The maximum total size in bytes, unless a single listing is larger.
    static let mostBytes = 256 << 20

    private struct State {
        /// Ordered by request: the most recent is last.
        var kept: [(key: StudioListingKey, listing: StudioListing)] = []
        var inWork: [StudioListingKey: Task<StudioListing, any Error>] = [:]
    }

    private let state = Mutex(State())
    private let threads: StudioThreads

    init(_ threads: StudioThreads) { self.threads = threads }

    /// Returns a listing from the cache.
    func known(_ key: StudioListingKey) -> StudioListing? {
        state.withLock { state in
            guard let index = state.kept.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = state.kept.remove(at: index)
            state.kept.append(entry)
            return entry.listing
        }
    }

    /// Creates a listing, unless that is already in progress.
    @discardableResult
    func make(
        _ key: StudioListingKey, _ body: @escaping @Sendable () throws -> StudioListing
    ) -> Task<StudioListing, any Error> {
        state.withLock { state in
            if let task = state.inWork[key] { return task }
            if let entry = state.kept.first(where: { $0.key == key }) {
                return Task { entry.listing }
            }
            let threads = threads
            let task = Task {
                do {
                    let listing = try await threads.run(.long, body)
                    finish(key, listing)
                    return listing
                } catch {
                    finish(key, nil)
                    throw error
                }
            }
            state.inWork[key] = task
            return task
        }
    }

    private func finish(_ key: StudioListingKey, _ listing: StudioListing?) {
        state.withLock { state in
            state.inWork[key] = nil
            guard let listing else { return }
            state.kept.append((key, listing))
            var bytes = state.kept.reduce(0) { $0 + $1.listing.byteCount }
            while state.kept.count > Self.most || (bytes > Self.mostBytes && state.kept.count > 1) {
                bytes -= state.kept.removeFirst().listing.byteCount
            }
        }
    }
}
