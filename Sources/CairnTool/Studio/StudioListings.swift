// The listings that were asked for last.
//
//   1. A listing is made once, whoever asks for it meanwhile; who has its first page already does not wait for it.
//   2. At most so many are kept, and so many bytes of them: those that were asked for last.
//
// Threads: any.

import Synchronization

/// Keeps listings.
final class StudioListings: Sendable {
    /// How many are kept.
    static let most = 8
    /// How many bytes they have together, unless one alone has more.
    static let mostBytes = 256 << 20

    private struct State {
        /// The last one that was asked for comes last.
        var kept: [(key: StudioListingKey, listing: StudioListing)] = []
        var inWork: [StudioListingKey: Task<StudioListing, any Error>] = [:]
    }

    private let state = Mutex(State())
    private let threads: StudioThreads

    init(_ threads: StudioThreads) { self.threads = threads }

    /// A listing that is there already.
    func known(_ key: StudioListingKey) -> StudioListing? {
        state.withLock { state in
            guard let index = state.kept.firstIndex(where: { $0.key == key }) else { return nil }
            let entry = state.kept.remove(at: index)
            state.kept.append(entry)
            return entry.listing
        }
    }

    /// Has a listing made, if nobody is about it.
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
