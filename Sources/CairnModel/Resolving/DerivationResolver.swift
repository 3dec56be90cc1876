// Resolves the derivation expressions of a model, and rejects what a store could not keep up to date.
//
//   1. The text is read as an expression; only the forms of `Derivation` are understood.
//   2. Names become columns and relationships. What is computed from may not be derived itself, transient or composite.
//   3. The type of what comes out must be one that the attribute can hold.
//   4. Nothing derived is part of a uniqueness constraint.
//   5. Every source learns who is computed from it.

/// A derived attribute that a store could not keep up to date.
package struct RefusedDerivation: Sendable {
    /// The index of the entity that declares it.
    package let entity: Int
    /// The attribute's name.
    package let attribute: String
    /// Why.
    package let reason: ModelError
}

struct DerivationResolver {
    let entities: [SchemaEntity]
    let pairs: [SchemaPairs]
    private var derivations: [[Derivation]]
    /// The numbers of derived attributes by `Entity.attribute`, and by root how many there are.
    private var numbers: [String: Int] = [:]
    private var counts: [Int: Int] = [:]
    private var watches: [[SchemaDerivations.Watch]]
    private var pairWatches: [[SchemaDerivations.Watch]]

    init(entities: [SchemaEntity], pairs: [SchemaPairs]) {
        self.entities = entities
        self.pairs = pairs
        derivations = Array(repeating: [], count: entities.count)
        watches = Array(repeating: [], count: entities.count)
        pairWatches = Array(repeating: [], count: pairs.count)
    }

    /// The derivations of a model. Those of one that a store has were judged by whoever made the store, perhaps by a version
    /// that took any text: what that wrote can still be read.
    func resolve(isStored: Bool) throws(ModelError) -> SchemaDerivations {
        do {
            return try resolve()
        } catch {
            guard isStored else { throw error }
            return SchemaDerivations(
                entities: derivations, watches: watches, pairWatches: pairWatches, refusal: error)
        }
    }

    /// The derived attributes of a model that are refused, each judged by itself.
    func refused() -> [RefusedDerivation] {
        var refused: [RefusedDerivation] = []
        for entity in entities {
            for attribute in entity.attributes where attribute.declaringEntity == entity.index {
                do throws(ModelError) {
                    try judge(attribute, of: entity)
                } catch {
                    refused.append(
                        RefusedDerivation(
                            entity: entity.index, attribute: attribute.description.name,
                            reason: error))
                }
            }
        }
        return refused
    }

    private func judge(_ attribute: SchemaAttribute, of entity: SchemaEntity) throws(ModelError) {
        try checkForm(attribute.description, path: "\(entity.name).\(attribute.description.name)")
        guard let text = attribute.description.derivationExpression else { return }
        let reader = DerivationReader(
            entities: entities, entity: entity, attribute: attribute.description, number: 0,
            column: attribute.columns.lowerBound, text: text)
        let derivation = try reader.read()
        for member in entity.family {
            try checkConstraints(of: entities[member], derived: [derivation.column])
        }
    }

    private func resolve() throws(ModelError) -> SchemaDerivations {
        var copy = self
        for entity in entities {
            for attribute in entity.description.attributes {
                try copy.checkForm(attribute, path: "\(entity.name).\(attribute.name)")
            }
        }
        for entity in entities { try copy.add(entity) }
        return SchemaDerivations(
            entities: copy.derivations, watches: copy.watches, pairWatches: copy.pairWatches)
    }

    private func checkForm(_ attribute: AttributeDescription, path: String) throws(ModelError) {
        for element in attribute.elements {
            guard element.derivationExpression == nil else {
                throw ModelError(
                    .invalidDerivation, "an element of a composite attribute cannot be derived",
                    element: "\(path).\(element.name)")
            }
            try checkForm(element, path: "\(path).\(element.name)")
        }
        guard attribute.derivationExpression != nil else { return }
        if attribute.type == .composite {
            throw ModelError(
                .invalidDerivation, "a composite attribute cannot be derived", element: path)
        }
        if attribute.isTransient {
            throw ModelError(
                .invalidDerivation, "a derived attribute is stored, so it cannot be transient",
                element: path)
        }
    }

