// Errors of the server and of connections, with the information to decide what to do next.
//
// Invariants: no password or other secret stands in any field. `message` and `detail` of the server may name values
// of users ("Key (name)=(Smith) already exists"), so they stay out of `StoreError.message`.
// Threads: any; values.

/// A statement, a connection or a value that failed.
struct SQLFailure: Error, Sendable {
    enum Kind: Sendable {
        /// The server rejected a statement.
        case server
        /// The connection was lost; it is unknown whether the statement was executed.
        case connectionLost
        /// No connection could be established.
        case notConnected
        /// The connection string is invalid.
        case badConnectionString
        /// The call timed out; the server was told to cancel it.
        case timedOut
        /// The call was cancelled; the server was told.
        case cancelled
        /// All connections of the pool were in use for too long.
        case poolExhausted
        /// The pool or the connection is closed.
        case closed
        /// A value that PostgreSQL cannot store, or that has an invalid form.
        case unencodable
        /// A result with an unexpected form.
        case unreadable
        /// The body that provides the rows of a copy threw.
        case bodyThrew(any Error)
        /// The store's model has changed since it was opened.
        case modelChanged
        /// The store was being replaced by another one during the call.
        case storeReplaced
    }

    let kind: Kind
    /// What happened: the server's text or our own.
    let message: String
    /// "host:port/database", or the connection string without its secrets.
    var server: String
    /// The server's code, if it said one.
    var sqlState: SQLState?
    var detail: String?
    var hint: String?
    /// The constraint that is violated.
    var constraintName: String?
    var schemaName: String?
    var tableName: String?
    var columnName: String?
    /// Which statement of a pipeline failed, from 0.
    var statementIndex: Int?
    /// Which parameter of the statement is refused, from 0.
    var parameterIndex: Int?

    init(_ kind: Kind, _ message: String, server: String = "", sqlState: SQLState? = nil) {
        self.kind = kind
        self.message = message
        self.server = server
        self.sqlState = sqlState
    }

    // MARK: What it means

    /// Two transactions cannot both be: the whole transaction may be tried again.
    var isSerialization: Bool { sqlState?.isSerialization ?? false }
    var isUniqueViolation: Bool { sqlState?.isUniqueViolation ?? false }
    var isForeignKeyViolation: Bool { sqlState?.isForeignKeyViolation ?? false }
    /// The connection is gone: whether the last statement was carried out has to be found out on another one.
    var isConnectionLoss: Bool {
        if case .connectionLost = kind { return true }
        return sqlState?.isConnectionLoss ?? false
    }
    /// No server takes a connection now; one may soon: it starts, is full, or another one takes over.
    var mayConnectLater: Bool {
        guard case .notConnected = kind else { return false }
        return !isAuthentication && sqlState?.isMissingDatabase != true
    }
    var isTooManyConnections: Bool { sqlState?.isTooManyConnections ?? false }
    var isDiskFull: Bool { sqlState?.isDiskFull ?? false }
    var isReadOnly: Bool { sqlState?.isReadOnly ?? false }
    var isPermission: Bool { sqlState?.isPermission ?? false }
    var isAuthentication: Bool { sqlState?.isAuthentication ?? false }
    var isTimeout: Bool {
        if case .timedOut = kind { true } else { false }
    }
    var isCancelled: Bool {
        if case .cancelled = kind { return true }
        return kind.isServer && sqlState?.isCancelled ?? false
    }

    var isModelChanged: Bool {
        if case .modelChanged = kind { true } else { false }
    }

    var isStoreReplaced: Bool {
        if case .storeReplaced = kind { true } else { false }
    }

    // MARK: With more

    func at(statement index: Int) -> SQLFailure {
        var failure = self
        failure.statementIndex = index
        return failure
    }

    func at(parameter index: Int) -> SQLFailure {
        var failure = self
        failure.parameterIndex = index
        return failure
    }

    func on(_ server: String) -> SQLFailure {
        guard self.server.isEmpty else { return self }
        var failure = self
        failure.server = server
        return failure
    }
}

extension SQLFailure: SQLFailureConvertible {
    init(_ failure: SQLFailure) { self = failure }
}

extension SQLFailure.Kind {
    var isServer: Bool {
        if case .server = self { true } else { false }
    }
}

extension SQLFailure: CustomStringConvertible {
    /// Everything that is known, the server's words included: not for logs that others read.
    var description: String {
        var text = message
        if let sqlState { text += " (SQLSTATE \(sqlState))" }
        func add(_ name: String, _ value: String?) {
            if let value, !value.isEmpty { text += "; \(name): \(value)" }
        }
        add("detail", detail)
        add("hint", hint)
        add("schema", schemaName)
        add("table", tableName)
        add("column", columnName)
        add("constraint", constraintName)
        if let statementIndex { text += "; statement \(statementIndex + 1) of its batch" }
        if let parameterIndex { text += "; parameter $\(parameterIndex + 1)" }
        add("server", server)
        return text
    }
}
