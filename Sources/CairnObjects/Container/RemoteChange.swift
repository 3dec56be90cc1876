// What is written to a store, whoever writes it, as an asynchronous sequence and as Foundation's notification.
//
// A container observes its store only while somebody listens, or once the name of the notification was asked for.
//
// Threads: any. Notifications are posted by the thread that has committed, or that has read what another process wrote.

public import CairnModel
public import CairnStore
public import Foundation
import Synchronization

/// The changes that a commit wrote to a container's store.
public struct RemoteChange: Sendable, Numbered {
    /// The number of the change: one more than that of the last one. If numbers are missing, the listener was too slow for so
    /// many changes.
    public internal(set) var number = 0
    /// The identifier of the store.
    public let storeIdentifier: UUID
    /// The numbers of the commits: one, unless they were made by another process.
    public let commits: ClosedRange<UInt64>
    /// The author, if one was set; nil if the change covers several commits.
    public let author: String?
    /// The name of the context that wrote, if it has one and belongs to this process.
    public let contextName: String?
    /// Whether another process wrote.
    public let isFromAnotherProcess: Bool
    /// The position in the history after the commits; nil if the store keeps no history. It covers no other store:
    /// merge it into the token that you have.
    public let historyToken: PersistentHistoryToken?
    /// The changes, by entity; nil if they could not be read, so anything may have changed.
    public let entities: [EntityChanges]?
    private let identity: StoreIdentity

    init(_ set: ChangeSet, of store: any PersistentStore) {
        historyToken = store.historyToken(behind: [set.identity.identifier: set.commit])
        storeIdentifier = set.identity.identifier
        commits = set.commits
        author = set.author
        contextName = set.contextName
        isFromAnotherProcess = set.isFromAnotherProcess
        entities = try? set.entities()
        identity = set.identity
    }

    /// The ids of new objects.
    public var insertedObjectIDs: [ObjectID] { ids(\.inserted) }
    /// The ids of changed objects; see `EntityChanges.updated`.
    public var updatedObjectIDs: [ObjectID] { ids(\.updated) }
    /// The ids of deleted objects.
    public var deletedObjectIDs: [ObjectID] { ids(\.deleted) }

    private func ids(_ list: KeyPath<EntityChanges, ObjectNumbers>) -> [ObjectID] {
        (entities ?? []).flatMap { changes in
            changes[keyPath: list].map { identity.id($0, entity: changes.entity) }
        }
    }
}

extension PersistentContainer {
    /// Changes to the store from now on: one element for each commit, by saves of any context, by batch requests, and
    /// by other processes, as far as the store reads their commits.
    ///
    /// ```swift
    /// Task {
    ///     for await change in container.remoteChanges where change.isFromAnotherProcess {
    ///         print("somebody else changed", change.updatedObjectIDs.count, "objects")
    ///     }
    /// }
    /// ```
    ///
    /// Elements arrive in commit order, and their changes can be read when they arrive.
    ///
    /// Each access returns a new sequence, for one task, starting now. It ends when the task is cancelled or releases
    /// it, and with the container. Up to 1,024 changes are buffered for a listener; then the oldest are dropped, which
    /// you can tell from ``RemoteChange/number``.
    public var remoteChanges: some AsyncSequence<RemoteChange, Never> & Sendable {
        remote.stream()
    }

    /// Posted for each commit to a container's store, whatever its origin; see ``remoteChanges``. The notification's
    /// object is the container, and `Notification.remoteChange` contains the changes.
    ///
    /// It is posted synchronously, on the committing thread. Nothing is posted before the program has accessed this
    /// name.
    public static var storeRemoteChangeNotification: Notification.Name {
        RemoteChanges.askForName()
        return RemoteChanges.name
    }

    /// Keys of a container's notifications.
    public enum NotificationKey: String, Sendable, CaseIterable {
        /// The identifier of the store, as a `UUID`.
        case storeUUID = "storeUUID"
        /// What was written, as a ``RemoteChange``.
        case remoteChange = "remoteChange"
        /// The position in the history after it, as a `PersistentHistoryToken`, if the store keeps one.
        case historyToken = "historyToken"
    }
}

extension Notification {
    /// The changes, if this is a ``PersistentContainer/storeRemoteChangeNotification``.
    public var remoteChange: RemoteChange? {
        userInfo?[PersistentContainer.NotificationKey.remoteChange.rawValue] as? RemoteChange
    }
}

/// Tells of what is written to the store of a container.
final class RemoteChanges: Sendable {
    /// Not Core Data's own text: where that exists too, its observers must not be given our objects.
    static let name = Notification.Name("CairnPersistentStoreRemoteChangeNotification")

    private struct WeakContainer: Sendable {
        weak let container: PersistentContainer?
    }

    private struct WeakChanges: Sendable {
        weak let changes: RemoteChanges?
    }

    /// Who is to observe once somebody has asked for the name; and whether somebody has.
    private static let known = Mutex<(isAsked: Bool, all: [WeakChanges])>((false, []))

    private let store: any PersistentStore
    private let feed = Feed<RemoteChange>()
    private let container = Mutex<WeakContainer?>(nil)
    private let observation = Mutex<ChangeObservation?>(nil)

    init(_ store: any PersistentStore) { self.store = store }

    /// Says whose changes they are.
    func begin(_ container: PersistentContainer) {
        self.container.withLock { $0 = WeakContainer(container: container) }
        let isAsked = Self.known.withLock { known in
            known.all.removeAll { $0.changes == nil }
            known.all.append(WeakChanges(changes: self))
            return known.isAsked
        }
        if isAsked { observe() }
    }

    static func askForName() {
        let all = known.withLock { known -> [WeakChanges] in
            if known.isAsked { return [] }
            known.isAsked = true
            return known.all
        }
        for changes in all { changes.changes?.observe() }
    }

    func stream() -> AsyncStream<RemoteChange> {
        let stream = feed.stream()
        observe()
        return stream
    }

    private func observe() {
        observation.withLock { observation in
            if observation != nil { return }
            observation = store.observeChanges { [weak self] set in self?.receive(set) }
        }
    }

    private func receive(_ set: ChangeSet) {
        let isAsked = Self.known.withLock { $0.isAsked }
        guard isAsked || feed.isListenedTo else {
            // What ends with it must not end under the lock.
            let over = observation.withLock { observation -> ChangeObservation? in
                // Somebody may have asked just now.
                if feed.isListenedTo || Self.known.withLock({ $0.isAsked }) { return nil }
                defer { observation = nil }
                return observation
            }
            over?.cancel()
            return
        }
        let change = RemoteChange(set, of: store)
        if change.entities?.isEmpty == true { return }
        if feed.isListenedTo { feed.send(change) }
        guard isAsked, let container = container.withLock({ $0?.container }) else { return }
        var info: [AnyHashable: Any] = [
            PersistentContainer.NotificationKey.storeUUID.rawValue: change.storeIdentifier,
            PersistentContainer.NotificationKey.remoteChange.rawValue: change,
        ]
        if let token = change.historyToken {
            info[PersistentContainer.NotificationKey.historyToken.rawValue] = token
        }
        NotificationCenter.default.post(name: Self.name, object: container, userInfo: info)
    }
}
