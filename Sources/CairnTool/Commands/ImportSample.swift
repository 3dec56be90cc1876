// cairn import --sample: previews what would be inferred from the first records of a list.

import CairnInspection
import CairnModel

/// Shows the fields of a list and their inferred types; writes nothing.
struct ImportSample {
    let store: String
    let entity: String
    let unique: [[String]]
    let mapping: FieldMapping
    let types: FieldTypes
    let limit: Int

    /// Prints the list's fields, next to the properties of a store if it exists.
    func print(_ source: ListSource, to console: Console, json: Bool) throws {
        let form = try ListForm(of: source)
        let sample = try ModelInference.sample(
            of: source, form: form, unique: unique, mapping: mapping, types: types, limit: limit)
        let stored = try storedTypes()
        if json {
            console.print(Self.json(sample, stored, source, form, entity).line)
            return
        }
        let types = stored == nil ? [] : ["in the store"]
        var table = TextTable(
            ["field", "attribute", "type"] + types + ["values", "first value"],
            alignments: [.left, .left, .left] + types.map { _ in .left } + [.right, .left])
        for field in sample.fields {
            let isDropped = field.attribute.isEmpty
            table.add(
                [
                    PlainText.visible(field.name),
                    isDropped ? "dropped" : PlainText.visible(field.attribute),
                    isDropped ? "" : field.type.rawValue,
                ] + (stored.map { [$0[field.attribute] ?? ""] } ?? []) + [
                    PlainText.number(field.valueCount), field.example ?? "",
                ])
        }
        for line in table.lines { console.print(line) }
        let records = PlainText.count(sample.recordCount, "record")
        let which = sample.isWhole ? "all of" : "the first of"
        console.print(
            "\(records), \(which) \(source.name) (\(form.title)); nothing was written")
    }

    /// Returns the entity's properties by name; nil if there is no store yet.
    private func storedTypes() throws -> [String: String]? {
        guard try StoreSession.isStore(store) else { return nil }
        return try StoreSession.reading(store) { session in
            let entity = try session.entity(entity)
            var types: [String: String] = [:]
            for attribute in entity.attributes {
                types[attribute.description.name] = attribute.description.type.rawValue
            }
            for relationship in entity.relationships {
                types[relationship.description.name] = "relationship"
            }
            return types
        }
    }

    private static func json(
        _ sample: ListSample, _ stored: [String: String]?, _ source: ListSource,
        _ form: ListForm, _ entity: String
    ) -> JSONValue {
        .object([
            "entity": .string(entity), "list": .string(source.name), "form": .string(form.title),
            "records": .count(sample.recordCount), "whole": .boolean(sample.isWhole),
            "fields": .array(
                sample.fields.map { field in
                    .object([
                        "field": .string(field.name),
                        "attribute": field.attribute.isEmpty ? .null : .string(field.attribute),
                        "type": field.attribute.isEmpty ? .null : .string(field.type.rawValue),
                        "stored": .text(stored?[field.attribute]),
                        "values": .count(field.valueCount), "example": .text(field.example),
                    ])
                }),
        ])
    }
}
