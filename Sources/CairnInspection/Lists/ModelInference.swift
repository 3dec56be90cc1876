// Makes a model from all the records of a list.
//
//   1. Of every field it is noted what kinds of values occur in it.
//   2. Its type is the narrowest that holds them all exactly:
//        boolean     JSON's true and false alone
//        integer64   whole numbers without point and exponent, within 64 bits
//        double      numbers, if every whole one among them is exactly a double
//        decimal     numbers that are too large or too long for these
//        string      everything else; objects and arrays as JSON text
//      In CSV a text is a number if it is written as one without leading zero, plus sign or space, and with an
//      exponent only if that has a sign or there is a point: 1E5 is a code. Truth values and dates stay text.
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
    /// - Throws: `ListError` if the list is broken or empty, or lacks a field of a constraint.
    package static func model(
        of source: ListSource, form: ListForm, entity: String, unique: [[String]],
        mapping: FieldMapping, onProgress: ((_ records: Int, _ bytes: Int) -> Void)? = nil
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
            return try plan.model(entity: entity, unique: keys, records: record.number)
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

    func model(entity name: String, unique: [[String]], records: Int) throws(ListError)
        -> ManagedObjectModel
    {
        var entity = EntityDescription(name, uniquenessConstraints: unique)
        let keys = Set(unique.joined())
        for (field, facts) in zip(names, facts) where !field.isEmpty {
            guard !entity.attributes.contains(where: { $0.name == field }) else {
                throw ListError("two fields would be called \(field): rename one with --map")
            }
            var attribute = AttributeDescription(field, facts.type)
            attribute.isOptional = !keys.contains(field) || facts.valueCount < records
            if facts.hasNested { attribute.userInfo[ModelInference.jsonMark] = "text" }
            entity.attributes.append(attribute)
        }
        for key in keys.sorted() where !entity.attributes.contains(where: { $0.name == key }) {
            let fields = entity.attributes.map(\.name).joined(separator: ", ")
            throw ListError(
                "--unique names \(key), which the list does not have. It has: \(fields)")
        }
        return ManagedObjectModel(entities: [entity])
    }
}

/// What kinds of values a field holds.
private struct FieldFacts {
    /// Values that are something.
    private(set) var valueCount = 0
    private(set) var hasNested = false
    private var hasBoolean = false
    private var hasNumber = false
    private var hasText = false
    private var isInteger = true
    private var isDouble = true
    private var isDecimal = true

    mutating func note(_ cell: ListRecord.Cell, in record: ListRecord) {
        switch cell.kind {
        case .null: return
        case .nested: hasNested = true
        case .no, .yes: hasBoolean = true
        case .string: hasText = true
        case .number, .text:
            // Once a text, always a text: there is no need to look any more.
            if !hasText {
                record.bytes.withUnsafeBufferPointer {
                    noteNumber(
                        UnsafeBufferPointer(rebasing: $0[cell.range]), isCSV: cell.kind == .text)
                }
            }
        }
        valueCount += 1
    }

    private mutating func noteNumber(_ text: UnsafeBufferPointer<UInt8>, isCSV: Bool) {
        guard let number = NumberText(text),
            !isCSV || !number.hasExponent || number.hasPoint || number.hasSignedExponent
        else {
            hasText = true
            return
        }
        hasNumber = true
        if isInteger {
            if number.hasPoint || number.hasExponent {
                isInteger = false
            } else if case .value = number.whole {
                // "-0" is no integer that could be told from 0.
                if number.isNegative, number.whole == .value(0) { isInteger = false }
            } else {
                isInteger = false
            }
        }
        if isDouble { isDouble = number.floating(Double.self) != nil }
        // A short number needs no look: every decimal has room for its digits.
        if isDecimal, text.count > 38 || number.hasExponent {
            isDecimal = CellConversion.isDecimal(number)
        }
    }

    var type: AttributeType {
        if hasText || hasNested || valueCount == 0 { return .string }
        if hasBoolean { return hasNumber ? .string : .boolean }
        if isInteger { return .integer64 }
        if isDouble { return .double }
        return isDecimal ? .decimal : .string
    }
}
