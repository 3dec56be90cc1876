// The instruments of a container, which its contexts share.
//
// Off is the common state: then a look at the kinds that are wanted, one load, is all that there is.
//
// Threads: any.

import CairnStore
import Synchronization

/// Instruments, and the kinds of events that any of them wants.
final class InstrumentBoard: Sendable {
    private let kinds = Atomic<UInt32>(0)
    private let list: Mutex<[(kinds: StoreEventKinds, instrument: any Instrument)]>

    init(_ instruments: [any Instrument] = []) {
        list = Mutex([])
        set(instruments)
    }

    /// The instruments.
    var instruments: [any Instrument] { list.withLock { $0.map(\.instrument) } }

    /// Sets other instruments.
    func set(_ instruments: [any Instrument]) {
        let list = instruments.map { (kinds: $0.interests, instrument: $0) }
        let wanted = list.reduce(StoreEventKinds()) { $0.union($1.kinds) }
        self.list.withLock {
            $0 = list
            kinds.store(wanted.rawValue, ordering: .relaxed)
        }
    }

    /// Whether anybody wants one of some kinds of events.
    @inline(__always) func wants(_ wanted: StoreEventKinds) -> Bool {
        kinds.load(ordering: .relaxed) & wanted.rawValue != 0
    }

    /// Tells those who want it.
    func send(_ event: StoreEvent) {
        let kind = event.kind
        for entry in list.withLock({ $0 }) where entry.kinds.contains(kind) {
            entry.instrument.receive(event)
        }
    }
}
