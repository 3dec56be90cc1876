// Prints the differences between two models on standard output.

import CairnInspection
import CairnModel
import FoundationEssentials

/// Prints a migration plan: one change per line, and the result on the last line.
struct ModelComparison {
    let plan: ModelMigrationPlan
    let console: Console
    /// The number of objects of each removed entity itself, by name; nil without a store.
    var goingObjects: [String: Int]?

    func print(json: Bool) {
        if json { printJSON() } else { printText() }
    }

    private func printText() {
        if !plan.changes.isEmpty {
            var table = TextTable(["where", "what", "inferable", "cost"], widest: 200)
            for change in plan.changes {
                table.add([
                    PlainText.visible(change.place), PlainText.visible(words(change)),
                    change.inferability.rawValue, "\(change.cost)",
                ])
            }
            for line in table.lines { console.print(line) }
            console.print()
        }
        console.print("\(Self.count(plan.changes.count)): \(PlainText.visible(plan.conclusion))")
    }

    private static func count(_ changes: Int) -> String {
        changes == 0 ? "no changes" : PlainText.count(changes, "change")
    }

    /// Returns the change with additional remarks.
    private func words(_ change: ModelChange) -> String {
        var words = change.words
        if change.subject != .entity { words = "\(change.subject.rawValue) \(words)" }
        if let reason = change.reason { words += " (\(reason))" }
        if let loss = change.loss {
            words += "; lost: "
            words += going(with: change).map { "its \(PlainText.count($0, "object"))" } ?? loss
        }
        if change.isBeyondCoreData { words += "; Core Data may want a mapping" }
        return words
    }

    /// Returns the number of objects deleted with an entity; nil for another change, or if unknown.
    private func going(with change: ModelChange) -> Int? {
        guard change.subject == .entity, change.action == .removed else { return nil }
        return goingObjects?[change.entity]
    }

    private func printJSON() {
        for change in plan.changes {
            console.print(
                JSONValue.object([
                    "place": .string(change.place), "entity": .string(change.entity),
                    "property": .text(change.property), "subject": .string(change.subject.rawValue),
                    "action": .string(change.action.rawValue), "words": .string(change.words),
                    "inferable": .string(change.inferability.rawValue),
                    "reason": .text(change.reason), "cost": .string("\(change.cost)"),
                    "loss": .text(change.loss),
                    "lostObjects": going(with: change).map { .count($0) } ?? .null,
                    "beyondCoreData": .boolean(change.isBeyondCoreData),
                ]).line)
        }
        console.print(
            JSONValue.object([
                "changes": .count(plan.changes.count),
                "inferable": .string(plan.inferability.rawValue), "cost": .string("\(plan.cost)"),
                "sameVersion": .boolean(plan.hasSameVersion),
                "conclusion": .string(plan.conclusion),
            ]).line)
    }
}

/// Prints the version hashes of a model.
enum VersionPrinter {
    /// Prints the hash of each entity, sorted by name, and the checksum of the model.
    static func print(_ model: ManagedObjectModel, json: Bool) {
        let console = Console.current
        let hashes = model.entityVersionHashesByName.inKeyOrder()
        guard !json else {
            for (name, hash) in hashes {
                console.print(
                    JSONValue.object(["entity": .string(name), "hash": .string(hex(hash))]).line)
            }
            console.print(
                JSONValue.object([
                    "checksum": .string(model.versionChecksum),
                    "identifiers": .array(model.versionIdentifiers.map { .string($0) }),
                ]).line)
            return
        }
        var table = TextTable(["entity", "hash"], widest: 80)
        for (name, hash) in hashes { table.add([PlainText.visible(name), hex(hash)]) }
        for line in table.lines { console.print(line) }
        console.print("\nchecksum \(model.versionChecksum)")
    }

    private static func hex(_ data: Data) -> String {
        data.map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
