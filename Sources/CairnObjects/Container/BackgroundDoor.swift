import Synchronization

/// A background context as whoever commits knows it.
final class BackgroundDoor: Sendable {
    private struct WeakActor: Sendable {
        weak let actor: BackgroundContext?
    }

    private let door = Mutex<WeakActor?>(nil)

    /// Says whose door it is.
    func begin(_ actor: BackgroundContext) { door.withLock { $0 = WeakActor(actor: actor) } }

    /// Has the context merge what waits in a turn of its own.
    func wake() {
        guard let actor = door.withLock({ $0?.actor }) else { return }
        Task { await actor.mergeWaitingChanges() }
    }
}