    /// All derived attributes of an entity, inherited ones first.
    private mutating func add(_ entity: SchemaEntity) throws(ModelError) {
        for attribute in entity.attributes {
            guard let text = attribute.description.derivationExpression else { continue }
            let reader = DerivationReader(
                entities: entities, entity: entities[attribute.declaringEntity],
                attribute: attribute.description, number: number(of: attribute, in: entity),
                column: attribute.columns.lowerBound, text: text)
            let derivation = try reader.read()
            if attribute.declaringEntity == entity.index {
                watch(derivation, derivation.number, of: entity.index)
            }
            derivations[entity.index].append(derivation)
        }
        try checkConstraints(of: entity, derived: derivations[entity.index].map(\.column))
    }

    private func checkConstraints(of entity: SchemaEntity, derived: [Int]) throws(ModelError) {
        for constraint in entity.constraints {
            guard let column = constraint.columns.first(where: { derived.contains($0) }) else {
                continue
            }
            throw ModelError(
                .invalidConstraint,
                "\(entity.columns[column].name) is derived, so its value is not known yet when the save checks whether "
                    + "the key is free",
                element:
                    "\(entities[constraint.declaringEntity].name), uniqueness constraint "
                    + "(\(constraint.names.joined(separator: ", ")))")
        }
    }

    /// The number that a derived attribute has in its entity and all that inherit it. Siblings have others: rows of both may be
    /// found by one relationship.
    private mutating func number(of attribute: SchemaAttribute, in entity: SchemaEntity) -> Int {
        let name = "\(attribute.declaringEntity).\(attribute.description.name)"
        if let known = numbers[name] { return known }
        let number = counts[entity.root, default: 0]
        counts[entity.root] = number + 1
        numbers[name] = number
        return number
    }

    // MARK: Sources

    private mutating func watch(_ derivation: Derivation, _ index: Int, of entity: Int) {
        switch derivation.source {
        case .now: break
        case .path(let steps, let column, _):
            // A row on the way counts by the reference that leads on, the last one by the attribute.
            for place in steps.indices {
                let holder =
                    place + 1 < steps.count
                    ? steps[place + 1].entity : destination(of: steps[place])
                add(
                    .path(back: steps[...place].reversed()),
                    place + 1 < steps.count ? steps[place + 1].column : column, to: holder, entity,
                    index)
            }
        case .members(let storage, _, let column):
            switch storage {
            case .inverseColumn(let member, let reference):
                add(.members(column: reference), column, to: member, entity, index)
            case .pairs(let number, let isSource):
                let way = SchemaDerivations.Watch.Way.pairs(
                    number, ownerIsSource: isSource,
                    isSymmetric: pairs[number].isSymmetric(entities))
                pairWatches[number].append(
                    SchemaDerivations.Watch(
                        entity: entity, derivation: index, way: way, column: nil))
                if column != nil {
                    let member = isSource ? pairs[number].destination : pairs[number].source
                    add(way, column, to: member, entity, index)
                }
            case .column, .transient: break
            }
        }
    }

    private func destination(of step: Derivation.Step) -> Int {
        let entity = entities[step.entity]
        guard let relationship = entity.columns[step.column].relationship else {
            preconditionFailure("a step is the column of a to-one relationship")
        }
        return entity.relationships[relationship].destination
    }

    private mutating func add(
        _ way: SchemaDerivations.Watch.Way, _ column: Int?, to source: Int, _ entity: Int,
        _ derivation: Int
    ) {
        for member in entities[source].family {
            watches[member].append(
                SchemaDerivations.Watch(
                    entity: entity, derivation: derivation, way: way, column: column))
        }
    }
}
