// Events for swift-log: a constant message, with the details under dotted metadata keys.

import CairnModel
public import CairnStore
public import Logging

/// Logs what contexts do with a logger: faults at the level `trace`, everything else at `debug`.
///
/// ```swift
/// container.instruments = [LogInstrument(logger: logger)]
/// ```
///
/// If the logger's level is above `debug` when the instrument is set, nothing is measured.
public struct LogInstrument: Instrument {
    private let logger: Logger
    private let includesValues: Bool

    /// Creates an instrument for a logger.
    ///
    /// - Parameter includesValues: whether to log the values that predicates compare with, and the messages of errors: they
    ///   can be users' data.
    public init(logger: Logger, includesValues: Bool = false) {
        self.logger = logger
        self.includesValues = includesValues
    }

    /// The kinds of events that the logger's level includes.
    public var interests: StoreEventKinds {
        switch logger.logLevel {
        case .trace: .all
        case .debug: StoreEventKinds.all.subtracting(.faults)
        default: []
        }
    }

    /// Logs an event.
    public func receive(_ event: StoreEvent) {
        switch event {
        case .fetch(let event): logger.debug("cairn fetched", metadata: metadata(event))
        case .fault(let event): logger.trace("cairn fault fired", metadata: metadata(event))
        case .save(let event): logger.debug("cairn saved", metadata: metadata(event))
        case .batch(let event): logger.debug("cairn batch executed", metadata: metadata(event))
        case .refresh(let event):
            logger.debug(
                "cairn objects refreshed",
                metadata: common(event.contextName, event.duration, nil).adding([
                    "cairn.count": "\(event.count)"
                ]))
        case .advice(let advice):
            logger.debug("cairn advice", metadata: metadata(advice))
        }
    }

    private func metadata(_ event: FetchEvent) -> Logger.Metadata {
        var metadata = common(event.contextName, event.duration, event.error)
        metadata["cairn.kind"] = "\(event.kind.rawValue)"
        metadata["cairn.entity"] = "\(event.request.entity)"
        metadata["cairn.request"] = "\(event.request.text(showsValues: includesValues))"
        metadata["cairn.count"] = "\(event.count)"
        if let keyPath = event.keyPath { metadata["cairn.key_path"] = "\(keyPath)" }
        if event.isAsynchronous { metadata["cairn.asynchronous"] = "true" }
        return metadata
    }

    private func metadata(_ event: FaultEvent) -> Logger.Metadata {
        var metadata = common(event.contextName, event.duration, event.error)
        metadata["cairn.entity"] = "\(event.entity)"
        if let relationship = event.relationship {
            metadata["cairn.relationship"] = "\(relationship)"
        }
        metadata["cairn.object"] = "\(event.objectID.reference)"
        metadata["cairn.miss"] = "\(event.isMiss)"
        metadata["cairn.count"] = "\(event.count)"
        return metadata
    }

    private func metadata(_ event: SaveEvent) -> Logger.Metadata {
        common(event.contextName, event.duration, event.error).adding([
            "cairn.inserted": "\(event.inserted)", "cairn.updated": "\(event.updated)",
            "cairn.deleted": "\(event.deleted)", "cairn.member_changes": "\(event.memberChanges)",
            "cairn.absorbed": "\(event.absorbed)", "cairn.conflicts": "\(event.conflicts)",
        ])
    }

    private func metadata(_ event: BatchEvent) -> Logger.Metadata {
        common(event.contextName, event.duration, event.error).adding([
            "cairn.kind": "\(event.kind.rawValue)", "cairn.entity": "\(event.entity)",
            "cairn.inserted": "\(event.inserted)", "cairn.updated": "\(event.updated)",
            "cairn.deleted": "\(event.deleted)",
        ])
    }

    private func metadata(_ advice: PrefetchAdvice) -> Logger.Metadata {
        var metadata: Logger.Metadata = [
            "cairn.entity": "\(advice.entity)", "cairn.count": "\(advice.count)",
            "cairn.advice": "\(advice.sentence)",
        ]
        if let context = advice.contextName { metadata["cairn.context"] = "\(context)" }
        if let relationship = advice.relationship {
            metadata["cairn.relationship"] = "\(relationship)"
        }
        if let keyPath = advice.keyPath { metadata["cairn.key_path"] = "\(keyPath)" }
        return metadata
    }

    private func common(_ contextName: String?, _ duration: Duration, _ error: (any Error)?)
        -> Logger.Metadata
    {
        var metadata: Logger.Metadata = ["cairn.milliseconds": "\(duration.milliseconds)"]
        if let contextName { metadata["cairn.context"] = "\(contextName)" }
        if let error {
            // A message may quote values.
            let code = (error as? StoreError).map { "\($0.code)" } ?? "\(type(of: error))"
            metadata["cairn.error"] = includesValues ? "\(error)" : "\(code)"
        }
        return metadata
    }
}

extension Logger.Metadata {
    fileprivate func adding(_ more: Logger.Metadata) -> Logger.Metadata {
        merging(more) { $1 }
    }
}
