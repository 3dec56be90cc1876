// The last round trip of a transaction that writes: what it writes, the number of its commit, and its end.
//
// If it is not known what became of that, somebody else is asked (Settlement). The row of its token is removed with the next
// commit of the same connection; those that nobody removes go when a store is opened, after a day.
//
// Threads: owned by one call.

import CairnStore
import FoundationEssentials

struct TransactionEnd {
    let core: StoreCore
    let connection: PostgresConnection

    /// Commits, and returns the number of the commit.
    ///
    /// - Parameters:
    ///   - changes: the statements to write.
    ///   - history: statements to write after the number of the commit.
    /// - Throws: `.commitUnknown` if the outcome is unknown; after any other error nothing is committed.
    func commit(_ changes: [Statement], history: [Statement] = []) throws(StoreError) -> UInt64 {
        let token = UUID()
        let warnings = connection.warnings
        let failure: SQLFailure
        do throws(SQLFailure) {
            let number = try end(changes, history, token)
            if connection.warnings == warnings { return number }
            failure = SQLFailure(
                .connectionLost, "the standbys of the server have not confirmed the commit",
                server: connection.server)
        } catch {
            // What the server refuses it has not committed.
            guard connection.isBroken else { throw StoreError(error) }
            failure = error
        }
        guard let number = try Settlement(core: core, token: token).settle(failure) else {
            throw StoreError(failure)
        }
        return number
    }

    private func end(
        _ changes: [Statement], _ history: [Statement], _ token: UUID
    ) throws(SQLFailure) -> UInt64 {
        let (store, tokens) = (core.layout.sql(.store), core.layout.sql(.tokens))
        var statements = changes
        if let last = connection.lastToken {
            statements.append(
                Statement("DELETE FROM \(tokens) WHERE token = $1", [.uuid(last)]))
        }
        // From here on to the end of the transaction commits stand in line.
        let place = statements.count
        statements.append(
            Statement("UPDATE \(store) SET last_commit = last_commit + 1 RETURNING last_commit"))
        statements.append(
            Statement(
                """
                INSERT INTO \(tokens) (token, commit, made) \
                SELECT $1, last_commit, now() FROM \(store)
                """, [.uuid(token)]))
        statements += history + [Statement("COMMIT")]
        let results = try connection.pipeline(statements, bound: core.bound)
        guard results[place].rowCount == 1 else {
            throw SQLFailure(
                .unreadable, "the store does not count its commits", server: connection.server)
        }
        connection.lastToken = token
        return UInt64(clamping: try results[place].int64(0, 0))
    }
}
