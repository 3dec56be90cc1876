// Receives events about what contexts do.

/// Receives the requests of contexts to their store, and their durations.
///
/// ``TraceInstrument`` logs events as lines. The library CairnInstruments passes them to swift-log and swift-metrics.
/// Without instruments, nothing is measured, and no events are created.
///
/// Instruments are called synchronously on the working thread, so their time adds to the work. They must not use the
/// context of the event.
public protocol Instrument: Sendable {
    /// The kinds of events to receive; others are not created. It is read once, when the instrument is set.
    var interests: StoreEventKinds { get }

    /// Receives an event of one of these kinds.
    func receive(_ event: StoreEvent)
}

extension Instrument {
    /// All events.
    public var interests: StoreEventKinds { .all }
}

/// Kinds of events.
public struct StoreEventKinds: OptionSet, Sendable, Hashable {
    /// A bit for each kind.
    public let rawValue: UInt32

    /// The kinds with these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Requests that read: fetches, counts, batches, prefetched rows.
    public static let fetches = StoreEventKinds(rawValue: 1)
    /// Faults whose values had to be read from the store.
    public static let faultMisses = StoreEventKinds(rawValue: 2)
    /// Faults whose values were available from a fetch or a prefetch.
    public static let faultHits = StoreEventKinds(rawValue: 4)
    /// Saves.
    public static let saves = StoreEventKinds(rawValue: 8)
    /// Batch requests.
    public static let batches = StoreEventKinds(rawValue: 16)
    /// Objects that are refreshed: they become faults again, or are reread. `rollback()` and `reset()` do not count.
    public static let refreshes = StoreEventKinds(rawValue: 32)
    /// Advice. It costs a table entry for each fetched object.
    public static let advice = StoreEventKinds(rawValue: 64)

    /// All faults.
    public static let faults: StoreEventKinds = [.faultMisses, .faultHits]
    /// All events.
    public static let all: StoreEventKinds = [
        .fetches, .faults, .saves, .batches, .refreshes, .advice,
    ]
}

/// An action of a context, or advice.
///
/// Cases may be added: a `switch` over it requires a `default` clause.
public enum StoreEvent: Sendable {
    /// A request read something.
    case fetch(FetchEvent)
    /// A fault was fired.
    case fault(FaultEvent)
    /// Changes were saved.
    case save(SaveEvent)
    /// A batch request was executed.
    case batch(BatchEvent)
    /// Objects were refreshed.
    case refresh(RefreshEvent)
    /// A loop reads one by one what one request could have read.
    case advice(PrefetchAdvice)

    /// The kind of event.
    public var kind: StoreEventKinds {
        switch self {
        case .fetch: .fetches
        case .fault(let event): event.isMiss ? .faultMisses : .faultHits
        case .save: .saves
        case .batch: .batches
        case .refresh: .refreshes
        case .advice: .advice
        }
    }
}
