// A statement with its values, alone or in a batch that costs one round trip.

struct Statement: Sendable {
    enum Preparation: Sendable {
        /// Prepared once for each connection and kept by its text. The text must not hold values.
        case kept
        /// For what comes once: DDL, settings.
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
    /// One before it in its segment failed: it was not carried out.
    case skipped
}
