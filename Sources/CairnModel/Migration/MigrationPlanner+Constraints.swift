// Uniqueness constraints, and fetch indexes.
//
// A constraint of the new model is one of
//   kept      the same keys of the same objects: the old index serves
//   implied   an old one held for as many objects and no more properties: it cannot fail, and its index is built
//   open      whether two objects have the same key only the store can tell
//
// The same keys means: of the same columns, none of which changes its values on the way.

extension MigrationPlanner {
    mutating func compareConstraints() {
        var used: Set<ConstraintMigration.Source> = []
        for entity in new.entities {
            for (index, constraint) in entity.constraints.enumerated()
            where constraint.declaringEntity == entity.index {
                compare(constraint, index, of: entity, &used)
            }
        }
        for entity in old.entities {
            for (index, constraint) in entity.constraints.enumerated()
            where constraint.declaringEntity == entity.index {
                if used.contains(.init(entity: entity.index, constraint: index)) { continue }
                if survivors(of: entity.index).isEmpty { continue }
                changes.append(
                    ModelChange(
                        .constraint, .removed, todaysName(of: entity.index),
                        Self.words(constraint), .yes("removed", .metadata)))
            }
        }
    }

    /// The names of a constraint's properties, in canonical order, and its options.
    private static func words(_ constraint: SchemaConstraint) -> String {
        let names = constraint.names.sorted { $0.comesBefore($1) }.joined(separator: ", ")
        guard let remarks = constraint.options?.remarks, !remarks.isEmpty else { return names }
        return "\(names): \(remarks.joined(separator: ", "))"
    }

    private mutating func compare(
        _ constraint: SchemaConstraint, _ index: Int, of entity: SchemaEntity,
        _ used: inout Set<ConstraintMigration.Source>
    ) {
        let all = bearers(of: entity.index)
        // What was abstract has no objects.
        let bearers = all.filter { !old.entities[$0.old].isAbstract }
        func plan(_ source: ConstraintMigration.Source?, mayFail: Bool) {
            constraints.append(
                ConstraintMigration(
                    entity: entity.index, constraint: index, source: source, mayFail: mayFail))
        }
        let words = Self.words(constraint)
        /// Old ones with the same properties and options.
        let same = self.same(constraint, all)
        used.formUnion(same.map(\.source))
        if let known = same.first {
            let isMoved = destinations[known.source.entity] != entity.index
            if known.isWhole, keepsKeys(constraint, bearers) {
                plan(known.hasSameOrder ? known.source : nil, mayFail: false)
                if isMoved {
                    note(
                        .constraint, .moved, entity.index, words,
                        .yes(
                            "moved here from \(todaysName(of: known.source.entity))",
                            known.hasSameOrder ? .metadata : .keyPass))
                }
                return
            }
        }
        // Nobody has a key: the objects are those of new entities, or the values are all nil.
        let nilsCount = constraint.options?.nilsAreEqual ?? false
        let isEmpty = bearers.allSatisfy { bearer in
            !nilsCount
                && constraint.columns.contains { column in
                    let plan = entities[bearer.new].columns[column]
                    return plan.origin == .initial && plan.initialValue.isNull
                }
        }
        if all.isEmpty {
            plan(nil, mayFail: false)
            return
        }
        let action: ModelChange.Action = same.isEmpty ? .added : .changed
        if isEmpty {
            plan(nil, mayFail: false)
            note(
                .constraint, action, entity.index, words,
                .yes("added: no object has such a key yet", .metadata))
        } else if let stronger = implying(constraint, bearers) {
            plan(nil, mayFail: false)
            note(
                .constraint, action, entity.index, words,
                .yes(
                    "\(same.isEmpty ? "added" : "changed"): it follows from the old one of "
                        + "(\(stronger))", .keyPass))
        } else {
            plan(nil, mayFail: true)
            note(
                .constraint, action, entity.index, words,
                .depends(
                    same.isEmpty ? "added" : Self.change(same[0], constraint),
                    .ifNoDuplicates, reason(constraint, bearers), .keyPass))
        }
    }

