// Whether the merge rules of a model refer to existing properties, and fit them.

extension ModelChecks {
    /// Checks the rules of an entity, and of its own properties.
    func checkMergeRules(of entity: SchemaEntity) throws(ModelError) {
        let description = entity.description
        if let rule = try rule(description.userInfo, element: entity.name) {
            switch rule {
            case .store, .object, .fold(.keep), .fold(.fillNil): break
            case .fold(.newest(let by)):
                if let problem = entity.problem(ofOrder: by) {
                    throw ModelError(
                        .invalidValue, "the merge rule \(rule.text): \(problem)",
                        element: entity.name)
                }
            case .fold(.maximum), .fold(.minimum), .fold(.sum), .fold(.union):
                throw ModelError(
                    .invalidValue,
                    "the merge rule \(rule.text) is for single properties, not for an entity",
                    element: entity.name)
            }
        }
        for property in description.attributes {
            let element = "\(entity.name).\(property.name)"
            try check(try rule(property.userInfo, element: element), property.name, entity)
            try refuseRules(ofElements: property, element)
        }
        for property in description.relationships {
            let element = "\(entity.name).\(property.name)"
            try check(try rule(property.userInfo, element: element), property.name, entity)
        }
    }

    /// A composite attribute has one rule for all of its elements.
    private func refuseRules(ofElements attribute: AttributeDescription, _ path: String)
        throws(ModelError)
    {
        for part in attribute.elements {
            if part.userInfo[MergeRule.userInfoKey] != nil {
                throw ModelError(
                    .invalidValue,
                    "a merge rule belongs to the whole composite attribute, not to one of its elements",
                    element: "\(path).\(part.name)")
            }
            try refuseRules(ofElements: part, "\(path).\(part.name)")
        }
    }

    private func rule(_ userInfo: [String: String], element: String) throws(ModelError)
        -> MergeRule?
    {
        guard let text = userInfo[MergeRule.userInfoKey] else { return nil }
        if let rule = MergeRule(text: text) { return rule }
        throw ModelError(.invalidValue, "\(text) is not a merge rule", element: element)
    }

    private func check(_ rule: MergeRule?, _ name: String, _ entity: SchemaEntity)
        throws(ModelError)
    {
        guard let rule else { return }
        let folding: FoldingRule =
            switch rule {
            case .store, .object: .keep
            case .fold(let folding): folding
            }
        var problem = entity.problem(of: folding, for: name).map { _, words in words }
        if problem == nil, rule != .union,
            let index = entity.relationshipIndex(named: name),
            entity.relationships[index].description.isToMany
        {
            problem = "a to-many relationship can only have the rule union"
        }
        if let problem {
            throw ModelError(
                .invalidValue, "the merge rule \(rule.text): \(problem)",
                element: "\(entity.name).\(name)")
        }
    }
}
