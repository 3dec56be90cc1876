// Lists as tests write and read them.

import CairnLog
import CairnModel
import CairnStore

@testable import CairnInspection

/// A plan that takes every field, some of them in parts or not at all.
final class TakeAll: FieldPlan {
    private let parts: Set<String>
    private let dropped: Set<String>

    init(parts: Set<String> = [], dropped: Set<String> = []) {
        self.parts = parts
        self.dropped = dropped
    }

    func use(of field: FieldTable.Field) -> FieldUse {
        parts.contains(field.name) ? .parts : dropped.contains(field.name) ? .dropped : .value
    }
}

/// A list in memory.
func list(_ text: String, ending: String = "") -> ListSource {
    ListSource(Array(text.utf8), name: "list", ending: ending)
}

/// All records of a list, each as `field=kind:text` in order.
func records(_ source: ListSource, plan: TakeAll = TakeAll()) throws -> [[String]] {
    let form = try ListForm(of: source)
    let reader = try source.makeReader(form, plan: plan)
    var record = ListRecord()
    var result: [[String]] = []
    while try reader.next(&record) {
        result.append(
            record.cells.map {
                "\(reader.fields.fields[$0.field].name)=\($0.kind):\(record.text($0))"
            })
    }
    return result
}

/// The error of reading a list to its end; nil if there is none.
func problem(_ source: ListSource) throws -> ListError? {
    do {
        _ = try records(source)
        return nil
    } catch let error as ListError {
        return error
    }
}

/// The objects of the schema's first entity after an import of a list into a store in memory, in order.
func imported(_ source: ListSource, _ schema: Schema, mapping: [String] = []) throws
    -> [[String: Value]]
{
    let store = try LogStore.inMemory(schema: schema)
    defer { try? store.close() }
    let entity = schema.entities[0]
    let list = try ListImport(
        source, form: try ListForm(of: source), entity: entity, in: schema,
        mapping: try FieldMapping(mapping))
    do {
        _ = try store.execute(list.makeRequest())
    } catch {
        throw error.cause ?? error
    }
    var fetch = StoreFetch(entity: 0)
    fetch.includesRows = true
    return try store.snapshot().fetch(fetch).rows.map { row in
        var values: [String: Value] = [:]
        for (index, column) in entity.columns.enumerated() {
            values[column.name] = row.cells.value(index, of: entity, in: store.identity)
        }
        return values
    }
}

/// The problems of an import that fails because of them.
func problems(_ source: ListSource, _ schema: Schema, mapping: [String] = []) throws
    -> ListProblems?
{
    do {
        _ = try imported(source, schema, mapping: mapping)
        return nil
    } catch let error as ListProblems {
        return error
    }
}

/// A schema of one entity.
func schema(_ attributes: AttributeDescription..., unique: [[String]] = []) throws -> Schema {
    try Schema(
        ManagedObjectModel(entities: [
            EntityDescription("Item", attributes: attributes, uniquenessConstraints: unique)
        ]))
}
