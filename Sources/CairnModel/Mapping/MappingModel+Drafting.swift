// Infers a mapping model, as far as possible.
//
//   1. Every concrete entity of the new model has a mapping from the old entity that it is, or one that says it is new; every
//      concrete old entity that is gone has one that drops it.
//   2. An attribute comes from the one that it is, converted if its type has become a wider one; where it became mandatory
//      nil becomes the default. Numbers of another type are copied, which fails for one that the type cannot hold. Any other
//      that cannot be inferred has no value expression: somebody has to say it.
//   3. A relationship comes from the one that it is. Of a relationship and its inverse the side that keeps the links says it,
//      and a side with an order in any case.
//
// Threads: pure.

extension MappingModel {
    /// Infers a mapping model. Properties whose values cannot be inferred are included without a value expression, and
    /// mappings of new entities are included too.
    ///
    /// - Complexity: O(size of both models).
    public init(drafting plan: ModelMigrationPlan) {
        self.init()
        let (old, new) = (plan.oldSchema, plan.newSchema)
        let hashes = (
            old.model.entityVersionHashesByName, new.model.entityVersionHashesByName
        )
        for entity in new.entities where !entity.isAbstract {
            let migration = plan.entities[entity.index]
            var mapping: EntityMapping
            // An abstract entity has no objects to come from.
            if let source = migration.sourceIndex.map({ old.entities[$0] }), !source.isAbstract {
                mapping = EntityMapping(
                    "\(source.name)To\(entity.name)", from: source.name, to: entity.name)
                mapping.sourceEntityVersionHash = hashes.0[source.name]
                mapping.map(entity, from: source, plan)
                if source.name == entity.name, hashes.0[source.name] == hashes.1[entity.name] {
                    mapping.mappingType = .copy
                }
            } else {
                mapping = EntityMapping("Add\(entity.name)", to: entity.name)
                mapping.attributeMappings = entity.mappedColumns.map {
                    PropertyMapping(entity.columns[$0].name)
                }
                mapping.relationshipMappings = entity.mappedRelationships.map {
                    PropertyMapping(entity.relationships[$0].description.name)
                }
            }
            mapping.destinationEntityVersionHash = hashes.1[entity.name]
            entityMappings.append(mapping)
        }
        let kept = Set(entityMappings.compactMap(\.sourceEntityName))
        for entity in old.entities where !entity.isAbstract && !kept.contains(entity.name) {
            var mapping = EntityMapping("Remove\(entity.name)", from: entity.name)
            mapping.sourceEntityVersionHash = hashes.0[entity.name]
            entityMappings.append(mapping)
        }
    }
}

extension EntityMapping {
    fileprivate mutating func map(
        _ entity: SchemaEntity, from source: SchemaEntity, _ plan: ModelMigrationPlan
    ) {
        let columns = plan.entities[entity.index].columns
        let open = Set(
            plan.changes.filter {
                $0.inferability == .no && $0.action == .changed && !$0.convertsNumbers
            }.map { "\($0.entity).\($0.property ?? "")" })
        for index in entity.mappedColumns {
            let column = entity.columns[index]
            var mapping = PropertyMapping(column.name)
            let declaring = plan.newSchema.entities[column.declaringEntity].name
            let origin =
                columns[index].sourceIndex.map { source.columns[$0] }
                ?? plan.convertedColumn(index, of: entity)
            if let origin, !open.contains("\(declaring).\(column.name)") {
                mapping = PropertyMapping(column.name, copying: origin.name)
                let initial = origin.isOptional && !column.isOptional ? column.defaultValue : .null
                if let value = mapping.valueExpression, !initial.isNull {
                    mapping.valueExpression = .conditional(
                        .compare(value, .equal, .constant(.null)), .constant(initial), value)
                }
            }
            attributeMappings.append(mapping)
        }
        let matches = plan.matches[entity.index]?.relationships ?? []
        for index in entity.mappedRelationships {
            let relationship = entity.relationships[index]
            var mapping = PropertyMapping(relationship.description.name)
            if let match = matches[index], !isSaid(by: relationship, plan) {
                mapping = PropertyMapping(
                    relationship.description.name,
                    relationship: source.relationships[match].description.name)
            }
            relationshipMappings.append(mapping)
        }
    }

    /// Whether the inverse of a relationship says who is connected: always it keeps the links, and comes from somewhere.
    private func isSaid(by relationship: SchemaRelationship, _ plan: ModelMigrationPlan) -> Bool {
        guard let inverse = relationship.inverse, !relationship.description.isOrdered else {
            return false
        }
        switch relationship.storage {
        case .column, .transient, .pairs(_, isSource: true): return false
        case .inverseColumn, .pairs(_, isSource: false): break
        }
        return plan.newSchema.entities[relationship.destination].family.allSatisfy { index in
            if plan.newSchema.entities[index].isAbstract { return true }
            return plan.matches[index]?.relationships[inverse] != nil
        }
    }
}

extension SchemaEntity {
    /// The columns of attributes that a mapping gives values for.
    var mappedColumns: [Int] {
        columns.indices.filter { index in
            guard let attribute = columns[index].attribute else { return false }
            return attribute.derivationExpression == nil
        }
    }

    /// The relationships that are stored.
    var mappedRelationships: [Int] {
        relationships.indices.filter { relationships[$0].storage != .transient }
    }
}
