// The program's metadata, to be written to the server or read from it.
//
// Threads: plain values.

import CairnModel
import CairnStore
import FoundationEssentials

/// Metadata to write.
struct WaitingMetadata: Sendable, Equatable {
    let values: [String: Value]
    let identifier: UUID?

    /// What writes them within a transaction.
    func statements(_ layout: TableLayout) throws(StoreError) -> [Statement] {
        var keys = SQLArray(of: .text)
        var contents = SQLArray(of: .bytes)
        for (key, value) in values.sorted(by: { $0.key < $1.key }) {
            do {
                try keys.append(text: key)
                try contents.append(data: JSONEncoder().encode(value))
            } catch let failure as SQLFailure {
                throw StoreError(failure)
            } catch {
                throw StoreError(
                    .invalidRequest, "the value cannot be kept: \(error)", context: .init(key: key))
            }
        }
        var statements = [
            // Two who write them wait for each other here, and not at each key.
            layout.storeLock,
            Statement("DELETE FROM \(layout.sql(.metadata))"),
            Statement(
                """
                INSERT INTO \(layout.sql(.metadata)) (key, value) \
                SELECT * FROM unnest($1::text[], $2::bytea[])
                """, [.array(keys), .array(contents)]),
        ]
        if let identifier {
            statements.append(
                Statement(
                    "UPDATE \(layout.sql(.store)) SET identifier = $1", [.uuid(identifier)]))
        }
        return statements
    }
}

extension PostgresResult {
    /// The metadata that an answer has: keys and values.
    func metadata() throws(SQLFailure) -> [String: Value] {
        var values: [String: Value] = [:]
        for row in 0..<rowCount {
            let key = try string(row, 0)
            guard
                let value = try? JSONDecoder().decode(Value.self, from: Data(try bytes(row, 1)))
            else {
                throw SQLFailure(.unreadable, "the metadata of the key \(key) cannot be read")
            }
            values[key] = value
        }
        return values
    }
}
