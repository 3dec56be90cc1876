// How failures of the server and of connections become errors that users see.
//
// The sentence is ours: what the server says may hold values of objects, so it stands in `context.detail` and in the
// cause, which only `fullDescription` shows. Where no object can be meant (connecting), its words are taken.

import CairnStore

extension StoreError: SQLFailureConvertible {
    /// A failure on its way to the user. What the body of a copy threw comes out as it is if it is a `StoreError`.
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
            (.storeInUse, "others kept changing the same rows" + suffix)
        } else if state.isUniqueViolation {
            (.constraintConflict, "a uniqueness constraint is violated" + suffix)
        } else if state.isForeignKeyViolation {
            (.inputOutput, "a reference leads nowhere" + suffix)
        } else if state.isConnectionLoss {
            (.inputOutput, "the server is starting, stopping or gone" + suffix)
        } else if state.isTooManyConnections {
            (.storeInUse, "the server takes no more connections" + suffix)
        } else if state.isDiskFull {
            (.noSpace, "the server's disk is full: free some space there" + suffix)
        } else if state.isReadOnly {
            (.readOnly, "the server only reads: it is a standby, or was set so" + suffix)
        } else if state.isPermission {
            (.readOnly, "the role may not do that: grant it the right" + suffix)
        } else if state.isAuthentication {
            (.openFailed, "the server does not let this role in" + suffix)
        } else if state.isCancelled {
            (.cancelled, "the statement was cancelled at the server" + suffix)
        } else if state.isLocked {
            (.storeInUse, "others hold a lock for too long" + suffix)
        } else if state.isDamaged {
            (.damaged, "the server's files are damaged" + suffix)
        } else if state.isTooLarge {
            (.invalidRequest, "a value is too long for the server's index of it" + suffix)
        } else if state.isMissingTable {
            (.damaged, "a table, a column or the schema of the store is missing" + suffix)
        } else {
            (.inputOutput, "the server refused a statement" + suffix)
        }
    }
}
