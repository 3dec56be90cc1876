// Checks whether a mapping model fits its source and destination models.
//
//   1. Names: each mapping has one of its own, and entities and properties that the models have.
//   2. Versions: the hashes that a mapping was made for are those of the models.
//   3. What a mapping does agrees with which entities it has.
//   4. Value expressions: variables that there are, paths that lead somewhere, functions that can be called.
//
// Threads: pure.

extension MappingModel {
    /// Checks whether the mapping model can migrate a store from one model to the other.
    ///
    /// Functions of a policy are not checked: the policy is known only when a migration begins.
    ///
    /// - Throws: `ModelError`: `.invalidMapping`, `.unknownName` or `.duplicateName`, with the mapping and the property as its
    ///   element, such as `CarToCar.name`.
    /// - Complexity: O(size of both models and of the mapping).
    public func check(from old: ManagedObjectModel, to new: ManagedObjectModel) throws(ModelError) {
        try check(from: try Schema(old, isStored: true), to: try Schema(new))
    }

    /// The same for schemas.
    package func check(from old: Schema, to new: Schema) throws(ModelError) {
        let check = MappingCheck(mapping: self, old: old, new: new)
        try check.run()
    }
}

private struct MappingCheck {
    let mapping: MappingModel
    let old: Schema
    let new: Schema
    private let mappingNames: Set<String>

    init(mapping: MappingModel, old: Schema, new: Schema) {
        self.mapping = mapping
        self.old = old
        self.new = new
        mappingNames = Set(mapping.entityMappings.map(\.name))
    }

    func run() throws(ModelError) {
        var names: Set<String> = []
        let (oldHashes, newHashes) = (
            old.model.entityVersionHashesByName, new.model.entityVersionHashesByName
        )
        for entity in mapping.entityMappings {
            let name = entity.name
            if name.isEmpty { throw ModelError(.invalidMapping, "an entity mapping has no name") }
            guard names.insert(name).inserted else {
                throw ModelError(
                    .duplicateName, "two entity mappings have this name", element: name)
            }
            let source = try find(entity.sourceEntityName, in: old, "old", name)
            let destination = try find(entity.destinationEntityName, in: new, "new", name)
            if let hash = entity.sourceEntityVersionHash, let source,
                hash != oldHashes[source.name]
            {
                throw ModelError(
                    .invalidMapping, "it was created for another version of \(source.name)",
                    element: name)
            }
            if let hash = entity.destinationEntityVersionHash, let destination,
                hash != newHashes[destination.name]
            {
                throw ModelError(
                    .invalidMapping, "it was created for another version of \(destination.name)",
                    element: name)
            }
            try checkType(entity, source, destination)
            try check(entity, source, destination)
        }
    }

    private func find(_ name: String?, in schema: Schema, _ which: String, _ place: String)
        throws(ModelError) -> SchemaEntity?
    {
        guard let name else { return nil }
        guard let entity = schema.entity(named: name) else {
            throw ModelError(
                .unknownName, "the \(which) model has no entity \(name)", element: place)
        }
        return entity
    }

    private func checkType(
        _ mapping: EntityMapping, _ source: SchemaEntity?, _ destination: SchemaEntity?
    ) throws(ModelError) {
        func refuse(_ message: String) throws(ModelError) {
            throw ModelError(.invalidMapping, message, element: mapping.name)
        }
        if let destination, destination.isAbstract {
            try refuse("\(destination.name) is abstract: it can have no objects")
        }
        switch mapping.mappingType {
        case .undefined: try refuse("it has no mapping type")
        case .custom:
            if !mapping.hasPolicy { try refuse("it is a custom mapping, but has no policy") }
            if source == nil, destination == nil { try refuse("it names no entity") }
        case .add:
            if destination == nil {
                try refuse("it adds objects, but names no entity of the new model")
            }
            if source != nil { try refuse("it adds objects, but names an entity of the old model") }
        case .remove:
            if source == nil {
                try refuse("it removes objects, but names no entity of the old model")
            }
            if destination != nil {
                try refuse("it removes objects, but names an entity of the new model")
            }
        case .copy, .transform:
            if source == nil || destination == nil {
                try refuse("it migrates objects, but does not name both entities")
            }
        }
        guard let predicate = mapping.sourcePredicate else { return }
        guard let source else {
            return try refuse("it has a predicate, but names no entity of the old model")
        }
        do throws(PredicateFormatError) {
            _ = try predicate.bound(to: source, in: old)
        } catch {
            try refuse("its predicate does not fit \(source.name): \(error)")
        }
    }

    // MARK: Properties

    private func check(
        _ mapping: EntityMapping, _ source: SchemaEntity?, _ destination: SchemaEntity?
    ) throws(ModelError) {
        var names: Set<String> = []
        for (properties, isRelationship) in [
            (mapping.attributeMappings, false), (mapping.relationshipMappings, true),
        ] {
            for property in properties {
                let place = "\(mapping.name).\(property.name)"
                guard let destination else {
                    throw ModelError(
                        .invalidMapping, "the entity mapping creates no object that could have it",
                        element: place
                    )
                }
                guard names.insert(property.name).inserted else {
                    throw ModelError(.duplicateName, "it is mapped twice", element: place)
                }
                try checkTarget(property, isRelationship, source, destination, place)
                guard let value = property.valueExpression, property.valueCode == nil else {
                    continue
                }
                try check(value, mapping, source, destination, place)
            }
        }
    }

