// The values of properties: found in an old object, set in a new one.

import CairnModel
import CairnStore

extension MigrationManager {
    /// Makes the new object of an old one, with the values of the mapping's attributes.
    func bringOver(_ source: ManagedObject, _ mapping: EntityMapping) throws {
        let run = run(named: mapping.name)
        guard let entity = run.destination else {
            throw StoreError(
                .migrationFailed,
                "the entity mapping \(mapping.name) has no destination entity to create an object of",
                context: .init(entity: mapping.sourceEntityName))
        }
        let object = destinationContext.insert(entity.name)
        for plan in run.attributes { try set(plan, of: object, from: source, run) }
        associate(
            sourceInstance: source, withDestinationInstance: object, for: run.mapping)
    }

    /// Sets the mapping's relationships of a new object.
    func connect(_ destination: ManagedObject, _ mapping: EntityMapping) throws {
        let run = run(named: mapping.name)
        if run.relationships.isEmpty { return }
        var source = connecting.flatMap { $0.destination === destination ? $0.source : nil }
        if source == nil {
            source =
                sourceInstances(
                    forEntityMappingName: mapping.name, destinationInstances: [destination]
                ).first
        }
        guard let source else { return }
        for plan in run.relationships { try set(plan, of: destination, from: source, run) }
    }

    private func set(
        _ plan: PropertyPlan, of object: ManagedObject, from source: ManagedObject,
        _ run: MappingRun
    ) throws {
        switch plan.origin {
        case .column(let column):
            try set(plan, of: object, value: source.columnValue(column))
        case .members(let relationship, let mapping):
            guard case .relationship(let index) = plan.target else { return }
            let members = becameOf(
                source.managedObjectContext?.memberIDs(of: source, relationship) ?? [], mapping,
                object.entity.relationships[index].destination)
            try set(relationship: index, plan, of: object, members)
        case .expression(let evaluator):
            try set(plan, of: object, evaluate(evaluator, source, object, plan, run))
        case .function(let name, let arguments):
            var values: [Any?] = []
            for argument in arguments {
                values.append(untyped(try evaluate(argument, source, object, plan, run)))
            }
            // It was looked for when the migration began.
            guard let function = run.functions[name] else { return }
            try set(plan, of: object, any: try function(values))
        case .code(let closure):
            try set(plan, of: object, any: try closure.value(source, self))
        }
    }

    // MARK: Expressions

    private func evaluate(
        _ evaluator: ExpressionEvaluator, _ source: ManagedObject, _ destination: ManagedObject,
        _ plan: PropertyPlan, _ run: MappingRun
    ) throws -> EvaluatedValue {
        let variables: [String: EvaluatedValue] = [
            MappingTerms.source: .object(source), MappingTerms.destination: .object(destination),
            MappingTerms.entityMapping: .value(.string(run.mapping.name)),
            MappingTerms.propertyMapping: .value(.string(plan.name)),
        ]
        var expected: Int?
        if case .relationship(let index) = plan.target {
            expected = destination.entity.relationships[index].destination
        }
        let value = evaluator.value(for: .null, variables: variables) { target, name, arguments in
            self.call(target, name, arguments, expected, run)
        }
        if let error = callError {
            callError = nil
            throw error
        }
        return value
    }

    /// Carries out a call within an expression.
    private func call(
        _ target: ExpressionNode, _ name: String, _ arguments: [EvaluatedValue], _ expected: Int?,
        _ run: MappingRun
    ) -> EvaluatedValue {
        if case .variable(MappingTerms.entityPolicy) = target {
            guard callError == nil, let function = run.functions[name] else { return .null }
            do {
                return evaluated(try function(arguments.map(untyped)))
            } catch {
                callError = error
                return .null
            }
        }
        var mapping: String?
        if arguments.count == 2, !MappingTerms.ManagerFunction.namesRelationship(name),
            case .value(.string(let text)) = arguments[0]
        {
            mapping = text
            guard runs.contains(where: { $0.mapping.name == text }) else {
                callError = StoreError(
                    .missingMappingModel,
                    "there is no entity mapping \(text); the mappings are \(runs.map(\.mapping.name).joined(separator: ", "))",
                    context: .init(entity: run.mapping.destinationEntityName))
                return .null
            }
        }
        let objects = (arguments.last?.members ?? []).compactMap { member -> ManagedObject? in
            if case .object(let object) = member { object as? ManagedObject } else { nil }
        }
        switch MappingTerms.ManagerFunction(name) {
        case .destinationInstances:
            var found = destinationInstances(
                forEntityMappingName: mapping, sourceInstances: objects)
            if let expected {
                let family = migration.destination.schema.entities[expected].family
                found = found.filter { family.contains($0.entity.index) }
            }
            return .collection(found.map { .object($0) })
        case .sourceInstances:
            return .collection(
                sourceInstances(forEntityMappingName: mapping, destinationInstances: objects)
                    .map { .object($0) })
        case nil: return .null
        }
    }

