// Objects with the same key, as several commands print them.

import CairnInspection
import CairnModel
import CairnObjects

/// Prints some of the groups of objects with the same key.
struct DuplicateGroups {
    private let result: DeduplicationResult
    private let keys: [String]
    private let limit: Int

    /// - Parameters:
    ///   - keys: the names of the key's properties.
    ///   - limit: the maximum number of groups to print.
    init(_ result: DeduplicationResult, _ keys: [String], limit: Int) {
        self.result = result
        self.keys = keys
        self.limit = limit
    }

    func printTable(_ console: Console) {
        if result.groups.isEmpty || limit == 0 { return }
        var table = TextTable(
            keys + ["objects", "stays", "others"], widest: console.isTerminal ? 40 : 60)
        for group in result.groups.prefix(limit) {
            let others = group.losers.prefix(5).map { "p\($0.reference)" }.joined(separator: " ")
            table.add(
                group.key.map { PlainText.value($0) } + [
                    PlainText.number(group.losers.count + 1), "p\(group.winner.reference)",
                    group.losers.count > 5 ? others + " …" : others,
                ])
        }
        for line in table.lines { console.print(line) }
    }

    func printJSON(_ console: Console) {
        for group in result.groups.prefix(limit) {
            console.print(
                JSONValue.object([
                    "key": .object(
                        zip(keys, group.key).map { .init(key: $0, value: JSONValue($1)) }),
                    "stays": .string("p\(group.winner.reference)"),
                    "others": .array(group.losers.map { .string("p\($0.reference)") }),
                ]).line)
        }
    }

    /// Prints a note about groups whose objects cannot be deleted.
    static func noteEntangled(_ result: DeduplicationResult, _ console: Console) {
        guard let group = result.entangledGroups.first else { return }
        console.printError(
            "cairn: note: the objects of \(PlainText.count(result.entangledGroups.count, "key")) were not merged, because delete rules would also delete the surviving object, whichever it is. The first key: \(group.key.map { PlainText.value($0) }.joined(separator: ", "))"
        )
    }
}

extension DeduplicationResult {
    /// The number of objects that share their key with another object.
    var objectCount: Int { groups.reduce(0) { $0 + $1.losers.count + 1 } }
}
