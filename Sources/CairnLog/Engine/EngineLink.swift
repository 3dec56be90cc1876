// A reference to an engine for later work, valid as long as the engine is open.
//
// A weak reference would do, but the first of them moves the counts of an object to a table beside it for good, and every request
// counts references to the engine. So what is done later has this, and not the engine. The registry has an engine until it is
// closed anyway.
//
// Threads: any; one lock.

import Synchronization

final class EngineLink: Sendable {
    private let open = Mutex<Engine?>(nil)

    /// The engine; nil after it was closed.
    var engine: Engine? { open.withLock { $0 } }

    /// Sets the engine.
    func begin(_ engine: Engine) { open.withLock { $0 = engine } }

    /// Says that the engine is closed.
    func end() {
        // What may end with it must not end under the lock.
        let engine = open.withLock { $0.take() }
        withExtendedLifetime(engine) {}
    }
}
