// Receives `NOTIFY` messages after `LISTEN`.

import CLibPQ

extension PostgresConnection {
    /// Whether the server supports `NOTIFY`: some PostgreSQL-compatible servers do not.
    var takesNotify: Bool {
        parameter("crdb_version") == nil && parameter("server_version")?.contains("-YB-") != true
    }

    /// What has come, without waiting. Call it before waiting for the socket: TLS may hold what the socket has given.
    func notifications() throws(SQLFailure) -> [PostgresNotification] {
        guard PQconsumeInput(link.handle) == 1, !isBroken else { throw link.lost() }
        var found: [PostgresNotification] = []
        while let notification = PQnotifies(link.handle) {
            defer { PQfreemem(notification) }
            let content = notification.pointee
            found.append(
                PostgresNotification(
                    channel: content.relname.map { String(cString: $0) } ?? "",
                    payload: content.extra.map { String(cString: $0) } ?? "",
                    processID: content.be_pid))
        }
        return found
    }

    /// Waits for some; none if the call is over before.
    func waitForNotifications(_ bound: CallBound) throws(SQLFailure) -> [PostgresNotification] {
        while true {
            let found = try notifications()
            guard found.isEmpty, bound.end == nil else { return found }
            ServerLink.waitToRead(socket, bound)
        }
    }
}
