// Prints the differences between two stores on standard output, as they are found.

import CairnInspection

/// Prints and counts differences.
struct DiffPrinter {
    let limit: Int
    let isJSON: Bool
    let console: Console
    private var title = ""
    private var schemas = 0
    private var objects = (first: 0, second: 0)
    private var rows = (onlyFirst: 0, onlySecond: 0, different: 0)

    init(limit: Int, isJSON: Bool, console: Console) {
        self.limit = limit
        self.isJSON = isJSON
        self.console = console
    }

    private var rowCount: Int { rows.onlyFirst + rows.onlySecond + rows.different }

    mutating func add(_ difference: SchemaDifference) {
        schemas += 1
        print("schema", difference.sentence) {
            .object([
                "kind": .string("schema"), "entity": .string(difference.entity),
                "part": .text(difference.part), "a": .text(difference.first),
                "b": .text(difference.second),
            ])
        }
    }

    mutating func add(entity: String, _ first: Int, _ second: Int) {
        objects.first += first
        objects.second += second
        guard first != second else { return }
        let text = "\(entity): \(PlainText.number(first)) in A, \(PlainText.number(second)) in B"
        print("counts", text) {
            .object([
                "kind": .string("count"), "entity": .string(entity), "a": .count(first),
                "b": .count(second),
            ])
        }
    }

    mutating func add(_ row: RowDifference) {
        if !row.isInSecond {
            rows.onlyFirst += 1
        } else if !row.isInFirst {
            rows.onlySecond += 1
        } else {
            rows.different += 1
        }
        guard rowCount <= limit else { return }
        print("rows", Self.sentence(row)) { Self.json(row) }
    }

    /// Prints the totals; returns whether there was no difference.
    mutating func end() -> Bool {
        let isEqual = schemas == 0 && rowCount == 0
        if isJSON {
            console.print(
                JSONValue.object([
                    "kind": .string("summary"), "equal": .boolean(isEqual),
                    "objectsInA": .count(objects.first), "objectsInB": .count(objects.second),
                    "schemaDifferences": .count(schemas), "onlyInA": .count(rows.onlyFirst),
                    "onlyInB": .count(rows.onlySecond), "different": .count(rows.different),
                ]).line)
            return isEqual
        }
        if rowCount > limit {
            print("rows", "and \(PlainText.number(rowCount - limit)) more") { .null }
        }
        if isEqual {
            console.print("equal: \(PlainText.count(objects.first, "object"))")
        } else {
            console.print(
                "\(PlainText.count(schemas, "difference")) of the schemas;"
                    + " \(PlainText.count(rows.onlyFirst, "object")) only in A,"
                    + " \(PlainText.number(rows.onlySecond)) only in B,"
                    + " \(PlainText.number(rows.different)) different")
        }
        return isEqual
    }

    private mutating func print(_ title: String, _ text: String, _ json: () -> JSONValue) {
        guard !isJSON else { return console.print(json().line) }
        if title != self.title { console.print(title) }
        self.title = title
        console.print("  \(PlainText.visible(text))")
    }

    // MARK: Rows

    private static func sentence(_ row: RowDifference) -> String {
        let name: String
        switch row.key {
        case .id(let number): name = "\(row.entity) p\(number)"
        case .values(let values):
            let parts = zip(row.keyNames, values).map { "\($0) \($1.line)" }
            name = "\(row.entity) \(parts.joined(separator: ", "))"
        }
        guard row.isInFirst, row.isInSecond else {
            return "\(name): only in \(row.isInFirst ? "A" : "B")"
        }
        let properties = row.properties.map {
            "\($0.name) \(text($0.first)) in A, \(text($0.second)) in B"
        }
        return "\(name): \(properties.joined(separator: "; "))"
    }

    private static func text(_ value: JSONValue) -> String {
        guard value != .null else { return "nil" }
        let line = value.line
        return line.count > 60 ? line.prefix(59) + "…" : line
    }

    private static func json(_ row: RowDifference) -> JSONValue {
        var members: [JSONValue.Member] = [
            .init(key: "kind", value: .string("row")),
            .init(key: "entity", value: .string(row.entity)),
        ]
        switch row.key {
        case .id(let number): members.append(.init(key: "objectID", value: .string("p\(number)")))
        case .values(let values):
            members.append(
                .init(
                    key: "key",
                    value: .object(
                        zip(row.keyNames, values).map { .init(key: $0, value: $1) })))
        }
        let place = row.isInFirst ? row.isInSecond ? "both" : "a" : "b"
        members.append(.init(key: "in", value: .string(place)))
        members.append(
            .init(
                key: "properties",
                value: .array(
                    row.properties.map {
                        .object(["name": .string($0.name), "a": $0.first, "b": $0.second])
                    })))
        return .object(members)
    }
}
