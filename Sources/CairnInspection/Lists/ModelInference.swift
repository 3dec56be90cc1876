// Infers a model from all the records of a list.
//
//   1. For every field, `FieldFacts` records the kinds of values.
//   2. Its type is the narrowest that represents them all exactly, or the specified one.
//   3. Every attribute is optional, except keys that every record has.
//
// Threads: one reader.

package import CairnModel

/// Infers a model from a list.
package final class ModelInference {
    /// The user info key of attributes that store objects and arrays as JSON text.
    package static let jsonMark = "cairn.json"

    /// Reads a list and returns a model with one entity.
    ///
    /// - Parameter types: the types of attributes, whatever values the list contains.
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
            return try plan.model(
                entity: entity, unique: keys(unique, form), types: try types.resolved(for: form),
                records: record.number)
        } catch {
            throw error.naming(source)
        }
    }

    /// Reads the first records of a list and infers their fields from them alone.
    ///
    /// - Throws: `ListError` if they are broken, or lack a field of a constraint or of a type.
    package static func sample(
        of source: ListSource, form: ListForm, unique: [[String]], mapping: FieldMapping,
        types: FieldTypes, limit: Int
    ) throws(ListError) -> ListSample {
        do throws(ListError) {
            let plan = InferencePlan(try mapping.resolved(for: form))
            let reader = try source.makeReader(form, plan: plan)
            var record = ListRecord()
            var examples: [Int: String] = [:]
            var isWhole = false
            while record.number < limit {
                isWhole = try !reader.next(&record)
                if isWhole { break }
                for cell in record.cells {
                    plan.facts[cell.field].note(cell, in: record)
                    if cell.kind != .null, examples[cell.field] == nil {
                        examples[cell.field] = PlainText.short(record.text(cell))
                    }
                }
            }
            // The fields of the next record, or its errors, are not part of the sample.
            let (count, fields) = (record.number, reader.fields.fields)
            if !isWhole { isWhole = (try? !reader.next(&record)) ?? false }
            let attributes = try plan.attributes(
                fields.count, unique: keys(unique, form), types: try types.resolved(for: form),
                of: isWhole ? "the list" : "the sample")
            return ListSample(
                fields: fields.map { field in
                    ListSample.Field(
                        name: field.name, attribute: attributes[field.index]?.name ?? "",
                        type: attributes[field.index]?.type ?? .undefined,
                        valueCount: plan.facts[field.index].valueCount,
                        example: examples[field.index])
                }, recordCount: count, isWhole: isWhole)
        } catch {
            throw error.naming(source)
        }
    }

    /// Returns the keys of constraints with the field names of a form.
    private static func keys(_ unique: [[String]], _ form: ListForm) -> [[String]] {
        form.isFeatures
            ? unique.map { $0.map(FieldMapping.withoutPropertiesPrefix) } : unique
    }
}

/// Facts about the fields of a list.
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

    func model(entity name: String, unique: [[String]], types: FieldTypes, records: Int)
        throws(ListError) -> ManagedObjectModel
    {
        var entity = EntityDescription(name, uniquenessConstraints: unique)
        let keys = Set(unique.joined())
        let attributes = try attributes(
            names.count, unique: unique, types: types, of: "the list")
        for (attribute, facts) in zip(attributes, facts) {
            guard var attribute else { continue }
            attribute.isOptional = !keys.contains(attribute.name) || facts.valueCount < records
            entity.attributes.append(attribute)
        }
        return ManagedObjectModel(entities: [entity])
    }

    /// Returns the attributes of the first fields; nil for a field that is dropped.
    ///
    /// - Parameter list: the name of these records in errors.
    func attributes(_ count: Int, unique: [[String]], types: FieldTypes, of list: String)
        throws(ListError) -> [AttributeDescription?]
    {
        let keys = Set(unique.joined())
        var known: Set<String> = []
        var attributes: [AttributeDescription?] = []
        for (field, facts) in zip(names, facts).prefix(count) {
            guard !field.isEmpty else {
                attributes.append(nil)
                continue
            }
            guard known.insert(field).inserted else {
                throw ListError("two fields would be named \(field): rename one with --map")
            }
            attributes.append(
                facts.attribute(field, type: types.type(of: field), isKey: keys.contains(field)))
        }
        for (option, names) in [("--unique", keys.sorted()), ("--type", types.names)] {
            for name in names where !known.contains(name) {
                throw ListError(
                    "\(option) mentions \(name), which is not in \(list). It has: "
                        + attributes.compactMap { $0?.name }.joined(separator: ", "))
            }
        }
        return attributes
    }
}
