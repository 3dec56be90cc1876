// The names in the old model of things that have a name in the new model.
//
// Names are those of the new model, or of the old one for what the new one lacks.
//
// Threads: pure.

extension ModelMigrationPlan {
    /// The former name of a property.
    package enum FormerName: Equatable {
        /// Its former name.
        case known(String)
        /// It did not exist, or is recomputed: objects have no values for it yet.
        case new
        /// Neither model has the property.
        case unknown
    }

    /// The entity of the new model that a name means; nil if there is none, or none any more.
    package func newEntity(named name: String) -> SchemaEntity? {
        if let entity = newSchema.entity(named: name) { return entity }
        guard let old = oldSchema.entity(named: name) else { return nil }
        return entities.firstIndex { $0.sourceIndex == old.index }.map { newSchema.entities[$0] }
    }

    /// The entity of the old model that the objects of one of the new model were of; nil if it is new.
    package func formerEntity(of entity: SchemaEntity) -> SchemaEntity? {
        entities[entity.index].sourceIndex.map { oldSchema.entities[$0] }
    }

    /// The name of a column in the new model; nil if the entity has none that is called so, or was.
    package func newName(ofColumn name: String, of entity: SchemaEntity) -> String? {
        if entity.columnIndex(named: name) != nil { return name }
        return entities[entity.index].columns.first { $0.origin == .column(name) }?.name
    }

    /// What a property of an entity of the new model was called, and elements of composite attributes by their dotted names.
    package func formerName(of name: String, in entity: SchemaEntity) -> FormerName {
        let source = formerEntity(of: entity)
        if let index = entity.relationshipIndex(named: name) {
            let match = matches[entity.index]?.relationships[index]
            guard let source, let match else { return .new }
            return .known(source.relationships[match].description.name)
        }
        if let column = entity.columnIndex(named: name) {
            guard source != nil,
                case .column(let before) = entities[entity.index].columns[column].origin
            else { return .new }
            return .known(before)
        }
        if let index = entity.attributeIndex(named: name) {
            let match = matches[entity.index]?.attributes[index]
            guard let source, let match else { return .new }
            return .known(source.attributes[match].description.name)
        }
        return source?.hasProperty(named: name) == true ? .known(name) : .unknown
    }

    /// The old column whose numbers a column has when they are converted; nil if it converts none.
    package func convertedColumn(_ index: Int, of entity: SchemaEntity) -> SchemaColumn? {
        let column = entity.columns[index]
        let declaring = newSchema.entities[column.declaringEntity].name
        guard
            changes.contains(where: {
                $0.convertsNumbers && $0.entity == declaring && $0.property == column.name
            }), let source = formerEntity(of: entity),
            let attribute = entity.attributes.firstIndex(where: { $0.columns.contains(index) }),
            let match = matches[entity.index]?.attributes[attribute]
        else { return nil }
        let names = MigrationPlanner.elements(
            of: source.attributes[match].description, entity.attributes[attribute].description)
        return names[column.name].flatMap(source.columnIndex(named:)).map { source.columns[$0] }
    }

    /// A path from an object as the old model has it; nil if it leads over what is new. What no model knows stays as it is.
    package func formerPath(_ path: String, from entity: SchemaEntity) -> String? {
        var rest = path.split(separator: ".", omittingEmptySubsequences: false)[...]
        var parts: [String] = []
        var current: SchemaEntity? = entity
        steps: while let entity = current, !rest.isEmpty {
            // An element of a composite attribute has dots in its name.
            for count in stride(from: rest.count, through: 1, by: -1) {
                let name = rest.prefix(count).joined(separator: ".")
                switch formerName(of: name, in: entity) {
                case .unknown: continue
                case .new: return nil
                case .known(let before): parts.append(before)
                }
                current = entity.relationshipIndex(named: name).map {
                    newSchema.entities[entity.relationships[$0].destination]
                }
                rest = rest.dropFirst(count)
                continue steps
            }
            break
        }
        return (parts + rest.map(String.init)).joined(separator: ".")
    }
}

extension SchemaEntity {
    /// Whether it has a property of that name, or an element of a composite attribute of that dotted name.
    package func hasProperty(named name: String) -> Bool {
        columnIndex(named: name) != nil || attributeIndex(named: name) != nil
            || relationshipIndex(named: name) != nil
    }
}
