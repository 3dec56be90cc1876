// A save that the model rejects: the affected properties and objects.
//
// Threads: a value.

import CairnInspection
import CairnModel
import CairnStore

/// The reason why a save was rejected.
struct StudioRefusal: Error, ExplainedError {
    let error: StoreError

    init(_ error: StoreError) { self.error = error }

    var failure: Failure {
        // The tool's message, and the data that a page needs to mark the fields.
        guard var failure = Failure(error as any Error) else { return Failure("\(error)") }
        let parts = Self.parts(error)
        failure.details += [
            .init(key: "property", value: parts.count == 1 ? .text(parts[0].property) : .null),
            .init(
                key: "problems",
                value: .array(
                    parts.map {
                        .object([
                            "entity": .text($0.entity), "property": .text($0.property),
                            "id": .text($0.id), "message": .string($0.message),
                        ])
                    })),
        ]
        return failure
    }

    private struct Part {
        let entity: String?
        let property: String?
        let id: String?
        let message: String
    }

    private static func parts(_ error: StoreError) -> [Part] {
        if !error.details.isEmpty { return error.details.flatMap(parts) }
        let conflicts = error.conflicts.compactMap { conflict -> Part? in
            guard case .constraint(let violation) = conflict else { return nil }
            return Part(
                entity: violation.entityName,
                property: violation.constraint.joined(separator: ", "),
                id: violation.stored.map { "p\($0.id.reference)" },
                message: conflict.text(withValues: true))
        }
        if !conflicts.isEmpty { return conflicts }
        let context = error.context
        let id = context.objectID.flatMap { $0.isTemporary ? nil : "p\($0.reference)" }
        return [
            Part(
                entity: context.entity, property: context.key, id: id,
                message: context.detail ?? error.message)
        ]
    }
}
