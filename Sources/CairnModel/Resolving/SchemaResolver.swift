// Checks a model and resolves inheritance, inverses and constraints into the contents of `Schema`.
//
//   1. Names: entities are unique, and properties within an entity and its ancestors.
//   2. Inheritance: every parent exists, no entity is its own ancestor.
//   3. Relationships: every destination exists, every inverse leads back; an inverse that only one side
//      names holds for the other side as well.
//   4. Storage: columns for attributes and to-one relationships, pairs where neither side is to-one.
//   5. Constraints: every name is a stored attribute or to-one relationship; one that repeats an
//      ancestor's is dropped. Of one with options, see `KeyRule`.

struct SchemaResolver {
    let model: ManagedObjectModel
    private var parents: [Int?] = []
    private var indexes: [String: Int] = [:]
    /// The columns of each entity by name, including inherited ones.
    private var columnIndexes: [[String: Int]] = []
    /// By entity: its relationships by name, inherited ones too.
    private var relationshipIndexes: [[String: Int]] = []
    /// By entity: its relationships by the inverse that they name.
    private var inverseClaims: [[String: [Int]]] = []

    init(_ model: ManagedObjectModel) {
        self.model = model
    }

    func resolve() throws(ModelError) -> (entities: [SchemaEntity], pairs: [SchemaPairs]) {
        var copy = self
        return try copy.run()
    }

    private mutating func run() throws(ModelError) -> (
        entities: [SchemaEntity], pairs: [SchemaPairs]
    ) {
        try numberEntities()
        let order = try topDownOrder()
        var attributes = [[SchemaAttribute]](repeating: [], count: model.entities.count)
        var columns = [[SchemaColumn]](repeating: [], count: model.entities.count)
        var relationships = [[(RelationshipDescription, Int)]](
            repeating: [], count: model.entities.count)
        columnIndexes = Array(repeating: [:], count: model.entities.count)
        for index in order {
            if let parent = parents[index] {
                attributes[index] = attributes[parent]
                columns[index] = columns[parent]
                columnIndexes[index] = columnIndexes[parent]
                relationships[index] = relationships[parent]
            }
            try addProperties(
                of: index, attributes: &attributes[index], columns: &columns[index],
                relationships: &relationships[index])
        }
        numberRelationships(relationships)
        let (links, pairs) = try link(relationships, order: order)
        var constraints = [[SchemaConstraint]](repeating: [], count: model.entities.count)
        for index in order {
            constraints[index] = parents[index].map { constraints[$0] } ?? []
            try addConstraints(of: index, columns: columns[index], to: &constraints[index])
        }
        let families = self.families()
        let entities = model.entities.indices.map { index in
            SchemaEntity(
                index: index, parent: parents[index], root: root(of: index),
                family: families[index],
                description: model.entities[index], attributes: attributes[index],
                relationships: links[index], columns: columns[index],
                constraints: constraints[index], mergeRule: mergeRule(of: index))
        }
        return (entities, pairs)
    }

    /// The merge rule that an entity declares, or inherits.
    private func mergeRule(of index: Int) -> MergeRule? {
        var current: Int? = index
        while let entity = current {
            if let rule = model.entities[entity].mergeRule { return rule }
            current = parents[entity]
        }
        return nil
    }

    // MARK: Entities

    private mutating func numberEntities() throws(ModelError) {
        for (index, entity) in model.entities.enumerated() {
            guard !entity.name.isEmpty else {
                throw ModelError(.invalidElement, "entity number \(index + 1) has no name")
            }
            guard indexes.updateValue(index, forKey: entity.name) == nil else {
                throw ModelError(
                    .duplicateName, "the model has two entities named \(entity.name)",
                    element: entity.name)
            }
        }
        for entity in model.entities {
            guard let name = entity.superentityName else {
                parents.append(nil)
                continue
            }
            guard let parent = indexes[name] else {
                throw ModelError(
                    .unknownName, "the parent entity \(name) is not in the model",
                    element: entity.name)
            }
            parents.append(parent)
        }
    }

    /// Every entity after its parent.
    private func topDownOrder() throws(ModelError) -> [Int] {
        var order: [Int] = []
        var placed = [Bool](repeating: false, count: model.entities.count)
        for start in model.entities.indices {
            var chain: [Int] = []
            var current: Int? = start
            while let index = current, !placed[index] {
                if chain.contains(index) {
                    let names = (chain + [index]).map { model.entities[$0].name }
                    throw ModelError(
                        .circularInheritance,
                        "the entity inherits from itself: \(names.joined(separator: " → "))",
                        element: model.entities[index].name)
                }
                chain.append(index)
                current = parents[index]
            }
            for index in chain.reversed() {
                placed[index] = true
                order.append(index)
            }
        }
        return order
    }

