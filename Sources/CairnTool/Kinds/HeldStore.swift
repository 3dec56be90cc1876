// A store that stays open while several commands use it, as in the studio.
//
// Threads: any.

import CairnLog
import CairnStore

/// An open store for the commands that run in a task or a thread.
final class HeldStore: Sendable {
    /// The store for the running command; nil: each command opens and closes its store.
    @TaskLocal static var current: HeldStore?

    let place: String
    let store: any CommandStore
    /// The author of changes, instead of the command.
    let author: String?

    init(place: String, store: any CommandStore, author: String? = nil) {
        self.place = place
        self.store = store
        self.author = author
    }

    /// Returns the store if it is the one at a place and allows the requested access.
    static func store(at place: String, _ access: StoreAccess) -> (any CommandStore)? {
        guard let held = current, held.place == place,
            access.isReadOnly || !held.store.isReadOnly
        else { return nil }
        return held.store
    }
}

extension StoreKind {
    /// Runs a body with an existing store: the held store, or one that is opened and closed for the body.
    func using<Result>(
        _ place: String, _ access: StoreAccess, _ body: (any CommandStore) throws -> Result
    ) throws -> Result {
        if let store = HeldStore.store(at: place, access) { return try body(store) }
        let store = try open(place, access)
        return try store.closing { try body(store) }
    }
}

extension FolderKind {
    /// Runs a body in the same way with a store of the log-structured engine.
    func usingLog<Result>(
        _ place: String, _ access: StoreAccess, _ body: (LogStore) throws -> Result
    ) throws -> Result {
        try using(place, access) { store in
            guard let log = store as? LogStore else {
                preconditionFailure("a folder has a store of the log-structured engine")
            }
            return try body(log)
        }
    }
}
