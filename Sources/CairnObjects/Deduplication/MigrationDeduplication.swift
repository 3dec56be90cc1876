// What of a request about duplicates a migration needs.
//
//   1. A constraint of the new model with the request's keys that objects may stand against, and that holds for objects of the
//      request's entity. Without one nobody is in the way of anybody, and nothing is folded: what is folded is gone for good.
//   2. Of the entity's objects those that the constraint holds for. That may be those of a descendant; it leaves out those of
//      entities that go, and those that a condition of the constraint leaves out.
//   3. All of it in the names of the old model.
//
// Invariant: nothing is folded but objects that the new model does not allow to be two.
// Threads: pure.

package import CairnModel
package import CairnStore

/// A request in the names of the old model, about the objects that constraints of the new one hold for.
package struct MigrationDeduplication: Sendable {
    /// A constraint of the new model.
    package struct Constraint: Hashable, Sendable {
        /// The entity that declares it.
        package let entity: String
        /// Its properties.
        package let names: Set<String>

        package init(entity: String, names: Set<String>) {
            self.entity = entity
            self.names = names
        }
    }

    /// The request.
    package let request: DeduplicationRequest
    /// What it is needed for.
    package let constraints: Set<Constraint>
}

extension DeduplicationRequest {
    /// What of it has to be carried out so that constraints hold that a migration adds or changes; empty if there is nothing.
    ///
    /// - Parameter models: other ones that a migration in stages passes through: what only they know is passed over here.
    /// - Throws: `StoreError` with `.invalidRequest` if no model knows the entity, a key, or what a rule names.
    package func needed(
        by plan: ModelMigrationPlan, knowing models: [Schema] = []
    ) throws(StoreError) -> [MigrationDeduplication] {
        try check(plan, models)
        guard let entity = plan.newEntity(named: entityName) else { return [] }
        let names = keys.compactMap { plan.newName(ofColumn: $0, of: entity) }
        guard names.count == keys.count else { return [] }
        var targets: [Int: [SchemaConstraint]] = [:]
        for constraint in plan.constraints where constraint.mayFail {
            let declaring = plan.newSchema.entities[constraint.entity]
            let described = declaring.constraints[constraint.constraint]
            guard Set(described.names) == Set(names) else { continue }
            if entity.isKind(of: declaring) {
                targets[entity.index, default: []].append(described)
            } else if declaring.isKind(of: entity), includesSubentities {
                targets[declaring.index, default: []].append(described)
            }
        }
        return targets.inKeyOrder().compactMap { index, constraints in
            let target = plan.newSchema.entities[index]
            return former(of: target, names, constraints, plan).map { request in
                MigrationDeduplication(
                    request: request,
                    constraints: Set(
                        constraints.map {
                            .init(
                                entity: plan.newSchema.entities[$0.declaringEntity].name,
                                names: Set($0.names))
                        }))
            }
        }
    }

    // MARK: Names

    /// Whether some model knows what it names.
    private func check(_ plan: ModelMigrationPlan, _ models: [Schema]) throws(StoreError) {
        var known = ([plan.newSchema, plan.oldSchema] + models).compactMap {
            $0.entity(named: entityName)
        }
        if known.isEmpty {
            throw StoreError(
                .invalidRequest, "the model has no entity of this name",
                context: .init(entity: entityName))
        }
        if let entity = plan.newEntity(named: entityName) {
            known.append(entity)
            if let former = plan.formerEntity(of: entity) { known.append(former) }
        }
        for name in keys + rule.names {
            if known.contains(where: { $0.hasProperty(named: name) }) { continue }
            throw StoreError(
                .invalidRequest,
                "the entity has no stored attribute or to-one relationship of this name",
                context: .init(entity: entityName, key: name))
        }
    }