    private func root(of index: Int) -> Int {
        var current = index
        while let parent = parents[current] { current = parent }
        return current
    }

    private func families() -> [[Int]] {
        var families = model.entities.indices.map { [$0] }
        for index in model.entities.indices {
            var current = parents[index]
            while let ancestor = current {
                families[ancestor].append(index)
                current = parents[ancestor]
            }
        }
        return families
    }

    // MARK: Properties

    private mutating func addProperties(
        of index: Int, attributes: inout [SchemaAttribute], columns: inout [SchemaColumn],
        relationships: inout [(RelationshipDescription, Int)]
    ) throws(ModelError) {
        let entity = model.entities[index]
        var names = Set(attributes.map(\.description.name))
        names.formUnion(relationships.map(\.0.name))
        for attribute in entity.attributes {
            try claim(attribute.name, in: &names, entity: entity)
            let start = columns.count
            let pattern = try self.pattern(of: attribute, path: "\(entity.name).\(attribute.name)")
            if !attribute.isTransient {
                try addColumns(
                    of: attribute, path: attribute.name, optional: attribute.isOptional,
                    pattern: pattern, entity: index, to: &columns)
            }
            attributes.append(
                SchemaAttribute(
                    description: attribute, declaringEntity: index, columns: start..<columns.count,
                    pattern: pattern))
        }
        for relationship in entity.relationships {
            try claim(relationship.name, in: &names, entity: entity)
            guard let destination = indexes[relationship.destinationEntityName] else {
                throw ModelError(
                    .unknownName,
                    "the destination entity \(relationship.destinationEntityName) is not in the model",
                    element: "\(entity.name).\(relationship.name)")
            }
            if !relationship.isToMany && !relationship.isTransient {
                try add(
                    SchemaColumn(
                        name: relationship.name, kind: .reference(root: root(of: destination)),
                        attribute: nil, relationship: relationships.count, declaringEntity: index,
                        isOptional: relationship.isOptional, defaultValue: .null), to: &columns)
            }
            relationships.append((relationship, index))
        }
        for property in entity.fetchedProperties {
            try claim(property.name, in: &names, entity: entity)
        }
    }

    private func claim(_ name: String, in names: inout Set<String>, entity: EntityDescription)
        throws(ModelError)
    {
        guard !name.isEmpty else {
            throw ModelError(.invalidElement, "a property has no name", element: entity.name)
        }
        guard names.insert(name).inserted else {
            throw ModelError(
                .duplicateName, "the entity has, or inherits, two properties of this name",
                element: "\(entity.name).\(name)")
        }
    }

    /// An attribute may be named `a.b` and so meet the element `b` of a composite attribute `a`.
    private mutating func add(_ column: SchemaColumn, to columns: inout [SchemaColumn])
        throws(ModelError)
    {
        let entity = column.declaringEntity
        guard columnIndexes[entity].updateValue(columns.count, forKey: column.name) == nil else {
            throw ModelError(
                .duplicateName, "the entity has two columns of this name",
                element: "\(model.entities[entity].name).\(column.name)")
        }
        columns.append(column)
    }

    private func pattern(of attribute: AttributeDescription, path: String) throws(ModelError)
        -> StringPattern?
    {
        guard let source = attribute.regularExpression else { return nil }
        do {
            return try StringPattern(source)
        } catch {
            throw ModelError(
                .invalidValue, "the regular expression \(source) is invalid: \(error)",
                element: path)
        }
    }

