// The studio's open store, for all requests.
//
//   1. It stays open from the first to the last request. The next query sees commits of other processes.
//   2. If it can no longer be used, as after a change of its model by another program, it is reopened.
//      Running queries continue; it is closed after the last one.
//
// Threads: any.

import CairnLog
import CairnStore
import Synchronization

/// A store that is held open.
final class StudioStore: Sendable {
    /// The author of changes in the history.
    static let author = "studio"

    let place: String
    let kinds: StoreKinds
    /// The place's title for output.
    let title: String
    private let access: StoreAccess
    private let held: Mutex<Opened?>
    private let news: StudioNews

    /// A store that closes when the last reference goes away.
    private final class Opened: Sendable {
        let store: HeldStore
        let observation: ChangeObservation

        init(_ store: HeldStore, _ observation: ChangeObservation) {
            self.store = store
            self.observation = observation
        }

        deinit {
            observation.cancel()
            // It was only read, or all its changes are stored.
            try? store.store.close()
        }
    }

    /// Opens a store.
    init(place: String, access: StoreAccess, kinds: StoreKinds, news: StudioNews) throws {
        self.place = place
        self.access = access
        self.kinds = kinds
        self.news = news
        title = kinds.title(of: place)
        held = Mutex(nil)
        _ = try current()
    }

    var isWritable: Bool { !access.isReadOnly }

    private func current() throws -> Opened {
        if let opened = held.withLock({ $0 }) { return opened }
        let kind = try kinds.kind(of: place)
        let store = try StoreKinds.$current.withValue(kinds) { try kind.open(place, access) }
        let news = news
        let observation = store.observeChanges { changes in news.tell(changes.commit) }
        let opened = Opened(
            HeldStore(place: place, store: store, author: Self.author), observation)
        let kept = held.withLock { held in
            // Another thread may have been faster.
            if held == nil { held = opened }
            return held ?? opened
        }
        news.tell(try kept.store.store.snapshot().commit)
        return kept
    }

    /// Runs a body whose commands use the held store.
    func use<Result>(_ body: () throws -> Result) throws -> Result {
        let opened = try current()
        do {
            return try running(opened, body)
        } catch let error where Self.isOver(error) {
            // Another process has changed its model, or it has failed. A second open within a process returns
            // the same store, so it is closed here and then reopened. Its states that are being read stay
            // readable.
            held.withLock { if $0 === opened { $0 = nil } }
            try? opened.store.store.close()
            return try running(try current(), body)
        }
    }

    /// Returns whether an error means that the open store can no longer be used.
    private static func isOver(_ error: any Error) -> Bool {
        let code = ((error as? StudioRefusal)?.error ?? error as? StoreError)?.code
        return code == .incompatibleModel || code == .unusable
    }

    private func running<Result>(_ opened: Opened, _ body: () throws -> Result) throws -> Result {
        try withExtendedLifetime(opened) {
            // Shows all durable commits, even before the store is notified of them.
            if let log = opened.store.store as? LogStore, log.isReadOnly { try log.refresh() }
            return try StoreKinds.$current.withValue(kinds) {
                try HeldStore.$current.withValue(opened.store, operation: body)
            }
        }
    }

    /// Runs a body with the store as commands use it.
    func session<Result>(_ body: (StoreSession) throws -> Result) throws -> Result {
        try use { try StoreSession.with(place, access, body) }
    }

    /// Closes the store. It must not be used after that.
    func close() { held.withLock { $0 = nil } }
}
