// The model: the number of objects of its entities, the diagram, and their full descriptions.

import CairnInspection
import CairnLog
import CairnModel
import CairnPictures

/// The parts of a report about the model.
struct SchemaSection {
    private let content: ReportContent
    /// The facts about each entity from `cairn info`.
    private let facts: [JSONValue]
    private let entities: [EntityDescription]

    init(_ content: ReportContent) {
        self.content = content
        facts = content.information["entities"]?.elements ?? []
        entities = content.model.content?.entities ?? []
    }

    /// Returns the anchor of an entity's table, by its name.
    private func anchor(_ name: String) -> String? {
        entities.firstIndex { $0.name == name }.map { "entity-\($0)" }
    }

    private var isMissing: String? {
        if case .unknown(let reason) = content.model { reason } else { nil }
    }

    // MARK: Entities

    /// Writes the number of objects and bytes of each entity.
    func writeEntities(_ writer: inout HTMLWriter) {
        guard !facts.isEmpty else {
            return writer.add("p", ["class": "missing"], isMissing ?? "The model has no entities.")
        }
        let bytes = facts.map(self.bytes)
        let most = bytes.compactMap { $0?.live }.max() ?? 0
        var table = ReportTable(
            "Entities with their objects and bytes. Objects of subentities count there.",
            [
                .init("entity"), .init("objects", .number), .init("bytes", .number),
                .init("dead", .number), .init("properties", .number), .init("unique"),
            ])
        for (fact, bytes) in zip(facts, bytes) {
            let name = fact["name"]?.string ?? ""
            let isHidden = fact["hidden"] == .boolean(true)
            let described = entities.first { $0.name == name }
            let kind = isHidden ? " (pairs)" : described?.isAbstract == true ? " (abstract)" : ""
            let properties = described.map { $0.attributes.count + $0.relationships.count }
            let keys =
                described?.allUniquenessRules.map { $0.names.joined(separator: ", ") } ?? []
            table.add([
                .init(name + kind, link: anchor(name).map { "#\($0)" }),
                .init(fact["objects"]?.number.map { PlainText.number($0) } ?? ""),
                .init(
                    bytes.map { PlainText.bytes($0.live) } ?? "",
                    share: most > 0 ? bytes.map { Double($0.live) / Double(most) } : nil),
                .init(bytes.flatMap { $0.dead }.map { PlainText.bytes($0) } ?? ""),
                .init(properties.map { "\($0)" } ?? ""), .init(keys.joined(separator: "; ")),
            ])
        }
        table.write(to: &writer)
    }

    /// Returns the bytes of an entity: for a store in a folder those in blocks and outside, for others those
    /// of its table.
    private func bytes(of fact: JSONValue) -> (live: UInt64, dead: UInt64?)? {
        guard let name = fact["name"]?.string else { return nil }
        if let space = content.space?.content {
            return space.entities.first { $0.name == name }.map {
                ($0.liveBytes &+ $0.largeValueBytes, $0.bytes - min($0.bytes, $0.liveBytes))
            }
        }
        guard let table = fact["table"]?.string else { return nil }
        return content.information["tables"]?.elements.first { $0["name"]?.string == table }?[
            "bytes"]?.number.map { ($0, nil) }
    }

    // MARK: The model

    /// Writes the diagram.
    func writeDiagram(_ writer: inout HTMLWriter) {
        let objects = Dictionary(
            facts.compactMap { fact in
                fact["name"]?.string.flatMap { name in
                    fact["objects"]?.number.map { (name, Int(clamping: $0)) }
                }
            }, uniquingKeysWith: { first, _ in first })
        writer.draw(content.model, scrolls: true) {
            [ModelPicture.diagram(of: $0, objects: objects).picture()]
        }
    }

    /// Writes a table for each entity.
    func writeTables(_ writer: inout HTMLWriter) {
        if let isMissing { return writer.add("p", ["class": "missing"], isMissing) }
        if entities.count > 1 {
            writer.add("ul", ["class": "index", "aria-label": "Entities"]) { writer in
                for (index, entity) in entities.enumerated() {
                    writer.add("li") { $0.add("a", ["href": "#entity-\(index)"], entity.name) }
                }
            }
        }
        for (index, entity) in entities.enumerated() {
            writer.add("h3", ["id": "entity-\(index)"]) { writer in
                writer.write(entity.name)
                let remarks =
                    (entity.superentityName.map { ["inherits from \($0)"] } ?? [])
                    + ModelDescription.remarks(on: entity)
                if !remarks.isEmpty {
                    writer.add("span", ["class": "kind"], "  \(remarks.joined(separator: ", "))")
                }
            }
            let rows = ModelDescription.rows(of: entity)
            if rows.isEmpty {
                writer.add("p", ["class": "quiet"], "It has no properties of its own.")
                continue
            }
            var table = ReportTable(
                "What \(entity.name) has",
                [.init("name"), .init("what"), .init("type"), .init("remarks")])
            table.hidesCaption = true
            for row in rows {
                let cells = row + [String](repeating: "", count: max(0, 4 - row.count))
                table.add([.init(cells[1]), .init(cells[0]), .init(cells[2]), .init(cells[3])])
            }
            table.write(to: &writer)
        }
    }

    // MARK: Constraints and indexes

    /// Writes the uniqueness constraints and the indexes.
    func writeIndexes(_ writer: inout HTMLWriter) {
        if let isMissing { return writer.add("p", ["class": "missing"], isMissing) }
        if let space = content.space?.content, !space.indexes.isEmpty {
            kept(space.indexes).write(to: &writer)
        } else if !declared.isEmpty {
            var table = ReportTable(
                "Constraints and indexes of the model",
                [.init("entity"), .init("kind"), .init("what")])
            for row in declared { table.add(row) }
            table.write(to: &writer)
        } else {
            writer.add("p", "The model has no uniqueness constraints and no fetch indexes.")
        }
        for index in content.leftOutIndexes {
            writer.add(
                "p", ["class": "quiet"],
                "The index \(index.name) of \(index.entity) is not kept: \(index.reason)")
        }
    }

    private func kept(_ indexes: [StoreSpace.Index]) -> ReportTable {
        var table = ReportTable(
            "Indexes lie in memory, and in checkpoints",
            [
                .init("entity"), .init("kind"), .init("properties"), .init("name"),
                .init("entries", .number), .init("memory", .number),
            ])
        for index in indexes {
            table.add([
                .init(index.entity, link: anchor(index.entity).map { "#\($0)" }),
                .init(index.kind.rawValue), .init(index.properties.joined(separator: ", ")),
                .init(index.name ?? ""), .init(PlainText.number(index.entries)),
                .init(PlainText.bytes(index.memoryBytes)),
            ])
        }
        return table
    }

    private var declared: [[ReportTable.Cell]] {
        entities.flatMap { entity in
            ModelDescription.rows(of: entity).filter { ["unique", "index"].contains($0[0]) }
                .map { row in
                    [
                        .init(entity.name, link: anchor(entity.name).map { "#\($0)" }),
                        .init(row[0]),
                        .init(row.dropFirst().filter { !$0.isEmpty }.joined(separator: ": ")),
                    ]
                }
        }
    }
}
