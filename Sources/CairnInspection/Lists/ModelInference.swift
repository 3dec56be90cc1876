// Makes a model from all the records of a list.
//
//   1. Of every field it is noted what kinds of values occur in it: see `FieldFacts`.
//   2. Its type is the narrowest that holds them all exactly, or the one that was said.
//   3. Every attribute is optional, but for keys that every record has.
//
// Threads: one reader.

package import CairnModel

/// Infers a model from a list.
package final class ModelInference {
    /// The key in an attribute's user info that says: objects and arrays are kept as JSON text.
    package static let jsonMark = "cairn.json"

    /// Reads a list and makes a model with one entity.
    ///
    /// - Parameter types: what attributes are to be, whatever the list has in them.
    /// - Throws: `ListError` if the list is broken or empty, or lacks a field of a constraint or of a type.
    package static func model(
        of source: ListSource, form: ListForm, entity: String, unique: [[String]],
        mapping: FieldMapping, types: FieldTypes = FieldTypes(),
        onProgress: ((_ records: Int, _ bytes: Int) -> Void)? = nil
    ) throws(ListError) -> ManagedObjectModel {
        do throws(ListError) {
            let plan = InferencePlan(try mapping.resolved(for: form))
            let reader = try source.makeReader(form, plan: plan)
            var record = ListRecord()
            while try reader.next(&record) {
                for cell in record.cells {
                    plan.facts[cell.field].note(cell, in: record)
                }
                if record.number & 4095 == 0 { onProgress?(record.number, reader.byteCount) }
            }
            guard record.number > 0 else {
                throw ListError("the list is empty: no model can be inferred from it")
            }
            let keys = unique.map { names in
                form.isFeatures ? names.map(FieldMapping.withoutPropertiesPrefix) : names
            }
            return try plan.model(
                entity: entity, unique: keys, types: try types.resolved(for: form),
                records: record.number)
        } catch {
            throw error.naming(source)
        }
    }

    /// Reads the first records of a list for what would be inferred from them alone.
    ///
    /// - Throws: `ListError` if they are broken, or a type names no field.
    package static func sample(
        of source: ListSource, form: ListForm, mapping: FieldMapping, types: FieldTypes,
        limit: Int
    ) throws(ListError) -> ListSample {
        do throws(ListError) {
            let plan = InferencePlan(try mapping.resolved(for: form))
            let reader = try source.makeReader(form, plan: plan)
            var record = ListRecord()
            var examples: [Int: String] = [:]
            var isWhole = false
            while !isWhole, record.number < limit {
                isWhole = try !reader.next(&record)
                if isWhole { break }
                for cell in record.cells {
                    plan.facts[cell.field].note(cell, in: record)
                    if cell.kind != .null, examples[cell.field] == nil {
                        examples[cell.field] = PlainText.short(record.text(cell))
                    }
                }
            }
            let count = record.number
            if !isWhole { isWhole = try !reader.next(&record) }
            return try plan.sample(
                reader.fields, examples, types: try types.resolved(for: form), records: count,
                isWhole: isWhole)
        } catch {
            throw error.naming(source)
        }
    }
}

/// What is known of the fields of a list.
private final class InferencePlan: FieldPlan {
    private let mapping: FieldMapping
    private var names: [String] = []
    var facts: [FieldFacts] = []

    init(_ mapping: FieldMapping) {
        self.mapping = mapping
    }

    func use(of field: FieldTable.Field) -> FieldUse {
        let name = mapping.target(of: field.name) ?? field.name
        names.append(name)
        facts.append(FieldFacts())
        return name.isEmpty ? .dropped : .value
    }

    func sample(
        _ table: FieldTable, _ examples: [Int: String], types: FieldTypes, records: Int,
        isWhole: Bool
    ) throws(ListError) -> ListSample {
        try requireFields(types.names, option: "--type", among: names.filter { !$0.isEmpty })
        return ListSample(
            fields: table.fields.map { field in
                let (name, facts) = (names[field.index], facts[field.index])
                return ListSample.Field(
                    name: field.name, attribute: name, type: types.type(of: name) ?? facts.type,
                    valueCount: facts.valueCount, example: examples[field.index])
            }, recordCount: records, isWhole: isWhole)
    }

    func model(entity name: String, unique: [[String]], types: FieldTypes, records: Int)
        throws(ListError) -> ManagedObjectModel
    {
        var entity = EntityDescription(name, uniquenessConstraints: unique)
        let keys = Set(unique.joined())
        var known: Set<String> = []
        for (field, facts) in zip(names, facts) where !field.isEmpty {
            guard known.insert(field).inserted else {
                throw ListError("two fields would be called \(field): rename one with --map")
            }
            var attribute = facts.attribute(
                field, type: types.type(of: field), isKey: keys.contains(field))
            attribute.isOptional = !keys.contains(field) || facts.valueCount < records
            entity.attributes.append(attribute)
        }
        let fields = entity.attributes.map(\.name)
        try requireFields(keys.sorted(), option: "--unique", among: fields)
        try requireFields(types.names, option: "--type", among: fields)
        return ManagedObjectModel(entities: [entity])
    }

    private func requireFields(_ names: [String], option: String, among fields: [String])
        throws(ListError)
    {
        let known = Set(fields)
        for name in names where !known.contains(name) {
            throw ListError(
                "\(option) names \(name), which the list does not have. It has: "
                    + fields.joined(separator: ", "))
        }
    }
}
