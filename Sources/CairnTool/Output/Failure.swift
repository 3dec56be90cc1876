// Errors that a person or a script can act on.

import CairnCoreData
package import CairnInspection
import CairnModel
import CairnStore

/// The reason why a command ends without success.
package struct Failure: Error, CustomStringConvertible {
    /// The exit code of the tool. The numbers are part of its guarantees.
    package enum Code: Int32, Sendable {
        /// The job failed; nothing was changed.
        case failed = 1
        /// The command line is invalid.
        case usage = 2
        /// The store is damaged.
        case damaged = 3
        /// A damaged store was salvaged, or a Core Data store imported, and a part of it is lost.
        case incomplete = 4
    }

    package let message: String
    package let code: Code
    /// Whether the message is printed unchanged.
    var isWhole = false
    /// Whether the failure is that something does not exist.
    private(set) var isAbsence = false
    /// More data for scripts.
    package var details: [JSONValue.Member] = []

    /// The message as a part of another one.
    package var description: String { message }

    package init(_ message: String, code: Code = .failed, isWhole: Bool = false) {
        self.message = message
        self.code = code
        self.isWhole = isWhole
    }

    /// Returns the same failure with another exit code.
    func with(_ code: Code) -> Failure {
        var failure = Failure(message, code: code, isWhole: isWhole)
        failure.details = details
        failure.isAbsence = isAbsence
        return failure
    }

    /// Returns the same failure with another message.
    func changing(_ change: (String) -> String) -> Failure {
        var failure = Failure(change(message), code: code, isWhole: isWhole)
        failure.details = details
        failure.isAbsence = isAbsence
        return failure
    }

    /// The same failure, marked as the absence of something.
    var ofAbsence: Failure {
        var failure = self
        failure.isAbsence = true
        return failure
    }

    /// Creates the failure for an error of the library; nil for other errors.
    package init?(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as any ExplainedError: self = error.failure
        case let error as StoreError: self.init(store: error)
        case let error as ListError:
            self.init("\(error)")
            details = [
                .init(key: "list", value: .text(error.source)),
                .init(key: "line", value: error.line.map { .count($0) } ?? .null),
                .init(key: "column", value: error.column.map { .count($0) } ?? .null),
                .init(key: "record", value: error.record.map { .count($0) } ?? .null),
            ]
        case let error as ListProblems: self.init(problems: error)
        case let error as ModelError: self.init("\(error)")
        case let error as CoreDataImportError:
            self.init(error.code == .noModel ? "\(error), with --model" : "\(error)")
            details = [
                .init(key: "reason", value: .string(error.code.rawValue)),
                .init(key: "place", value: .string(error.place)),
            ]
        case let error as PredicateFormatError:
            self.init("the condition: \(error.explanation)", code: .usage)
            details = [.init(key: "position", value: error.offset.map { .count($0) } ?? .null)]
        case let error as FieldPairs.Problem: self.init("\(error)", code: .usage)
        default: return nil
        }
    }

    private init(store error: StoreError) {
        // An error from reading a list was passed through the store.
        if error.code == .rowsFailed, let cause = error.cause, let failure = Failure(cause) {
            self = failure
            return
        }
        self.init(Self.text(error), code: error.code == .damaged ? .damaged : .failed)
        let context = error.context
        details = [
            .init(key: "number", value: .count(error.code.rawValue)),
            .init(key: "path", value: .text(context.path)),
            .init(key: "segment", value: context.segment.map { .count($0) } ?? .null),
            .init(key: "offset", value: context.offset.map { .count($0) } ?? .null),
            .init(key: "entity", value: .text(context.entity)),
            .init(key: "key", value: .text(context.key)),
            .init(key: "record", value: context.row.map { .count($0 + 1) } ?? .null),
            .init(key: "details", value: .array(error.details.map { .string(Self.text($0)) })),
        ]
    }

    private init(problems: ListProblems) {
        self.init("\(problems)")
        details = [
            .init(key: "list", value: .string(problems.source)),
            .init(
                key: "unknown",
                value: .array(
                    problems.unknown.map {
                        .object(["field": .string($0.field), "reason": .string($0.reason)])
                    })),
            .init(
                key: "misfits",
                value: .array(
                    problems.misfits.map {
                        .object([
                            "field": .string($0.field), "attribute": .string($0.attribute),
                            "type": .string($0.type.rawValue), "text": .string($0.text),
                            "reason": .string($0.reason), "record": .count($0.record),
                            "line": .count($0.line), "count": .count($0.count),
                        ])
                    })),
        ]
    }

    /// The maximum number of details to print for people.
    private static let shownDetails = 50

    /// Returns the error's message with its place, and one line per detail.
    private static func text(_ error: StoreError) -> String {
        let context = error.context
        var places: [String] = []
        if let path = context.path { places.append(path) }
        if let segment = context.segment {
            places.append(
                context.offset.map { "segment \(segment), offset \($0)" } ?? "segment \(segment)")
        }
        if let row = context.row { places.append("record \(row + 1)") }
        if let entity = context.entity {
            places.append(context.key.map { "\(entity).\($0)" } ?? entity)
        } else if let key = context.key {
            places.append(key)
        }
        // A script gets all of them; a person only some.
        let parts =
            error.conflicts.map { $0.text(withValues: true) } + error.details.map { text($0) }
        var more = parts.prefix(shownDetails).map { "\n  \($0)" }.joined()
        if parts.count > shownDetails {
            more += "\n  and \(PlainText.number(parts.count - shownDetails)) more"
        }
        // The user knows the store.
        return (places + [context.detail ?? error.message]).joined(separator: ": ") + more
    }

    /// The error as a JSON object.
    var json: JSONValue {
        var members: [JSONValue.Member] = [
            .init(key: "exit", value: .count(code.rawValue)),
            .init(key: "message", value: .string(message)),
        ]
        members += details.filter { $0.value != .null && $0.value != .array([]) }
        return .object(["error": .object(members)])
    }
}

/// An error that provides its own failure.
protocol ExplainedError: Error {
    var failure: Failure { get }
}
