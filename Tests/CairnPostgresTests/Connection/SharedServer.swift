// Connections to the server that tests share.

import CairnTestSupport
import PostgresServers

@testable import CairnPostgres

extension PostgresServer {
    /// A connection to a server that lets everybody in.
    func connect(
        database: String = "postgres", _ options: [String: String] = [:],
        onNotice: @escaping @Sendable (PostgresNotice) -> Void = { _ in }
    ) throws -> PostgresConnection {
        let string = try ConnectionString(url(database: database, options))
        let connection = try PostgresConnection.open(
            string, .within(.seconds(60)), onNotice: onNotice)
        // A test that hangs holds up all of them.
        connection.bound = .within(.seconds(300))
        return connection
    }
}

/// What a closure throws, which has to be a failure.
func failure(of body: () throws -> Void) -> SQLFailure? {
    do {
        try body()
        return nil
    } catch {
        return error as? SQLFailure
    }
}
