// Finds the attributes that a model lacks for a list.
//
//   1. A field without an attribute in the entity becomes an attribute of the inferred type.
//   2. An attribute that does not fit all values of the list becomes one of the narrowest wider type that
//      represents all of them, and that distinguishes each from every other.
//   3. Everything else stays unchanged: the import reports the problem.
//
// Invariants: only the list is examined; the caller checks whether stored values fit a wider type.
// Threads: one reader.

package import CairnModel

/// The attributes that a list requires of an entity, beyond the existing ones.
package struct ModelGrowth: Sendable {
    /// An attribute whose type is too narrow.
    package struct Widening: Sendable {
        package let attribute: String
        package let old: AttributeType
        /// The types that fit all values of the list, narrowest first.
        package let candidates: [AttributeType]
    }

    /// New attributes, in the order of the list.
    package private(set) var additions: [AttributeDescription] = []
    /// Attributes with a wider type, in the order of the list.
    package private(set) var widenings: [Widening] = []

    /// Reads a list and finds what an entity lacks.
    ///
    /// - Parameters:
    ///   - types: the types of new attributes, and of those to widen.
    ///   - adds: whether fields without an attribute become attributes.
    ///   - widens: whether attributes that do not fit the values are widened.
    /// - Throws: `ListError` if the list is broken.
    package init(
        of entity: SchemaEntity, in schema: Schema, for source: ListSource, form: ListForm,
        mapping: FieldMapping, types: FieldTypes, adds: Bool, widens: Bool,
        onProgress: ((_ records: Int, _ bytes: Int) -> Void)? = nil
    ) throws(ListError) {
        do throws(ListError) {
            let plan = GrowthPlan(
                entity, in: schema, mapping: try mapping.resolved(for: form),
                types: try types.resolved(for: form), adds: adds, widens: widens)
            let reader = try source.makeReader(form, plan: plan)
            var record = ListRecord()
            while try reader.next(&record) {
                for cell in record.cells { plan.note(cell, in: record) }
                if record.number & 4095 == 0 { onProgress?(record.number, reader.byteCount) }
            }
            (additions, widenings) = try plan.result()
        } catch {
            throw error.naming(source)
        }
    }
}

/// Facts about the fields of a list, compared with an entity.
private final class GrowthPlan: FieldPlan {
    private enum Role {
        /// It has a destination and is not examined, or cannot have one.
        case none
        /// The index of the new field.
        case new(Int)
        /// The index of the stored field.
        case stored(Int)
    }

    private struct NewField {
        let name: String
        var facts = FieldFacts()
    }

    private struct StoredField {
        let attribute: String
        let type: AttributeType
        let keepsNested: Bool
        let isKey: Bool
        var candidates: [AttributeType]
        var fits = true

        mutating func note(_ cell: ListRecord.Cell, in record: ListRecord) {
            if fits { fits = takes(cell, of: record, as: type, isKey: isKey) }
            for index in candidates.indices.reversed()
            // Nothing is rounded just because another value did not fit.
            where !takes(cell, of: record, as: candidates[index], isKey: true) {
                candidates.remove(at: index)
            }
        }

        private func takes(
            _ cell: ListRecord.Cell, of record: ListRecord, as type: AttributeType, isKey: Bool
        ) -> Bool {
            // Every single value has a text; there is no need to create it here.
            if type == .string { return keepsNested || cell.kind != .nested }
            if case .value = record.value(of: cell, as: type, isKey: isKey) { return true }
            return false
        }
    }

    private let entity: SchemaEntity
    private let binder: FieldBinder
    private let mapping: FieldMapping
    private let types: FieldTypes
    private let adds: Bool
    private let widens: Bool
    private var roles: [Role] = []
    private var new: [NewField] = []
    private var stored: [StoredField] = []

    init(
        _ entity: SchemaEntity, in schema: Schema, mapping: FieldMapping, types: FieldTypes,
        adds: Bool, widens: Bool
    ) {
        self.entity = entity
        self.mapping = mapping
        self.types = types
        self.adds = adds
        self.widens = widens
        binder = FieldBinder(entity, in: schema, mapping: mapping)
    }

    func use(of field: FieldTable.Field) -> FieldUse {
        let use = binder.use(of: field)
        let name = mapping.target(of: field.name) ?? field.name
        switch binder.targets[field.index] {
        case .column(let column, let type, let keepsNested):
            // Parts of composite attributes are not widened.
            if widens, entity.attributeIndex(named: entity.columns[column].name) != nil {
                roles.append(.stored(stored.count))
                stored.append(storedField(column, type, keepsNested: keepsNested))
            } else {
                roles.append(.none)
            }
        case .none where adds && isNew(name, field):
            roles.append(.new(new.count))
            new.append(NewField(name: name))
            return .value
        default: roles.append(.none)
        }
        return use
    }

    private func isNew(_ name: String, _ field: FieldTable.Field) -> Bool {
        // A part of an existing attribute or relationship is not an attribute itself.
        let owner = String(name.prefix { $0 != "." })
        return !name.isEmpty && field.parent == nil && entity.columnIndex(named: name) == nil
            && entity.attributeIndex(named: name) == nil
            && entity.compositeColumns(owner) == nil
            && entity.relationshipIndex(named: owner) == nil
    }

    private func storedField(_ column: Int, _ type: AttributeType, keepsNested: Bool)
        -> StoredField
    {
        let name = entity.columns[column].name
        var field = StoredField(
            attribute: name, type: type, keepsNested: keepsNested,
            isKey: entity.constraints.contains { $0.columns.contains(column) },
            candidates: WiderType.candidates(for: type))
        // An explicit type is used whether the values require it or not.
        if let wanted = types.type(of: name), wanted != type {
            field.fits = false
            field.candidates = field.candidates.filter { $0 == wanted }
        }
        return field
    }

    func note(_ cell: ListRecord.Cell, in record: ListRecord) {
        switch roles[cell.field] {
        case .none: return
        case .new(let index): new[index].facts.note(cell, in: record)
        case .stored(let index): stored[index].note(cell, in: record)
        }
    }

    func result() throws(ListError) -> ([AttributeDescription], [ModelGrowth.Widening]) {
        var additions: [AttributeDescription] = []
        var names: Set<String> = []
        for field in new {
            guard names.insert(field.name).inserted else {
                throw ListError("two fields would be named \(field.name): rename one with --map")
            }
            additions.append(field.facts.attribute(field.name, type: types.type(of: field.name)))
        }
        let widenings = stored.filter { !$0.fits && !$0.candidates.isEmpty }.map { field in
            ModelGrowth.Widening(
                attribute: field.attribute, old: field.type, candidates: field.candidates)
        }
        return (additions, widenings)
    }
}
