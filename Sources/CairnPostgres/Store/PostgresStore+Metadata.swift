// The program's metadata in a store in a database.
//
// It is written by a transaction of its own: metadata that wait for a save are written before its rows, in the same
// transaction.

import CairnLog
public import CairnModel
public import CairnStore
public import FoundationEssentials
import Synchronization

extension StoreMetadata {
    /// The type of stores in a database.
    public static let postgresStoreType = "CairnPostgres"
}

extension PostgresStore: MetadataStore {
    /// The metadata as last set, whether written or not.
    public func metadata() throws(StoreError) -> StoreMetadata {
        try checkOpen()
        if let waiting = waitingMetadata.withLock({ $0 }) {
            return metadata(waiting.values, waiting.identifier ?? identity.identifier)
        }
        let results = try core.ask([
            Statement("SELECT key, value FROM \(core.layout.sql(.metadata))"),
            Statement("SELECT identifier FROM \(core.layout.sql(.store))"),
        ])
        return try StoreCore.sql { () throws(SQLFailure) in
            metadata(try results[0].metadata(), try results[1].uuid(0, 0))
        }
    }

    private func metadata(_ values: [String: Value], _ identifier: UUID) -> StoreMetadata {
        StoreMetadata(
            type: StoreMetadata.postgresStoreType, identifier: identifier, model: schema.model,
            values: values)
    }

    /// Replaces all of the program's values.
    public func setMetadata(_ values: [String: Value], identifier: UUID?) throws(StoreError) {
        try checkWritable()
        for (key, value) in values {
            if case .objectID = value {
                throw StoreError(
                    .invalidRequest, "an object id cannot be a value of a store's metadata",
                    context: .init(key: key))
            }
        }
        waitingMetadata.withLock { waiting in
            waiting = WaitingMetadata(
                values: values.filter { !$0.value.isNull },
                identifier: identifier ?? waiting?.identifier)
        }
    }

    /// Whether metadata are waiting for a save.
    public var hasMetadataToWrite: Bool { waitingMetadata.withLock { $0 != nil } }

    /// Writes pending metadata, if any.
    public func writeMetadata() throws(StoreError) {
        try checkWritable()
        guard let waiting = waitingMetadata.withLock({ $0 }) else { return }
        let statements = try waiting.statements(core.layout)
        // Written twice they are what they are: a lost connection, too, is tried again.
        _ = try Retries(core.options.attempts).run { () throws(StoreError) in
            try core.carryOut(statements)
        }
        forget(waiting)
    }

    /// Notes that metadata are written; others may have been set since.
    func forget(_ written: WaitingMetadata?) {
        guard let written else { return }
        waitingMetadata.withLock { if $0 == written { $0 = nil } }
    }
}
