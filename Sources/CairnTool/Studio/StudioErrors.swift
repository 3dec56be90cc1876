// Errors in responses to a page: the tool's JSON, and an HTTP status.
//
// Threads: values.

import CairnInspection
import CairnStore
import CairnStudio
import FoundationEssentials

extension StudioAnswer {
    /// Creates a response with one JSON value.
    init(_ value: JSONValue, status: Int = 200) {
        self.init(status: status, type: StudioAnswer.json, body: Data((value.line + "\n").utf8))
    }

    /// Creates a response for an error, without secrets from the store's place.
    init(_ error: any Error, hiding hide: (String) -> String) {
        if let conflict = error as? StudioConflict {
            self.init(conflict.json, status: 409)
            return
        }
        let failure = (Failure(error) ?? Failure("\(error)")).changing(hide)
        self.init(failure.json, status: Self.status(error, failure))
    }

    private static func status(_ error: any Error, _ failure: Failure) -> Int {
        if failure.isAbsence { return 404 }
        if let error = (error as? StudioRefusal)?.error ?? error as? StoreError {
            switch error.code {
            case .objectNotFound, .pastStateUnavailable, .historyTokenExpired: return 404
            case .mergeConflict, .constraintConflict, .saveConflicts, .storeInUse: return 409
            case .readOnly: return 403
            case .inputOutput, .noSpace, .damaged, .unusable, .commitUnknown, .openFailed:
                return 500
            default: return 400
            }
        }
        return failure.code == .damaged ? 500 : 400
    }
}

extension Failure {
    /// Returns the failure for something that does not exist.
    static func absent(_ words: String) -> Failure { Failure(words).ofAbsence }
}

/// A conflict between a change and changes of others.
struct StudioConflict: Error {
    /// A property to change, or an object to delete.
    struct Entry {
        let id: String
        let entity: String
        /// Nil for the object itself.
        let property: String?
        let mine: JSONValue
        let theirs: JSONValue
        let was: JSONValue
        var isDeleted = false
    }

    let message: String
    let entries: [Entry]

    var json: JSONValue {
        guard case .object(let error) = Failure(message).json else { return .null }
        return .object(
            error + [
                .init(
                    key: "conflicts",
                    value: .array(
                        entries.map {
                            .object([
                                "id": .string($0.id), "entity": .string($0.entity),
                                "property": .text($0.property), "mine": $0.mine,
                                "theirs": $0.theirs, "was": $0.was,
                                "deleted": .boolean($0.isDeleted),
                            ])
                        }))
            ])
    }
}
