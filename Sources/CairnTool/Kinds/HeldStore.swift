// A store that stays open while several commands work on it, as the studio keeps one.
//
// Threads: any.

import CairnLog
import CairnStore

/// A store that is open already for the commands that run in a task or a thread.
final class HeldStore: Sendable {
    /// That of the command that is running; nil: each command opens its store and closes it.
    @TaskLocal static var current: HeldStore?

    let place: String
    let store: any CommandStore
    /// Who writes, in place of the command.
    let author: String?

    init(place: String, store: any CommandStore, author: String? = nil) {
        self.place = place
        self.store = store
        self.author = author
    }

    /// The store, if it is the one at a place and can do what it is opened for.
    static func store(at place: String, _ access: StoreAccess) -> (any CommandStore)? {
        guard let held = current, held.place == place,
            access.isReadOnly || !held.store.isReadOnly
        else { return nil }
        return held.store
    }
}

extension StoreKind {
    /// Runs a body with a store that exists: the one that is held open, or one that is opened and closed for it.
    func using<Result>(
        _ place: String, _ access: StoreAccess, _ body: (any CommandStore) throws -> Result
    ) throws -> Result {
        if let store = HeldStore.store(at: place, access) { return try body(store) }
        let store = try open(place, access)
        return try store.closing { try body(store) }
    }
}

extension FolderKind {
    /// The same, as a store of the log-structured engine.
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
