// Reads the value expressions of properties.
//
//   1. An archived expression says it, whatever else the object says.
//   2. Of an attribute without one, the attribute of the same name is copied. What nobody can set is left out.
//   3. Of a relationship without one, a key path and the name of a mapping may say it: `sourcekeypath` and `sourcemappingname`.
//      Else it leads to what the members of the relationship of the same name became, by the one mapping that makes such objects
//      of them, or by all, if entities inherit or several mappings do. A mapping of an abstract entity makes nothing: whoever
//      names it means those of the entities that inherit from it.

extension MappingModelReader {
    /// An entity mapping with its properties.
    mutating func filled(_ draft: Draft) throws(ModelError) -> EntityMapping {
        var mapping = draft.mapping
        // What is dropped has no properties. An entity that the model lacks is said when all is there.
        guard let destination = draft.destination else { return mapping }
        for object in try members(draft.object, "attributemappings", .attribute, mapping.name) {
            var property = try property(object, of: mapping.name)
            if property.valueExpression == nil {
                if destination.computes(attribute: property.name) { continue }
                if object.flag("autogenerateexpression") != false, let source = draft.source,
                    destination.copies(attribute: property.name, from: source)
                {
                    property.valueExpression = .path(
                        property.name, of: .variable(MappingTerms.source))
                }
            }
            mapping.attributeMappings.append(property)
        }
        for object in try members(
            draft.object, "relationshipmappings", .relationship, mapping.name)
        {
            var property = try property(object, of: mapping.name)
            if property.valueExpression == nil {
                if destination.isTransient(relationship: property.name) { continue }
                if object.flag("autogenerateexpression") != false {
                    property.valueExpression = try generated(
                        property.name, object, draft, destination)
                }
            }
            mapping.relationshipMappings.append(property)
        }
        return mapping
    }

    /// A property mapping with what the file says of it.
    private mutating func property(_ object: MappingFileObject, of mapping: String)
        throws(ModelError) -> PropertyMapping
    {
        guard let name = object.text("name") else {
            throw ModelError(
                .invalidElement, "a property mapping has no name", element: mapping,
                line: object.line)
        }
        let place = "\(mapping).\(name)"
        lines.note(place, object.line)
        var property = PropertyMapping(name)
        property.userInfo = try userInfo(object, place)
        guard let bytes = try object.bytes("valueexpressiondata", of: place) else {
            return property
        }
        guard let archived = KeyedArchive(bytes, &valuesLeft)?.top else {
            throw ModelError(
                .malformed, "its value expression is not a keyed archive", element: place,
                line: object.line)
        }
        let value: ExpressionNode
        do throws(ArchivedTreeError) {
            value = try ArchivedTree.expression(archived)
        } catch {
            throw ModelError(
                .invalidMapping, "its value expression is not supported: \(error)",
                element: place, line: object.line)
        }
        if let (name, entity) = abstractMapping(in: value) {
            throw ModelError(
                .invalidMapping,
                "\(name) creates no objects, because \(entity) is abstract; without a mapping name, the function returns the objects of every mapping",
                element: place, line: object.line)
        }
        property.valueExpression = value
        return property
    }

    /// A mapping of an abstract entity that an expression asks for objects, with the entity.
    private func abstractMapping(in value: ExpressionNode) -> (name: String, entity: String)? {
        var found: (String, String)?
        value.forEachNode { node in
            if case .call(.variable(MappingTerms.manager), let function, let arguments) = node,
                arguments.count == 2, !MappingTerms.ManagerFunction.namesRelationship(function),
                case .constant(.string(let name)) = arguments[0],
                let entity = abstractMappings[name]
            {
                found = found ?? (name, entity)
            }
        }
        return found
    }

    /// Free text, of which the file has the archive of a dictionary. Other values than texts have no use here.
    mutating func userInfo(_ object: MappingFileObject, _ place: String) throws(ModelError)
        -> [String: String]
    {
        guard let bytes = try object.bytes("userinfodata", of: place) else { return [:] }
        guard let archived = KeyedArchive(bytes, &valuesLeft)?.top else {
            throw ModelError(
                .malformed, "its user info is not a keyed archive", element: place,
                line: object.line)
        }
        var info: [String: String] = [:]
        for (key, value) in archived.entries {
            if let text = archived.text(of: value) { info[key] = text }
        }
        return info
    }

    // MARK: Relationships

    /// What a relationship leads to, if no expression says it; nil: nothing is said.
    private func generated(
        _ name: String, _ object: MappingFileObject, _ draft: Draft, _ destination: SchemaEntity
    ) throws(ModelError) -> ExpressionNode? {
        let mapping = object.text("sourcemappingname").flatMap {
            abstractMappings[$0] == nil ? $0 : nil
        }
        let path = object.text("sourcekeypath")
        let own = draft.source.flatMap { source in
            source.relationshipIndex(named: name).map { source.relationships[$0] }
        }
        guard path != nil || (own != nil && own?.storage != .transient) else { return nil }
        let members: ExpressionNode
        do throws(PredicateFormatError) {
            members =
                if let path, path.hasPrefix("$") {
                    try ExpressionNode(format: path)
                } else {
                    .path(path ?? name, of: .variable(MappingTerms.source))
                }
        } catch {
            throw ModelError(
                .invalidMapping, "its key path is invalid: \(error)",
                element: "\(draft.mapping.name).\(name)", line: object.line)
        }
        var arguments = [members]
        if let mapping {
            arguments.insert(.constant(.string(mapping)), at: 0)
        } else if path == nil, let own,
            let only = onlyMapping(of: own, to: name, of: destination)
        {
            arguments.insert(.constant(.string(only)), at: 0)
        }
        return .call(
            of: .variable(MappingTerms.manager), selector: MappingTerms.destinationInstances,
            arguments)
    }

    /// The mapping that makes what a relationship may lead to of what it led to; nil if there is not exactly one.
    private func onlyMapping(
        of relationship: SchemaRelationship, to name: String, of destination: SchemaEntity
    ) -> String? {
        guard let index = destination.relationshipIndex(named: name) else { return nil }
        let targets = new.entities[destination.relationships[index].destination].family
        var only: String?
        for source in old.entities[relationship.destination].family {
            guard let made = makers[source] else { continue }
            for target in targets {
                guard let names = made[target] else { continue }
                guard only == nil, names.count == 1 else { return nil }
                only = names[0]
            }
        }
        return only
    }
}

extension SchemaEntity {
    /// Whether nobody can set an attribute: it is derived, or nothing of it is stored.
    fileprivate func computes(attribute name: String) -> Bool {
        guard let index = attributeIndex(named: name) else { return false }
        return attributes[index].columns.isEmpty
            || attributes[index].description.derivationExpression != nil
    }

    fileprivate func isTransient(relationship name: String) -> Bool {
        relationshipIndex(named: name).map { relationships[$0].storage == .transient } ?? false
    }

    /// Whether another entity has an attribute, or a part of one, of the same name that can be copied.
    fileprivate func copies(attribute name: String, from source: SchemaEntity) -> Bool {
        if let index = attributeIndex(named: name), attributes[index].description.type == .composite
        {
            return source.attributeIndex(named: name).map {
                source.attributes[$0].description.type == .composite
            } ?? false
        }
        return source.columnIndex(named: name).map { source.columns[$0].attribute != nil } ?? false
    }
}
