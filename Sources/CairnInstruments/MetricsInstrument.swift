// Events as counters and timers of swift-metrics.
//
// Metrics are made when they are first needed, and kept: making one asks the factory. Each has the entity as a dimension,
// where there is one.
//
// Threads: any; one lock for the table of what was made.

public import CairnStore
public import CoreMetrics
import Synchronization

/// Reports counts and durations of what contexts do as metrics.
///
/// ```swift
/// container.instruments = [MetricsInstrument()]
/// ```
///
/// | name | what |
/// | --- | --- |
/// | `cairn.fetches`, `.fetch.duration`, `.fetch.rows`, `.fetch.failures` | requests that read, with the dimension `kind` |
/// | `cairn.faults` | faults that were fired |
/// | `cairn.fault.misses`, `.fault.duration` | faults that queried the store |
/// | `cairn.saves`, `.save.duration`, `.save.inserted`, `.save.updated`, `.save.deleted`, `.save.absorbed`, `.save.conflicts`, `.save.failures` | saves |
/// | `cairn.batches`, `.batch.duration`, `.batch.inserted`, `.batch.updated`, `.batch.deleted`, `.batch.failures` | batch requests, with the dimension `kind` |
/// | `cairn.refreshed` | objects that became faults again |
public final class MetricsInstrument: Instrument {
    private struct Name: Hashable {
        let label: String
        let entity: String?
        let kind: String?
    }

    private struct Made {
        var counters: [Name: Counter] = [:]
        var timers: [Name: CoreMetrics.Timer] = [:]
    }

    private let prefix: String
    private let factory: any MetricsFactory
    private let made = Mutex(Made())

    /// Creates metrics whose names begin with a prefix and a dot, with a factory; nil: the factory of the process.
    public init(prefix: String = "cairn", factory: (any MetricsFactory)? = nil) {
        self.prefix = prefix
        self.factory = factory ?? MetricsSystem.factory
    }

    /// All events except advice, which is not a number.
    public var interests: StoreEventKinds { StoreEventKinds.all.subtracting(.advice) }

    /// Counts an event.
    public func receive(_ event: StoreEvent) {
        switch event {
        case .fetch(let event):
            let (entity, kind) = (event.request.entity, event.kind.rawValue)
            count("fetches", entity, kind)
            time("fetch.duration", entity, kind, event.duration)
            count("fetch.rows", entity, kind, event.kind == .count ? 0 : event.count)
            if event.error != nil { count("fetch.failures", entity, kind) }
        case .fault(let event):
            count("faults", event.entity)
            guard event.isMiss else { return }
            count("fault.misses", event.entity)
            time("fault.duration", event.entity, nil, event.duration)
        case .save(let event):
            count("saves")
            time("save.duration", nil, nil, event.duration)
            if event.error != nil { count("save.failures") }
            count("save.conflicts", nil, nil, event.conflicts)
            if event.error != nil { return }
            count("save.inserted", nil, nil, event.inserted)
            count("save.updated", nil, nil, event.updated)
            count("save.deleted", nil, nil, event.deleted)
            count("save.absorbed", nil, nil, event.absorbed)
        case .batch(let event):
            let (entity, kind) = (event.entity, event.kind.rawValue)
            count("batches", entity, kind)
            time("batch.duration", entity, kind, event.duration)
            if event.error != nil { count("batch.failures", entity, kind) }
            count("batch.inserted", entity, kind, event.inserted)
            count("batch.updated", entity, kind, event.updated)
            count("batch.deleted", entity, kind, event.deleted)
        case .refresh(let event): count("refreshed", nil, nil, event.count)
        case .advice: break
        }
    }

    private func count(
        _ label: String, _ entity: String? = nil, _ kind: String? = nil, _ amount: Int = 1
    ) {
        if amount == 0 { return }
        let name = Name(label: label, entity: entity, kind: kind)
        let counter = made.withLock { made in
            if let known = made.counters[name] { return known }
            let counter = Counter(
                label: "\(prefix).\(label)", dimensions: dimensions(name), factory: factory)
            made.counters[name] = counter
            return counter
        }
        counter.increment(by: amount)
    }

    private func time(_ label: String, _ entity: String?, _ kind: String?, _ duration: Duration) {
        let name = Name(label: label, entity: entity, kind: kind)
        let timer = made.withLock { made in
            if let known = made.timers[name] { return known }
            let timer = CoreMetrics.Timer(
                label: "\(prefix).\(label)", dimensions: dimensions(name), factory: factory)
            made.timers[name] = timer
            return timer
        }
        timer.recordNanoseconds(duration.nanoseconds)
    }

    private func dimensions(_ name: Name) -> [(String, String)] {
        [name.entity.map { ("entity", $0) }, name.kind.map { ("kind", $0) }].compactMap { $0 }
    }
}
