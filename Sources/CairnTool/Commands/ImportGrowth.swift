// Migrates a store to the model that a list requires: cairn import --add-fields and --widen.
//
//   1. The list determines which attributes are missing or too narrow (see `ModelGrowth`), the store which of
//      the wider types fit its values.
//   2. The list is read with the resulting model: if it does not fit, nothing is changed.
//   3. The store is migrated in one commit: lightweight if that can be inferred, otherwise object by object,
//      preserving ids.

import CairnInspection
import CairnMigration
import CairnModel
import CairnObjects
import CairnStore

/// The growth of a store's model for a list.
struct ImportGrowth {
    let job: ImportJob
    let source: ListSource
    let form: ListForm

    /// A change of an attribute.
    struct Change: Sendable {
        let entity: String
        let attribute: String
        /// Nil for a new attribute.
        let old: AttributeType?
        let new: AttributeType

        /// The change for people.
        var line: String {
            let name = PlainText.visible("\(entity).\(attribute)")
            guard let old else { return "\(name) was added, with type \(new.rawValue)" }
            return "\(name) changed from type \(old.rawValue) to \(new.rawValue)"
        }

        /// The change for scripts.
        var json: JSONValue {
            .object([
                "entity": .string(entity), "attribute": .string(attribute),
                "old": .text(old?.rawValue), "new": .string(new.rawValue),
            ])
        }
    }

    /// Migrates the store to a model that fits the list, and returns the changes; none if no change helps.
    func run(_ console: Console) throws -> [Change] {
        let (old, schema, changes) = try StoreSession.reading(job.store) { session in
            let (model, changes) = try grown(session, console)
            let schema = changes.isEmpty ? session.schema : try Schema(model)
            if !changes.isEmpty, let entity = schema.entity(named: job.entity) {
                try job.reading(source, form, for: entity, in: schema, of: session).check()
            }
            return (session.schema, schema, changes)
        }
        console.endProgress()
        if changes.isEmpty { return [] }
        try migrate(from: old, to: schema, changes)
        return changes
    }

    // MARK: The model

    private func grown(_ session: StoreSession, _ console: Console) throws -> (
        ManagedObjectModel, [Change]
    ) {
        let entity = try session.entity(job.entity)
        let growth = try ModelGrowth(
            of: entity, in: session.schema, for: source, form: form, mapping: job.mapping,
            types: job.types, adds: job.addsFields, widens: job.widens
        ) { records, bytes in
            console.progress(ImportJob.progress("examining", records, bytes, of: source))
        }
        var model = session.schema.model
        var changes: [Change] = []
        for widening in growth.widenings {
            guard let index = entity.attributeIndex(named: widening.attribute),
                let wide = try type(for: widening, session, entity.attributes[index])
            else { continue }
            let declaring = entity.attributes[index].declaringEntity
            try Self.widen(widening, to: wide, in: &model.entities[declaring])
            changes.append(
                Change(
                    entity: model.entities[declaring].name, attribute: widening.attribute,
                    old: widening.old, new: wide))
        }
        for attribute in growth.additions {
            model.entities[entity.index].attributes.append(attribute)
            changes.append(
                Change(
                    entity: entity.name, attribute: attribute.name, old: nil, new: attribute.type))
        }
        return (model, changes)
    }

    /// Returns the narrowest candidate that also fits all values of the store.
    private func type(
        for widening: ModelGrowth.Widening, _ session: StoreSession, _ attribute: SchemaAttribute
    ) throws -> AttributeType? {
        var candidates = widening.candidates
        var fetch = StoreFetch(entity: attribute.declaringEntity)
        fetch.includesRows = true
        let column = attribute.columns.lowerBound
        for row in try session.store.snapshot().fetch(fetch).rows {
            // Every value can be a string.
            if candidates.allSatisfy({ $0 == .string }) { break }
            let value = session.value(column, row)
            candidates.removeAll { $0 != .string && WiderType.value(value, as: $0) == nil }
        }
        return candidates.first
    }

    private static func widen(
        _ widening: ModelGrowth.Widening, to type: AttributeType,
        in entity: inout EntityDescription
    ) throws {
        guard
            let place = entity.attributes.firstIndex(where: { $0.name == widening.attribute })
        else { return }
        func wide(_ value: Value, _ what: String) throws -> Value {
            if let value = WiderType.value(value, as: type) { return value }
            throw Failure(
                "\(entity.name).\(widening.attribute) cannot become \(type.rawValue): its \(what) does not fit that type"
            )
        }
        var attribute = entity.attributes[place]
        attribute.type = type
        attribute.defaultValue = try wide(attribute.defaultValue, "default")
        if type == .string {
            // Strings have another order.
            attribute.minimumValue = nil
            attribute.maximumValue = nil
        } else {
            attribute.minimumValue = try attribute.minimumValue.map {
                try wide($0, "minimum value")
            }
            attribute.maximumValue = try attribute.maximumValue.map {
                try wide($0, "maximum value")
            }
        }
        entity.attributes[place] = attribute
    }

    // MARK: The store

    private func migrate(from old: Schema, to new: Schema, _ changes: [Change]) throws {
        let plan = ModelMigrationPlan(from: old, to: new)
        guard plan.inferability == .no else {
            _ = try StoreSession.migrating(job.store, job.access) {
                try $0.migrate(to: new, MigrationChoices())
            }
            return
        }
        var mapping = MappingModel(drafting: plan)
        for place in mapping.entityMappings.indices {
            guard let name = mapping.entityMappings[place].destinationEntityName,
                let entity = new.entity(named: name)
            else { continue }
            for change in changes where change.old != nil {
                guard let declaring = new.entity(named: change.entity),
                    declaring.family.contains(entity.index)
                else { continue }
                let properties = mapping.entityMappings[place].attributeMappings
                guard let property = properties.firstIndex(where: { $0.name == change.attribute })
                else { continue }
                let (key, type) = (change.attribute, change.new)
                mapping.entityMappings[place].mappingType = .transform
                mapping.entityMappings[place].attributeMappings[property] = PropertyMapping(key) {
                    object, _ in
                    guard let any = object.value(forKey: key), let value = Value(any: any) else {
                        return nil
                    }
                    return WiderType.value(value, as: type).flatMap(Self.any)
                }
            }
        }
        let migration = try StoreSession.migrating(job.store, job.access) {
            try $0.begin(to: new, MigrationChoices())
        }
        try MigrationManager(migration, mapping: mapping).migrate()
    }

    /// Converts a value of a wider type to a value that an object accepts.
    @Sendable private static func any(_ value: Value) -> Any? {
        switch value {
        case .integer(let number): number
        case .double(let number): number
        case .decimal(let number): number
        case .string(let text): text
        default: nil
        }
    }
}