    private static func change(_ known: Known, _ constraint: SchemaConstraint) -> String {
        known.isWhole
            ? "changed: values of its properties change" : "changed: applies to different objects"
    }

    private func reason(_ constraint: SchemaConstraint, _ bearers: [(new: Int, old: Int)])
        -> String
    {
        let names = constraint.names.sorted { $0.comesBefore($1) }.joined(separator: ", ")
        let defaulted = constraint.columns.contains { column in
            bearers.contains { bearer in
                let plan = entities[bearer.new].columns[column]
                return !plan.nilValue.isNull || plan.origin == .initial && !plan.initialValue.isNull
            }
        }
        return "no two objects may have the same (\(names))"
            + (defaulted ? ", and those without a value get the default" : "")
    }

    /// Whether the keys of all objects are what they were.
    private func keepsKeys(_ constraint: SchemaConstraint, _ bearers: [(new: Int, old: Int)])
        -> Bool
    {
        let columns = constraint.columns + (constraint.rule?.conditionColumns ?? [])
        return bearers.allSatisfy { bearer in
            columns.allSatisfy { entities[bearer.new].columns[$0].keepsValues }
        }
    }

    // MARK: Old constraints

    /// An old constraint with the same properties and options as a new one.
    struct Known {
        let source: ConstraintMigration.Source
        /// Whether it is one over the same objects.
        let isWhole: Bool
        /// Whether its keys are made in the same order.
        let hasSameOrder: Bool
    }

    /// Old constraints with the same properties and options, those over the same objects first.
    private func same(_ constraint: SchemaConstraint, _ bearers: [(new: Int, old: Int)]) -> [Known]
    {
        var found: [Known] = []
        for (bearer, source) in bearers {
            let columns = constraint.columns.map { entities[bearer].columns[$0].sourceIndex }
            for candidate in old.entities[source].constraints {
                guard Set(candidate.columns.map(Optional.some)) == Set(columns),
                    hasSameOptions(candidate, constraint, bearer)
                else { continue }
                guard let key = key(of: candidate), !found.contains(where: { $0.source == key })
                else { continue }
                let before = survivors(of: key.entity).map(\.old)
                found.append(
                    Known(
                        source: key, isWhole: concrete(before) == concrete(bearers.map(\.old)),
                        hasSameOrder: candidate.columns.map(Optional.some) == columns))
            }
        }
        return found.filter(\.isWhole) + found.filter { !$0.isWhole }
    }

    /// Those of some old entities that may have objects.
    private func concrete(_ entities: [Int]) -> Set<Int> {
        Set(entities.filter { !old.entities[$0].isAbstract })
    }

    private func key(of constraint: SchemaConstraint) -> ConstraintMigration.Source? {
        let entity = old.entities[constraint.declaringEntity]
        return entity.constraints.firstIndex(of: constraint).map {
            .init(entity: entity.index, constraint: $0)
        }
    }

    private func hasSameOptions(_ old: SchemaConstraint, _ new: SchemaConstraint, _ bearer: Int)
        -> Bool
    {
        guard let before = old.options, let after = new.options else {
            return old.options == nil && new.options == nil
        }
        guard before.hasSameOptions(as: after) else { return false }
        // The condition names its columns, which may be others under the same names.
        let asked = new.rule?.conditionColumns ?? []
        return asked.map { entities[bearer].columns[$0].sourceIndex }
            == (old.rule?.conditionColumns ?? []).map(Optional.some)
    }

