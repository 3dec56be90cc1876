// Notices from the server.

/// A warning or notice from the server, which otherwise would be written to standard error.
struct PostgresNotice: Sendable {
    /// "WARNING", "NOTICE", in English.
    let severity: String
    let sqlState: SQLState
    let message: String
}

/// What `NOTIFY` has sent.
struct PostgresNotification: Sendable, Hashable {
    let channel: String
    let payload: String
    /// The server's process for the connection that sent it, which may be one's own.
    let processID: Int32
}

/// Where notices go: what libpq's callback is given.
final class NoticeSink {
    private let onNotice: @Sendable (PostgresNotice) -> Void
    /// How many warnings there were.
    private(set) var warnings = 0

    init(_ onNotice: @escaping @Sendable (PostgresNotice) -> Void) { self.onNotice = onNotice }

    func take(_ notice: PostgresNotice) {
        if notice.severity == "WARNING" { warnings += 1 }
        onNotice(notice)
    }
}