    private func checkTarget(
        _ property: PropertyMapping, _ isRelationship: Bool, _ source: SchemaEntity?,
        _ entity: SchemaEntity, _ place: String
    ) throws(ModelError) {
        let name = property.name
        if isRelationship {
            guard let index = entity.relationshipIndex(named: name) else {
                throw ModelError(
                    .unknownName, "\(entity.name) has no relationship \(name)", element: place)
            }
            if entity.relationships[index].storage != .transient { return }
            throw ModelError(.invalidMapping, "it is transient: nothing is stored", element: place)
        }
        if let column = entity.columnIndex(named: name), let leaf = entity.columns[column].attribute
        {
            guard leaf.derivationExpression == nil else {
                throw ModelError(
                    .invalidMapping, "it is derived and cannot be set", element: place)
            }
            return
        }
        guard let index = entity.attributeIndex(named: name) else {
            throw ModelError(
                .unknownName, "\(entity.name) has no attribute \(name)", element: place)
        }
        if entity.attributes[index].columns.isEmpty {
            throw ModelError(.invalidMapping, "it is transient: nothing is stored", element: place)
        }
        // A composite one: an expression has no value of the kind, unless it is another one as it is.
        switch property.valueExpression {
        case nil, .call(.variable(MappingTerms.entityPolicy), _, _): return
        case .path(.variable(MappingTerms.source), let path):
            if let other = source?.attributeIndex(named: path),
                source?.attributes[other].description.type == .composite
            {
                return
            }
        default: break
        }
        throw ModelError(
            .invalidMapping, "it is composite: map its elements one by one",
            element: place)
    }

    private func check(
        _ value: ExpressionNode, _ mapping: EntityMapping, _ source: SchemaEntity?,
        _ destination: SchemaEntity, _ place: String
    ) throws(ModelError) {
        do throws(PredicateFormatError) {
            try value.checkNesting()
        } catch {
            throw ModelError(
                .invalidMapping,
                "its value expression has more than \(PredicateNode.deepest) levels", element: place
            )
        }
        var problem: ModelError?
        var named: Set<String> = []
        value.forEachNode { node in
            switch node {
            case .subquery(_, let variable, _): named.insert(variable)
            case .assignment(let name, _): named.insert(name)
            default: break
            }
        }
        value.forEachNode { node in
            if problem == nil {
                problem = self.problem(node, mapping, source, destination, place, named)
            }
        }
        if let problem { throw problem }
    }

    private func problem(
        _ node: ExpressionNode, _ mapping: EntityMapping, _ source: SchemaEntity?,
        _ destination: SchemaEntity, _ place: String, _ named: Set<String>
    ) -> ModelError? {
        func wrong(_ message: String) -> ModelError {
            ModelError(.invalidMapping, message, element: place)
        }
        switch node {
        case .variable(let name):
            if named.contains(name) { return nil }
            if name == MappingTerms.source, source == nil {
                return wrong("there is no $source: the mapping has no entity of the old model")
            }
            return MappingTerms.variables.contains(name)
                ? nil
                : wrong(
                    "there is no variable $\(name): there are \(MappingTerms.variables.map { "$\($0)" }.joined(separator: ", "))"
                )
        case .keyPath(let path):
            return wrong("\(path) does not name an object: write $source.\(path)")
        case .path(.variable(let name), let path) where !named.contains(name):
            if name == MappingTerms.source, let source {
                return old.leads(path, from: source)
                    ? nil : wrong("\(source.name) of the old model has no property \(path)")
            }
            if name == MappingTerms.destination {
                return new.leads(path, from: destination)
                    ? nil : wrong("\(destination.name) of the new model has no property \(path)")
            }
            return nil
        case .call(.variable(MappingTerms.manager), let function, let arguments):
            guard MappingTerms.ManagerFunction(function) != nil else {
                return wrong(
                    "the manager has no function \(function): it has \(MappingTerms.destinationInstances) and \(MappingTerms.sourceInstances)"
                )
            }
            guard (1...2).contains(arguments.count) else {
                return wrong(
                    "\(function) takes objects, with the name of an entity mapping before them")
            }
            if arguments.count == 2, case .constant(.string(let name)) = arguments[0],
                !MappingTerms.ManagerFunction.namesRelationship(function),
                !mappingNames.contains(name)
            {
                return ModelError(
                    .unknownName, "there is no entity mapping \(name)", element: place)
            }
            return nil
        case .call(.variable(MappingTerms.entityPolicy), let function, _):
            return mapping.hasPolicy
                ? nil : wrong("\(function) is a function of a policy, but the mapping has none")
        case .call(_, let function, _):
            return wrong("\(function) is a function of neither $manager nor $entityPolicy")
        case .fetch: return wrong("a value expression cannot contain a fetch")
        default: return nil
        }
    }
}

extension Schema {
    /// Whether a path leads to something from an object of an entity.
    fileprivate func leads(_ path: String, from entity: SchemaEntity) -> Bool {
        var entity = entity
        var rest = path[...]
        while true {
            // Parts of composite attributes have dots in their names.
            let name = String(rest)
            if entity.columnIndex(named: name) != nil || entity.attributeIndex(named: name) != nil
                || entity.relationshipIndex(named: name) != nil
                || ["objectID", "self", "SELF", "entity", "entity.name"].contains(name)
            {
                return true
            }
            guard let dot = rest.firstIndex(of: ".") else { return false }
            let first = String(rest[..<dot])
            rest = rest[rest.index(after: dot)...]
            guard let index = entity.relationshipIndex(named: first) else {
                // What a plain value can be asked.
                return entity.attributeIndex(named: first) != nil
                    && ["length", "timeIntervalSinceReferenceDate", "self"].contains(rest)
            }
            entity = entities[entity.relationships[index].destination]
        }
    }
}