    /// The new objects that became of old ones by their ids, as members of a relationship that leads to an entity.
    private func becameOf(_ ids: [ObjectID], _ mapping: String?, _ entity: Int) -> [ManagedObject] {
        let schema = migration.destination.schema
        let family = schema.entities[entity].family
        let searched = mapping.map { [run(named: $0)] } ?? runs
        var found: [ManagedObject] = []
        for id in ids {
            for run in searched {
                guard let old = run.source,
                    sourceContext.identity.hierarchies[old.index] == id.hierarchy,
                    let new = run.destination, schema.entities[entity].root == new.root
                else { continue }
                let objects = destinations(of: UInt32(truncatingIfNeeded: id.reference), run)
                found += objects.filter { family.contains($0.entity.index) }
            }
        }
        if found.count < 2 { return found }
        var seen: Set<ManagedObject> = []
        return found.filter { seen.insert($0).inserted }
    }

    private func untyped(_ value: EvaluatedValue) -> Any? {
        switch value {
        case .value(let value): value.any
        case .object(let object): object
        case .keyed(let values): values
        case .collection(let members): members.compactMap(untyped)
        }
    }

    private func evaluated(_ any: Any?) -> EvaluatedValue {
        switch any {
        case nil: .null
        case let object as ManagedObject: .object(object)
        case let objects as Set<ManagedObject>: .collection(objects.map { .object($0) })
        case let objects as [Any]: .collection(objects.map(evaluated))
        case let value?: .value(Value(any: value) ?? .null)
        }
    }

    // MARK: Setting

    private func misfit(_ plan: PropertyPlan, _ object: ManagedObject, _ message: String)
        -> StoreError
    {
        StoreError(
            .migrationFailed, message, context: .init(entity: object.entity.name, key: plan.name))
    }

    private func set(_ plan: PropertyPlan, of object: ManagedObject, value: Value) throws {
        guard case .column(let column) = plan.target,
            case .attribute(let type) = object.entity.columns[column].kind
        else { return }
        guard let exact = value.converted(to: type) else {
            throw misfit(
                plan, object,
                "the mapping returns a \(value.kindName), but the attribute is of type \(type.rawValue)"
            )
        }
        object.setColumn(column, exact)
    }

    private func set(_ plan: PropertyPlan, of object: ManagedObject, _ value: EvaluatedValue)
        throws
    {
        if case .relationship(let index) = plan.target {
            var members: [ManagedObject] = []
            for member in value.members {
                guard case .object(let any) = member, let one = any as? ManagedObject else {
                    throw misfit(
                        plan, object,
                        "the mapping returns a value, but the relationship needs objects")
                }
                members.append(one)
            }
            return try set(relationship: index, plan, of: object, members)
        }
        guard case .value(let value) = value else {
            throw misfit(
                plan, object, "the mapping returns objects, but the attribute needs a value")
        }
        try set(plan, of: object, value: value)
    }

    private func set(
        relationship index: Int, _ plan: PropertyPlan, of object: ManagedObject,
        _ members: [ManagedObject]
    ) throws {
        let description = object.entity.relationships[index]
        let family = migration.destination.schema.entities[description.destination].family
        for member in members {
            guard member.managedObjectContext === destinationContext else {
                throw misfit(
                    plan, object, "the mapping returns an object that is not in the new store")
            }
            guard family.contains(member.entity.index) else {
                throw misfit(
                    plan, object,
                    "the mapping returns an object of \(member.entity.name), which is not the relationship's destination"
                )
            }
        }
        if description.description.isToMany {
            destinationContext.setMembers(of: object, index, members)
        } else if members.count > 1 {
            throw misfit(
                plan, object,
                "the mapping returns \(members.count) objects for a to-one relationship"
            )
        } else {
            destinationContext.setTarget(of: object, index, members.first)
        }
    }

    /// Sets what code has given.
    private func set(_ plan: PropertyPlan, of object: ManagedObject, any: Any?) throws {
        switch plan.target {
        case .relationship(let index):
            let members: [ManagedObject]
            switch any {
            case nil: members = []
            case let one as ManagedObject: members = [one]
            case let some as Set<ManagedObject>:
                members = some.sorted { $0.objectID.reference < $1.objectID.reference }
            case let some as [ManagedObject]: members = some
            default:
                throw misfit(
                    plan, object, "the mapping returns a value, but the relationship needs objects")
            }
            try set(relationship: index, plan, of: object, members)
        case .column(let column): try set(plan, of: object, column: column, any: any)
        case .composite(let columns):
            guard let parts = (any ?? [String: Any]()) as? [String: Any] else {
                throw misfit(
                    plan, object, "the mapping must return a dictionary of the composite's elements"
                )
            }
            for column in columns {
                let name = object.entity.columns[column].name
                try set(plan, of: object, column: column, any: parts[name])
            }
        }
    }

    private func set(_ plan: PropertyPlan, of object: ManagedObject, column: Int, any: Any?) throws
    {
        guard let any else { return object.setColumn(column, .null) }
        guard case .attribute(let type) = object.entity.columns[column].kind,
            let value = object.stored(any, column: column)?.converted(to: type)
        else {
            throw misfit(
                plan, object,
                "the mapping returns a value of \(Swift.type(of: any)), which does not fit the attribute"
            )
        }
        object.setColumn(column, value)
    }
}