    private mutating func addColumns(
        of attribute: AttributeDescription, path: String, optional: Bool, pattern: StringPattern?,
        entity: Int, to columns: inout [SchemaColumn]
    ) throws(ModelError) {
        let element = "\(model.entities[entity].name).\(path)"
        switch attribute.type {
        case .composite:
            for leaf in attribute.elements {
                guard !leaf.name.isEmpty else {
                    throw ModelError(
                        .invalidElement, "an element of the composite has no name", element: element
                    )
                }
                try addColumns(
                    of: leaf, path: "\(path).\(leaf.name)", optional: optional || leaf.isOptional,
                    pattern: try self.pattern(of: leaf, path: "\(element).\(leaf.name)"),
                    entity: entity, to: &columns)
            }
        case .undefined, .objectID:
            throw ModelError(
                .invalidElement,
                "an attribute of type \(attribute.type.rawValue) can only be transient",
                element: element)
        default:
            if !attribute.defaultValue.isNull {
                guard attribute.defaultValue.fits(attribute.type) else {
                    throw ModelError(
                        .invalidValue,
                        "the default \(attribute.defaultValue) is not a value of type \(attribute.type.rawValue)",
                        element: element)
                }
            }
            try add(
                SchemaColumn(
                    name: path, kind: .attribute(attribute.type), attribute: attribute,
                    relationship: nil, declaringEntity: entity, isOptional: optional,
                    defaultValue: attribute.defaultValue, pattern: pattern), to: &columns)
        }
    }

    // MARK: Relationships

    private mutating func numberRelationships(_ relationships: [[(RelationshipDescription, Int)]]) {
        relationshipIndexes = relationships.map { all in
            Dictionary(uniqueKeysWithValues: all.enumerated().map { ($1.0.name, $0) })
        }
        inverseClaims = relationships.map { all in
            var claims: [String: [Int]] = [:]
            for (position, (relationship, _)) in all.enumerated() {
                guard let name = relationship.inverseName else { continue }
                claims[name, default: []].append(position)
            }
            return claims
        }
    }

    private func link(
        _ relationships: [[(RelationshipDescription, Int)]], order: [Int]
    ) throws(ModelError) -> ([[SchemaRelationship]], [SchemaPairs]) {
        var links = [[SchemaRelationship]](repeating: [], count: relationships.count)
        var pairs: [SchemaPairs] = []
        /// Pairs by the declaring entity and name of either side.
        var sides: [String: (Int, isSource: Bool)] = [:]
        for index in order {
            links[index] = parents[index].map { links[$0] } ?? []
            for position in links[index].count..<relationships[index].count {
                let description = relationships[index][position].0
                guard let destination = indexes[description.destinationEntityName] else { continue }
                let inverse = try inverse(
                    of: description, declaredBy: index, destination: destination, in: relationships)
                let storage: SchemaRelationship.Storage
                if description.isTransient {
                    storage = .transient
                } else if !description.isToMany {
                    guard let column = columnIndexes[index][description.name] else {
                        preconditionFailure("a stored to-one relationship has a column")
                    }
                    storage = .column(column)
                } else if let inverse, !relationships[destination][inverse].0.isToMany {
                    let name = relationships[destination][inverse].0.name
                    guard let column = columnIndexes[destination][name] else {
                        throw ModelError(
                            .mismatchedInverse,
                            "the inverse \(name) is transient, this side is not",
                            element: "\(model.entities[index].name).\(description.name)")
                    }
                    storage = .inverseColumn(entity: destination, column: column)
                } else {
                    let key = "\(index).\(description.name)"
                    if let known = sides[key] {
                        storage = .pairs(known.0, isSource: known.isSource)
                    } else {
                        storage = .pairs(pairs.count, isSource: true)
                        sides[key] = (pairs.count, true)
                        if let inverse {
                            let (other, owner) = relationships[destination][inverse]
                            let otherKey = "\(owner).\(other.name)"
                            if otherKey != key { sides[otherKey] = (pairs.count, false) }
                        }
                        pairs.append(
                            SchemaPairs(
                                name: "\(model.entities[index].name).\(description.name)",
                                source: index, sourceRelationship: position,
                                destination: destination, destinationRelationship: inverse,
                                entity: pairEntity(
                                    pairs.count, source: index, description, destination)))
                    }
                }
                links[index].append(
                    SchemaRelationship(
                        description: description, declaringEntity: index, destination: destination,
                        inverse: inverse, storage: storage))
            }
        }
        return (links, pairs)
    }

    /// The hidden entity of pairs.
    private func pairEntity(
        _ position: Int, source: Int, _ relationship: RelationshipDescription, _ destination: Int
    ) -> SchemaEntity {
        let index = model.entities.count + position
        let columns = [("source", source), ("destination", destination)].map { name, end in
            SchemaColumn(
                name: name, kind: .reference(root: root(of: end)), attribute: nil,
                relationship: nil,
                declaringEntity: index, isOptional: false, defaultValue: .null)
        }
        return SchemaEntity(
            index: index, parent: nil, root: index, family: [index],
            description: EntityDescription("\(model.entities[source].name).\(relationship.name)"),
            attributes: [], relationships: [], columns: columns, constraints: [])
    }

