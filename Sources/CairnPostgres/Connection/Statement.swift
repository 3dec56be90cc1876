// A statement with its values, on its own or in a batch that needs one round trip.

struct Statement: Sendable {
    enum Preparation: Sendable {
        /// Prepared once per connection, and cached by its text, which must not contain values.
        case kept
        /// For statements that run once: DDL, settings.
        case once
    }

    let sql: String
    let parameters: [SQLParameter]
    let preparation: Preparation
    /// Whether what follows is carried out even if this or one before it fails; see `PostgresConnection.pipeline`.
    let endsSegment: Bool

    init(
        _ sql: String, _ parameters: [SQLParameter] = [], _ preparation: Preparation = .kept,
        endsSegment: Bool = false
    ) {
        self.sql = sql
        self.parameters = parameters
        self.preparation = preparation
        self.endsSegment = endsSegment
    }
}

/// What became of a statement of a batch.
enum StatementOutcome {
    case finished(PostgresResult)
    case failed(SQLFailure)
    /// Skipped, because an earlier statement of its segment failed.
    case skipped
}
