// The store that the studio has open, for all requests.
//
//   1. It stays open from the first to the last request. What others write shows in the next question.
//   2. If it cannot be used any more, as after a change of its model by another program, it is opened anew. Who is asking it
//      goes on; it is closed when the last one is done.
//
// Threads: any.

import CairnLog
import CairnStore
import Synchronization

/// A store that is held open.
final class StudioStore: Sendable {
    /// Who the history says has written.
    static let author = "studio"

    let place: String
    let kinds: StoreKinds
    /// The place as it is shown.
    let title: String
    private let access: StoreAccess
    private let held: Mutex<Opened?>
    private let news: StudioNews

    /// A store, closed when nobody has it any more.
    private final class Opened: Sendable {
        let store: HeldStore
        let observation: ChangeObservation

        init(_ store: HeldStore, _ observation: ChangeObservation) {
            self.store = store
            self.observation = observation
        }

        deinit {
            observation.cancel()
            // It was only read, or every change of it is stored.
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

    /// Runs a body in which commands work on the held store.
    func use<Result>(_ body: () throws -> Result) throws -> Result {
        let opened = try current()
        do {
            return try running(opened, body)
        } catch let error where Self.isOver(error) {
            // Somebody has changed its model, or it has failed. A store that is open twice in a process is one: it is opened
            // anew when it is closed here. States of it that others are reading stay readable.
            held.withLock { if $0 === opened { $0 = nil } }
            try? opened.store.store.close()
            return try running(try current(), body)
        }
    }

    /// Whether an error says that the store cannot be used any more as it is open.
    private static func isOver(_ error: any Error) -> Bool {
        let code = ((error as? StudioRefusal)?.error ?? error as? StoreError)?.code
        return code == .incompatibleModel || code == .unusable
    }

    private func running<Result>(_ opened: Opened, _ body: () throws -> Result) throws -> Result {
        try withExtendedLifetime(opened) {
            // The commits that are durable now show, whether or not the store has been told of them.
            if let log = opened.store.store as? LogStore, log.isReadOnly { try log.refresh() }
            return try StoreKinds.$current.withValue(kinds) {
                try HeldStore.$current.withValue(opened.store, operation: body)
            }
        }
    }

    /// Runs a body with the store as commands see it.
    func session<Result>(_ body: (StoreSession) throws -> Result) throws -> Result {
        try use { try StoreSession.with(place, access, body) }
    }

    /// Closes the store. Nobody uses it any more.
    func close() { held.withLock { $0 = nil } }
}