    private func inverse(
        of description: RelationshipDescription, declaredBy index: Int, destination: Int,
        in relationships: [[(RelationshipDescription, Int)]]
    ) throws(ModelError) -> Int? {
        let element = "\(model.entities[index].name).\(description.name)"
        guard let name = description.inverseName else {
            let claims = (inverseClaims[destination][description.name] ?? []).filter { position in
                let (other, _) = relationships[destination][position]
                guard let back = indexes[other.destinationEntityName] else { return false }
                return isSame(back, orAncestorOrDescendantOf: index)
            }
            guard claims.count <= 1 else {
                let names = claims.map { relationships[destination][$0].0.name }
                throw ModelError(
                    .mismatchedInverse,
                    "more than one relationship of \(model.entities[destination].name) has it as its inverse: "
                        + names.joined(separator: ", "), element: element)
            }
            return claims.first
        }
        guard let position = relationshipIndexes[destination][name] else {
            throw ModelError(
                .mismatchedInverse,
                "the inverse \(name) is not a relationship of \(model.entities[destination].name)",
                element: element)
        }
        let (other, _) = relationships[destination][position]
        guard other.inverseName == nil || other.inverseName == description.name,
            let back = indexes[other.destinationEntityName],
            isSame(back, orAncestorOrDescendantOf: index),
            // An inverse that does not name this side must at least see it.
            relationshipIndexes[back][description.name] != nil
        else {
            throw ModelError(
                .mismatchedInverse,
                "the inverse \(model.entities[destination].name).\(name) does not point back: its destination is "
                    + "\(other.destinationEntityName), inverse \(other.inverseName ?? "none")",
                element: element)
        }
        return position
    }

    private func isSame(_ one: Int, orAncestorOrDescendantOf other: Int) -> Bool {
        var current: Int? = one
        while let index = current {
            if index == other { return true }
            current = parents[index]
        }
        current = other
        while let index = current {
            if index == one { return true }
            current = parents[index]
        }
        return false
    }

    // MARK: Constraints

    private func addConstraints(
        of index: Int, columns: [SchemaColumn], to constraints: inout [SchemaConstraint]
    ) throws(ModelError) {
        let entity = model.entities[index]
        for rule in entity.allUniquenessRules {
            let names = rule.names
            let element = "\(entity.name), uniqueness constraint (\(names.joined(separator: ", ")))"
            guard !names.isEmpty else {
                throw ModelError(.invalidConstraint, "it names no property", element: element)
            }
            var positions: [Int] = []
            for name in names {
                guard let position = columnIndexes[index][name] else {
                    throw ModelError(
                        .invalidConstraint,
                        "\(name) is not a stored attribute or to-one relationship of the entity",
                        element: element)
                }
                if positions.contains(position) {
                    throw ModelError(.invalidConstraint, "it names \(name) twice", element: element)
                }
                if columns[position].attribute?.type == .transformable {
                    throw ModelError(
                        .invalidConstraint,
                        "\(name) is transformable: its encoded bytes can vary, so it cannot be unique",
                        element: element)
                }
                positions.append(position)
            }
            let keyRule =
                rule.isPlain
                ? nil : try self.keyRule(rule, positions, of: entity, columns, element: element)
            let set = Set(positions)
            let isRepeated = constraints.contains { constraint in
                // Neither names a column twice.
                guard constraint.columns.count == set.count, set.isSuperset(of: constraint.columns)
                else { return false }
                guard let other = constraint.options else { return rule.isPlain }
                return other.hasSameOptions(as: rule)
            }
            if isRepeated { continue }
            constraints.append(
                SchemaConstraint(
                    declaringEntity: index, columns: positions, names: names, rule: keyRule))
        }
    }

    private func keyRule(
        _ rule: UniquenessRule, _ positions: [Int], of entity: EntityDescription,
        _ columns: [SchemaColumn], element: String
    ) throws(ModelError) -> KeyRule {
        if rule.isCaseInsensitive || rule.isDiacriticInsensitive,
            !positions.contains(where: { columns[$0].kind == .attribute(.string) })
        {
            throw ModelError(
                .invalidConstraint,
                "it ignores case or accents, but none of its properties is a string",
                element: element)
        }
        do {
            return try KeyRule(rule, keys: positions, entity: entity, columns: columns)
        } catch {
            throw ModelError(
                .invalidConstraint, "its condition is invalid: \(error)",
                element: element)
        }
    }
}
