// Who is told of what contexts do.

/// Gets what contexts ask of their store, and how long it took.
///
/// ``TraceInstrument`` writes it down as lines. The library CairnInstruments passes it on to swift-log and swift-metrics.
/// Without instruments nothing is measured, and no event is made.
///
/// Instruments are called by the thread that works, while it does: what they do takes the time of the work. They must not use
/// the context that the event is of.
public protocol Instrument: Sendable {
    /// The events that are wanted; others are not made. It is asked for once, when the instrument is set.
    var interests: StoreEventKinds { get }

    /// Takes an event of a kind that is wanted.
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

    /// The kinds of these bits.
    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Requests that read: fetches, counts, batches, rows that are read ahead.
    public static let fetches = StoreEventKinds(rawValue: 1)
    /// Faults whose values had to be asked for.
    public static let faultMisses = StoreEventKinds(rawValue: 2)
    /// Faults whose values were here: a fetch or a prefetch had brought them.
    public static let faultHits = StoreEventKinds(rawValue: 4)
    /// Saves.
    public static let saves = StoreEventKinds(rawValue: 8)
    /// Batch requests.
    public static let batches = StoreEventKinds(rawValue: 16)
    /// Objects that are refreshed: they become faults again, or are reread. What `rollback()` and `reset()` do is none.
    public static let refreshes = StoreEventKinds(rawValue: 32)
    /// Advice. It costs an entry in a table for each object that is fetched.
    public static let advice = StoreEventKinds(rawValue: 64)

    /// All faults.
    public static let faults: StoreEventKinds = [.faultMisses, .faultHits]
    /// All events.
    public static let all: StoreEventKinds = [
        .fetches, .faults, .saves, .batches, .refreshes, .advice,
    ]
}

/// What a context has done, or what could be done better.
///
/// More cases may come: give a `switch` over it a `default` clause.
public enum StoreEvent: Sendable {
    /// Something was read by a request.
    case fetch(FetchEvent)
    /// A fault was touched.
    case fault(FaultEvent)
    /// Changes were saved.
    case save(SaveEvent)
    /// A batch request was carried out.
    case batch(BatchEvent)
    /// Objects were refreshed.
    case refresh(RefreshEvent)
    /// A loop reads what one request could have read.
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
