// The catalog in the form of a schema frame.                                         Format 70

import CairnFormat
package import CairnModel
package import CairnStore
import FoundationEssentials

package enum CatalogDocument {
    /// Encodes a catalog as the JSON of a schema frame.
    package static func encode(_ catalog: Catalog) throws(StoreError) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        do {
            return Array(try encoder.encode(document(catalog)))
        } catch {
            throw StoreError(.invalidRequest, "the model cannot be written: \(error)")
        }
    }

    /// Decodes the catalog of a schema frame's JSON.
    package static func decode(_ payload: UnsafeRawBufferPointer) throws -> Catalog {
        try KnownCatalogs.shared.catalog(payload) { payload in
            // A document that is invalid, or not in this library's form, goes to the general decoder.
            if let catalog = decodePlain(payload) { return catalog }
            return try decodeAny(payload)
        }
    }

    /// The catalog of a document in the form of `encode` whose parts are consistent; nil for any other.
    static func decodePlain(_ payload: UnsafeRawBufferPointer) -> Catalog? {
        guard let document = try? PlainSchemaDocument(payload),
            document.format == FormatVersion.current,
            let schema = try? Schema(document.model, isStored: true)
        else { return nil }
        return catalog(of: schema, document.version, document.entities, document.next)
    }

    /// The catalog with these numbers. As long as the model has never changed, they follow from it. A store
    /// from before order keys existed has none, and all other numbers are the same.
    private static func catalog(
        of schema: Schema, _ version: UInt32, _ entities: [SchemaDocumentEntity],
        _ next: SchemaDocumentNumbers?
    ) -> Catalog? {
        guard version > 0 else { return nil }
        let entities = entities.contains { $0.rules != nil } ? entities.map(\.reworded) : entities
        if let next {
            // Adding to a known number must not trap.
            let roots = entities.filter { $0.parent == nil }
            guard entities.count == schema.entities.count + schema.pairs.count,
                Set(entities.map(\.id)).count == entities.count,
                Set(roots.map(\.tree)).count == roots.count,
                next.entity < .max, next.tree < .max,
                next.properties.allSatisfy({ $0.next <= FormatLimits.firstHiddenProperty })
            else { return nil }
            let catalog = Catalog(
                schema, version: version, DocumentNumbers(schema, entities, next))
            var numbers = numbers(catalog)
            // Only the end of a long list is kept.
            numbers.left = next.left
            guard catalog.excess == nil, self.entities(catalog) == entities, numbers == next
            else { return nil }
            return catalog
        }
        for keepsOrder in schema.hasOrder ? [true, false] : [true] {
            let catalog = Catalog(new: schema, version: version, keepsOrder: keepsOrder)
            if catalog.excess == nil, self.entities(catalog) == entities { return catalog }
        }
        return nil
    }

    /// Returns the same catalog with the schema of another model; nil if that model stores something else.
    package static func catalog(_ catalog: Catalog, under model: ManagedObjectModel) -> Catalog? {
        guard let ordered = model.ordered(like: catalog.storedModel),
            let schema = try? Schema(ordered, isStored: true),
            schema.hasSameForm(as: catalog.schema)
        else { return nil }
        let made = self.catalog(
            of: schema, catalog.version, entities(catalog),
            catalog.isMigrated ? numbers(catalog) : nil)
        return made.map { catalog.with($0) }
    }

    /// The catalog of a document in any form.
    static func decodeAny(_ payload: UnsafeRawBufferPointer) throws -> Catalog {
        let document: SchemaDocument<ManagedObjectModel>
        do {
            document = try JSONDecoder().decode(
                SchemaDocument<ManagedObjectModel>.self, from: Data(payload))
        } catch {
            throw FormatError(.malformed, "F-701", "the schema frame holds no schema")
        }
        try document.checkVersion()
        let schema: Schema
        do {
            schema = try Schema(document.model, isStored: true)
        } catch {
            try document.check()
            throw FormatError(.malformed, "F-702", "the model in the schema frame is invalid")
        }
        if let excess = Catalog(new: schema).excess {
            throw FormatError(.tooLarge, "F-703", excess)
        }
        guard
            let catalog = catalog(
                of: schema, document.version, document.entities, document.next)
        else {
            // A document that follows from a model is consistent, so only invalid ones are examined closely.
            try document.check()
            throw FormatError(.malformed, "F-703", "the schema's numbers do not fit its model")
        }
        return catalog
    }

    private static func document(_ catalog: Catalog) -> SchemaDocument<ManagedObjectModel> {
        SchemaDocument(
            version: catalog.version,
            entities: entities(catalog), relationships: relationships(catalog),
            model: catalog.storedModel, next: catalog.isMigrated ? numbers(catalog) : nil)
    }

    private static func numbers(_ catalog: Catalog) -> SchemaDocumentNumbers {
        SchemaDocumentNumbers(
            entity: catalog.next.entity, tree: catalog.next.tree,
            properties: catalog.trees.indices.map {
                .init(tree: catalog.trees[$0].id, next: catalog.next.properties[$0])
            }, left: catalog.next.leftVersions.isEmpty ? nil : catalog.next.leftVersions)
    }

    private static func entities(_ catalog: Catalog) -> [SchemaDocumentEntity] {
        catalog.entities.indices.map { entity($0, catalog) }
    }

    private static func entity(_ index: Int, _ catalog: Catalog) -> SchemaDocumentEntity {
        let stored = catalog.entities[index]
        let entity = catalog.description(of: index)
        var properties = entity.columns.enumerated().map { position, column in
            var property = SchemaDocumentProperty(
                id: stored.columns[position].propertyID, name: column.name, kind: kind(column),
                optional: column.isOptional,
                target: stored.columns[position].target.map { catalog.trees[$0].id })
            property.note(stored.columns[position].past)
            return property
        }
        for order in stored.orders {
            properties.append(
                SchemaDocumentProperty(
                    id: order.column.propertyID, name: order.column.name, kind: .order,
                    optional: true))
        }
        return SchemaDocumentEntity(
            id: stored.id, name: stored.name, tree: catalog.trees[stored.tree].id,
            parent: entity.parent.map { catalog.entities[$0].id }, abstract: entity.isAbstract,
            hidden: stored.isHidden, properties: properties,
            constraints: catalog.uniques.filter { $0.entity == index && $0.isPlain }.map(\.names),
            rules: catalog.uniques.filter { $0.entity == index }.compactMap { unique in
                unique.form.rule.map { SchemaDocumentRule($0.rule) }
            })
    }

    private static func kind(_ column: SchemaColumn) -> PropertyKind {
        switch column.kind {
        case .reference: .reference
        case .attribute(let type):
            switch type {
            case .integer16: .integer16
            case .integer32: .integer32
            case .integer64: .integer64
            case .decimal: .decimal
            case .double: .double
            case .float: .float
            case .string: .string
            case .boolean: .boolean
            case .date: .date
            case .binary: .binary
            case .uuid: .uuid
            case .uri: .uri
            case .transformable: .transformable
            case .undefined, .objectID, .composite:
                preconditionFailure("a column has a storable type")
            }
        }
    }

    private static func relationships(_ catalog: Catalog) -> [SchemaDocumentRelationship] {
        var result: [SchemaDocumentRelationship] = []
        for entity in catalog.schema.entities {
            for relationship in entity.relationships
            where relationship.declaringEntity == entity.index {
                let id = catalog.entities[entity.index].id
                let name = relationship.description.name
                switch relationship.storage {
                case .column, .transient: break
                case .inverseColumn(let destination, let column):
                    let through = catalog.entities[destination]
                    result.append(
                        SchemaDocumentRelationship(
                            entity: id, name: name, form: .inverse, through: through.id,
                            property: through.columns[column].propertyID,
                            order: relationship.keepsOrder ? order(column, through) : nil))
                case .pairs(let pairs, let isSource):
                    let through = catalog.entities[catalog.entityIndex(ofPairs: pairs)]
                    result.append(
                        SchemaDocumentRelationship(
                            entity: id, name: name, form: .pairs, through: through.id,
                            property: through.columns[isSource ? 0 : 1].propertyID,
                            order: relationship.keepsOrder
                                ? order(isSource ? 0 : 1, through) : nil))
                }
            }
        }
        return result
    }

    /// The property id of the order key next to a reference.
    private static func order(_ reference: Int, _ entity: Catalog.StoredEntity) -> UInt32? {
        entity.orders.first { $0.reference == reference }?.column.propertyID
    }
}

extension SchemaDocumentEntity {
    /// The same with conditions in today's syntax, because another version may have written them differently.
    fileprivate var reworded: SchemaDocumentEntity {
        var entity = self
        entity.rules = rules?.map { rule in
            var rule = rule
            rule.where = rule.where.map { (try? PredicateNode(format: $0).predicateFormat) ?? $0 }
            return rule
        }
        return entity
    }
}

extension SchemaDocumentRule {
    fileprivate init(_ rule: UniquenessRule) {
        self.init(
            names: rule.names, where: rule.predicate?.predicateFormat,
            nilsAreEqual: rule.nilsAreEqual, ignoresCase: rule.isCaseInsensitive,
            ignoresDiacritics: rule.isDiacriticInsensitive)
    }
}
