// A reference to an engine for scheduled work, valid as long as the engine is open.
//
// A weak reference would do, but the first one permanently moves an object's reference counts to a side
// table, and every request counts references to the engine. So scheduled work holds this instead of the
// engine. The registry keeps an engine until it is closed anyway.
//
// Threads: any; one lock.

import Synchronization

final class EngineLink: Sendable {
    private let open = Mutex<Engine?>(nil)

    /// The engine; nil after it was closed.
    var engine: Engine? { open.withLock { $0 } }

    /// Sets the engine.
    func begin(_ engine: Engine) { open.withLock { $0 = engine } }

    /// Clears the engine when it is closed.
    func end() {
        // Objects that are released with it must not be released under the lock.
        let engine = open.withLock { $0.take() }
        withExtendedLifetime(engine) {}
    }
}
