// Converts failures of the server and of connections to errors for users.
//
// The sentence is ours: what the server says may hold values of objects, so it stands in `context.detail` and in the
// cause, which only `fullDescription` shows. Where no object can be meant (connecting), its words are taken.

import CairnStore

extension StoreError: SQLFailureConvertible {
    /// A failure as an error for the user. A `StoreError` thrown by the body of a copy is passed unchanged.
    init(_ failure: SQLFailure) {
        if case .bodyThrew(let error) = failure.kind {
            if let error = error as? StoreError {
                self = error
            } else {
                self.init(
                    .rowsFailed, "what gives the rows threw an error of its own", cause: error)
            }
            return
        }
        let (code, sentence) = failure.meaning
        let place = failure.server.isEmpty ? "" : "\(failure.server): "
        self.init(
            code, place + sentence,
            context: Context(detail: failure.hasUserData ? failure.words : nil), cause: failure)
    }
}

extension SQLFailure {
    /// The server's text with what it adds.
    fileprivate var words: String {
        [message, detail, hint].compactMap { $0 }.joined(separator: "; ")
    }

    fileprivate var hasUserData: Bool {
        if case .server = kind { true } else { false }
    }

    fileprivate var meaning: (StoreError.Code, String) {
        switch kind {
        case .badConnectionString: (.openFailed, message)
        case .notConnected:
            (.openFailed, "cannot connect: \(message)\(sqlState.map { " (\($0))" } ?? "")")
        case .connectionLost:
            (.inputOutput, "the connection to the server was lost: \(message)")
        // Core Data's number for a store that did not answer in time is that of a store in use.
        case .timedOut, .poolExhausted: (.storeInUse, message)
        case .cancelled: (.cancelled, message)
        case .closed: (.unusable, message)
        case .unencodable: (.invalidRequest, message)
        case .unreadable: (.damaged, message)
        case .bodyThrew: (.rowsFailed, message)
        case .modelChanged: (.incompatibleModel, message)
        case .storeReplaced: (.openFailed, message)
        case .server: sqlState.map(serverMeaning) ?? (.inputOutput, "the server failed")
        }
    }

    private func serverMeaning(_ state: SQLState) -> (StoreError.Code, String) {
        let place = [tableName, constraintName].compactMap { $0 }.joined(separator: ", ")
        let suffix = "\(place.isEmpty ? "" : " (\(place))") (SQLSTATE \(state))"
        return if state.isSerialization {
            (.storeInUse, "the rows were repeatedly changed concurrently" + suffix)
        } else if state.isUniqueViolation {
            (.constraintConflict, "a uniqueness constraint is violated" + suffix)
        } else if state.isForeignKeyViolation {
            (.inputOutput, "a foreign key is violated" + suffix)
        } else if state.isConnectionLoss {
            (.inputOutput, "the server is starting, stopping or unavailable" + suffix)
        } else if state.isTooManyConnections {
            (.storeInUse, "the server does not accept any more connections" + suffix)
        } else if state.isDiskFull {
            (.noSpace, "the server's disk is full: free some space there" + suffix)
        } else if state.isReadOnly {
            (.readOnly, "the server is read-only: it is a standby, or configured so" + suffix)
        } else if state.isPermission {
            (.readOnly, "the role lacks the privilege: grant it" + suffix)
        } else if state.isAuthentication {
            (.openFailed, "the server rejected the login" + suffix)
        } else if state.isCancelled {
            (.cancelled, "the server cancelled the statement" + suffix)
        } else if state.isLocked {
            (.storeInUse, "a lock was held for too long" + suffix)
        } else if state.isDamaged {
            (.damaged, "the server's files are damaged" + suffix)
        } else if state.isTooLarge {
            (.invalidRequest, "a value is too long for its index on the server" + suffix)
        } else if state.isMissingTable {
            (.damaged, "a table, a column or the schema of the store is missing" + suffix)
        } else if state.isPreparedAlready {
            (
                .inputOutput,
                "a pooler gives each transaction another connection: add cairn_prepared_statements=0 to the URL"
                    + suffix
            )
        } else {
            (.inputOutput, "the server rejected a statement" + suffix)
        }
    }
}
