// The history of one object: the output of `cairn history` for it, newest first.
//
// Threads: values.

import CairnInspection
import CairnStore
import CairnStudio
import FoundationEssentials

/// Responds to `/api/object/history`.
struct StudioObjectHistory {
    let store: StudioStore
    let commands: StudioCommands

    func answer(_ request: StudioRequest) throws -> StudioAnswer {
        let parameters = try StudioParameters(request, known: ["entity", "id", "limit"])
        let limit = try parameters.number("limit", in: 1...10_000, or: 100)
        let entity = try parameters.need("entity")
        let id = try parameters.need("id")
        let output = try store.use {
            let line = ["--entity=\(entity)", "--object=\(id)", "--", store.place]
            let keepsPast = try StoreSession.reading(store.place) { session in
                try (session.store as? any PastStore)?.pastStateBounds() != nil
            }
            // Values too large for a response are omitted.
            if keepsPast,
                let output = try? commands.output(["history", "--json", "--values"] + line)
            {
                return output
            }
            return try commands.output(["history", "--json"] + line)
        }
        let lines = output.split(separator: UInt8(ascii: "\n")).suffix(limit).reversed()
        var body = Data()
        for line in lines {
            body.append(line)
            body.append(UInt8(ascii: "\n"))
        }
        return StudioAnswer(type: StudioAnswer.jsonLines, body: body)
    }
}