    /// The request about the objects of one entity in the names of the old model; nil if these have nothing of it yet.
    private func former(
        of target: SchemaEntity, _ names: [String], _ constraints: [SchemaConstraint],
        _ plan: ModelMigrationPlan
    ) -> DeduplicationRequest? {
        guard let source = plan.formerEntity(of: target) else { return nil }
        func former(_ name: String) -> String? {
            guard case .known(let before) = plan.formerName(of: name, in: target) else {
                return nil
            }
            return before
        }
        var request = self
        request.entityName = source.name
        request.keys = names.compactMap(former).filter { source.columnIndex(named: $0) != nil }
        guard request.keys.count == names.count else { return nil }
        // Nobody has a value of what is new: all are equal in it, as they are in the key.
        let equal = request.keys.first { source.problem(ofOrder: $0) == nil }
        request.rule = rule.renamed(former, equal: equal)
        var conditions: [PredicateNode] = []
        if let predicate {
            let before = predicate.replacingPaths { plan.formerPath($0, from: target) }
            guard let before else { return nil }
            conditions.append(before)
        }
        guard let taking = Self.takingPart(constraints, of: target, plan),
            let staying = Self.staying(of: source, as: target, plan)
        else { return nil }
        conditions += taking
        if includesSubentities { conditions += staying }
        request.predicate =
            conditions.count > 1 ? .and(conditions) : conditions.first
        return request
    }

    // MARK: Objects

    /// A condition for the objects that one of some constraints holds for; none if it holds for all, nil if the old model cannot
    /// say which they are.
    private static func takingPart(
        _ constraints: [SchemaConstraint], of target: SchemaEntity, _ plan: ModelMigrationPlan
    ) -> [PredicateNode]? {
        var choices: [PredicateNode] = []
        for constraint in constraints {
            guard let condition = constraint.options?.predicate else { return [] }
            let columns = plan.entities[target.index].columns
            let before = condition.replacingPaths { name in
                guard let index = target.columnIndex(named: name), columns[index].keepsValues,
                    case .known(let before) = plan.formerName(of: name, in: target)
                else { return nil }
                return before
            }
            if let before { choices.append(before) }
        }
        if choices.isEmpty { return nil }
        return choices.count > 1 ? [.or(choices)] : choices
    }

    /// A condition for the objects of an old entity that a new one has; none if these are all, nil if it cannot be said.
    private static func staying(
        of source: SchemaEntity, as target: SchemaEntity, _ plan: ModelMigrationPlan
    ) -> [PredicateNode]? {
        let kept = Set(target.family.compactMap { plan.entities[$0].sourceIndex })
        let family = source.family.map { plan.oldSchema.entities[$0] }
        if family.allSatisfy({ $0.isAbstract || kept.contains($0.index) }) { return [] }
        // The name of a property hides that of the entity.
        if source.hasProperty(named: "entity") { return nil }
        let names = family.filter { kept.contains($0.index) }.map(\.name)
        return [.compare(.keyPath("entity"), .in, .list(names.map { .string($0) }))]
    }
}

extension DeduplicationRule {
    /// The properties that it names.
    fileprivate var names: [String] {
        switch self {
        case .first, .last, .mostComplete, .nullKey, .fail: []
        case .newest(let attribute), .smallest(let attribute): [attribute]
        case .merge(let rules, let winner):
            rules.inKeyOrder().flatMap { name, rule in
                if case .newest(let attribute) = rule { [name, attribute] } else { [name] }
            } + winner.names
        }
    }

    /// The same rule with other names.
    ///
    /// - Parameters:
    ///   - name: nil for what no object has a value of.
    ///   - equal: an attribute in which all objects are equal; nil if there is none with an order.
    fileprivate func renamed(_ name: (String) -> String?, equal: String?) -> DeduplicationRule {
        switch self {
        case .first, .last, .mostComplete, .nullKey, .fail: return self
        case .newest(let attribute):
            return (name(attribute) ?? equal).map { .newest(by: $0) } ?? .first
        case .smallest(let attribute):
            return (name(attribute) ?? equal).map { .smallest(by: $0) } ?? .first
        case .merge(let rules, let winner):
            var renamed: [String: FoldingRule] = [:]
            for (property, rule) in rules.inKeyOrder() {
                if let property = name(property) { renamed[property] = rule.renamed(name) }
            }
            return .merge(renamed, into: winner.renamed(name, equal: equal))
        }
    }
}

extension FoldingRule {
    /// The same rule with other names; if nobody has a value of what is newest, nothing is taken.
    fileprivate func renamed(_ name: (String) -> String?) -> FoldingRule {
        guard case .newest(let attribute) = self else { return self }
        return name(attribute).map { .newest(by: $0) } ?? .keep
    }
}