    /// The words of an old constraint that makes sure that a new one holds; nil if there is none.
    private func implying(_ constraint: SchemaConstraint, _ bearers: [(new: Int, old: Int)])
        -> String?
    {
        if let options = constraint.options {
            if options.nilsAreEqual || options.isCaseInsensitive || options.isDiacriticInsensitive {
                return nil
            }
        }
        guard let first = bearers.first else { return nil }
        for candidate in old.entities[first.old].constraints where candidate.options == nil {
            let holds = bearers.allSatisfy { bearer in
                let source = old.entities[bearer.old]
                guard old.entities[candidate.declaringEntity].family.contains(source.index) else {
                    return false
                }
                // Different values stay different; only a nil that becomes something may meet it.
                let columns = constraint.columns.map { entities[bearer.new].columns[$0] }
                return candidate.columns.allSatisfy { column in
                    columns.contains { $0.sourceIndex == column && $0.nilValue.isNull }
                }
            }
            if holds { return Self.words(candidate) }
        }
        return nil
    }

    // MARK: Fetch indexes

    mutating func compareIndexes() {
        for entity in new.entities {
            let bearers = bearers(of: entity.index)
            if bearers.isEmpty { continue }
            let source = sources[entity.index]
            var before: [IndexKey: Int] = [:]
            for index in source.map({ old.entities[$0].description.indexes }) ?? [] {
                before[key(index, from: entity.index), default: 0] += 1
            }
            for index in entity.description.indexes {
                let key = IndexKey(index, index.elements.map { .some($0.propertyName) })
                if let count = before[key] {
                    before[key] = count > 1 ? count - 1 : nil
                    compareKeys(of: index, in: entity, bearers)
                } else {
                    note(.index, .added, entity.index, Self.words(index), .yes("added", .keyPass))
                }
            }
            guard let source else { continue }
            for index in old.entities[source].description.indexes {
                let key = key(index, from: entity.index)
                guard let count = before[key] else { continue }
                before[key] = count > 1 ? count - 1 : nil
                note(.index, .removed, entity.index, Self.words(index), .yes("removed", .nothing))
            }
        }
    }

    /// An index by its elements, whatever its name.
    private struct IndexKey: Hashable {
        let elements: [FetchIndexDescription.Element]
        let condition: String?

        init(_ index: FetchIndexDescription, _ names: [String??]) {
            elements = zip(index.elements, names).map { element, name in
                var element = element
                // An element whose property is gone is none of the new model.
                if let name { element.propertyName = name } else { element.propertyName = "\0" }
                return element
            }
            condition = index.partialIndexPredicate
        }
    }

    /// An old index in the names of the new model.
    private func key(_ index: FetchIndexDescription, from entity: Int) -> IndexKey {
        IndexKey(
            index,
            index.elements.map { element in
                guard let name = element.propertyName else { return .some(nil) }
                return todaysName(ofProperty: name, in: entity)
            })
    }

    /// What a property of an entity's old form is called today; nil if it is gone.
    private func todaysName(ofProperty name: String, in entity: Int) -> String?? {
        guard let source = sources[entity].map({ old.entities[$0] }) else { return nil }
        if let column = source.columnIndex(named: name) {
            return entities[entity].columns.first { $0.sourceIndex == column }.map {
                .some($0.name)
            }
        }
        // What is no column cannot be renamed either: `self`, `entity`, to-many relationships.
        return .some(name)
    }

    private mutating func compareKeys(
        of index: FetchIndexDescription, in entity: SchemaEntity, _ bearers: [(new: Int, old: Int)]
    ) {
        let columns = index.elements.compactMap { element in
            element.propertyName.flatMap { entity.columnIndex(named: $0) }
        }
        let changed = columns.first { column in
            bearers.contains { !entities[$0.new].columns[column].keepsValues }
        }
        guard let changed else { return }
        note(
            .index, .changed, entity.index, Self.words(index),
            .yes("rebuilt, since values of \(entity.columns[changed].name) change", .keyPass))
    }

    private static func words(_ index: FetchIndexDescription) -> String {
        let elements = index.elements.map { $0.propertyName ?? $0.expression ?? "" }
        if index.form == .fetchIndex, !index.name.isEmpty { return index.name }
        return elements.joined(separator: ", ")
    }
}
