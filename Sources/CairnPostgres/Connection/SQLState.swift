// The five-character error codes of SQL servers, and their meaning for a store.
//
// https://www.postgresql.org/docs/15/errcodes-appendix.html; CockroachDB and YugabyteDB use the same.

/// A SQLSTATE.
struct SQLState: Sendable, Hashable, CustomStringConvertible {
    let code: String

    init(_ code: String) { self.code = code }

    var description: String { code }

    /// Its first two characters: the kind of error.
    var kind: Substring { code.prefix(2) }

    /// Two transactions cannot both be; the whole transaction may be tried again.
    var isSerialization: Bool { code == "40001" || code == "40P01" }
    var isUniqueViolation: Bool { code == "23505" }
    var isForeignKeyViolation: Bool { code == "23503" }
    /// The connection is gone, or the server is starting or stopping.
    var isConnectionLoss: Bool {
        kind == "08" || code == "57P01" || code == "57P02" || code == "57P03"
    }
    var isTooManyConnections: Bool { code == "53300" }
    var isDiskFull: Bool { code == "53100" }
    var isDivisionByZero: Bool { code == "22012" }
    var isReadOnly: Bool { code == "25006" }
    var isPermission: Bool { code == "42501" }
    var isAuthentication: Bool { kind == "28" }
    var isMissingDatabase: Bool { code == "3D000" }
    /// A transaction lay unused for longer than the server allows.
    var isIdleInTransaction: Bool { code == "25P03" }
    /// Cancelled by us, by an administrator or by the server's own `statement_timeout`.
    var isCancelled: Bool { code == "57014" }
    /// Somebody else holds a lock for longer than the server's `lock_timeout`, or we asked not to wait.
    var isLocked: Bool { code == "55P03" }
    /// More than the server can do, as an index entry of more than a third of a page.
    var isTooLarge: Bool { kind == "54" }
    var isDamaged: Bool { kind == "XX" && (code == "XX001" || code == "XX002") }
    /// A table, a column, a type or a schema that is not there.
    var isMissingTable: Bool {
        code == "42P01" || code == "42703" || code == "3F000" || code == "42704"
    }
    /// A statement of the name is prepared already: by another client, whose connection a pooler has given us.
    var isPreparedAlready: Bool { code == "42P05" }
    /// The schema was changed behind a prepared statement, or the server knows none of that name (any longer).
    var isStaleStatement: Bool { code == "0A000" || code == "26000" }
}
