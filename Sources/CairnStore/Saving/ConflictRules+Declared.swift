// Merges two states of an object, or two objects with the same key, by the rules of the model.
//
//                one object: "base" was read, "ours" is saved,      two objects: "given" is merged into "kept"
//                "theirs" is stored, and both have changed it       and has been set, or is a stored row
//   store        theirs                                             kept
//   object       ours                                               given
//   fillNil      theirs, or ours if that is nil                     kept, or given if that is nil
//   newest       that of the newer row; if both are of one time, the greater value
//   maximum, minimum                that of both, nil not counted
//   sum          theirs + (ours - base)                             kept + given
//
// What only one side has changed is as that side says. Elements of a composite attribute go together under all rules but
// `store` and `object`, which look at each, as the built-in policies do.
//
// Invariant: but for `store`, `object` and `fillNil`, and for rounding, it makes no difference which of two comes first.
// Threads: functions of values only.

public import CairnModel

extension ConflictRules {
    /// Merges the values of an object that was changed elsewhere since it was read.
    ///
    /// - Parameters:
    ///   - base: the values that were read, by column.
    ///   - ours: the values to save. Columns that are not changed have the values that were read.
    ///   - changed: the columns that the save changes.
    ///   - theirs: the stored values.
    /// - Throws: `StoreError` with `.invalidRequest` if a sum exceeds the range of its type.
    public static func declaredValues(
        _ entity: SchemaEntity, base: [Value], ours: [Value], changed: ColumnSet, theirs: [Value]
    ) throws(StoreError) -> [Value] {
        var values = theirs
        for property in entity.mergeRules.properties {
            guard property.columns.contains(where: changed.contains) else { continue }
            let isConflict = property.columns.contains { theirs[$0] != base[$0] }
            let isByColumn = property.rule == .store || property.rule == .object
            if !isConflict || isByColumn {
                let keepsTheirs = isConflict && property.rule == .store
                for column in property.columns where changed.contains(column) {
                    if keepsTheirs, theirs[column] != base[column] { continue }
                    values[column] = ours[column]
                }
                continue
            }
            try fold(ours, with: theirs, into: &values, property, base: base, entity)
        }
        return values
    }

    /// Merges the values of an object into another object with the same key.
    ///
    /// - Parameters:
    ///   - entity: the entity of the surviving object.
    ///   - given: the values of the other object, by columns of that entity; nil for columns that it does not have.
    ///   - assigned: the columns of the other object that were set or changed.
    ///   - counted: the columns whose values count when values are combined: those that were set, or all columns of a
    ///     stored object.
    ///   - kept: the values of the surviving object.
    ///   - keptAssigned: its columns that were set; nil if it is a stored object.
    /// - Throws: `StoreError` with `.invalidRequest` if a sum exceeds the range of its type.
    public static func declaredValues(
        _ entity: SchemaEntity, given: [Value], assigned: ColumnSet, counted: ColumnSet,
        kept: [Value], keptAssigned: ColumnSet?
    ) throws(StoreError) -> [Value] {
        var values = kept
        for property in entity.mergeRules.properties {
            let hasOwn = keptAssigned.map { property.columns.contains(where: $0.contains) } ?? true
            switch property.rule {
            case .store, .fold(.keep), .fold(.union):
                if hasOwn { continue }
                for column in property.columns where assigned.contains(column) {
                    values[column] = given[column]
                }
            case .object:
                for column in property.columns where assigned.contains(column) {
                    values[column] = given[column]
                }
            case .fold:
                guard property.columns.contains(where: counted.contains) else { continue }
                if hasOwn {
                    try fold(given, with: kept, into: &values, property, base: nil, entity)
                } else {
                    for column in property.columns { values[column] = given[column] }
                }
            }
        }
        return values
    }

    /// Puts two values of a property together.
    ///
    /// - Parameters:
    ///   - kept: the values of the other one.
    ///   - values: what comes of both.
    private static func fold(
        _ given: [Value], with kept: [Value], into values: inout [Value],
        _ property: EntityMergeRules.Property, base: [Value]?, _ entity: SchemaEntity
    ) throws(StoreError) {
        guard case .fold(let rule) = property.rule else { return }
        switch rule {
        case .keep, .union: return
        case .fillNil:
            guard property.columns.allSatisfy({ kept[$0].isNull }) else { return }
            for column in property.columns { values[column] = given[column] }
        case .newest:
            guard isNewer(given, than: kept, property) else { return }
            for column in property.columns { values[column] = given[column] }
        case .maximum, .minimum, .sum:
            for column in property.columns {
                let known = [kept[column], given[column]].filter { !$0.isNull }
                guard !known.isEmpty, let type = property.type else { continue }
                let before = base.flatMap { $0[column].isNull ? nil : $0[column] }
                guard let value = rule.folded(known, lessOnce: before, as: type) else {
                    throw StoreError(
                        .invalidRequest, "the sum of the values does not fit the attribute's type",
                        context: .init(entity: entity.name, key: entity.columns[column].name))
                }
                values[column] = value
            }
        }
    }

    /// Whether one is the newer row, or, if both are of one time, has the greater value of a property.
    private static func isNewer(
        _ given: [Value], than kept: [Value], _ property: EntityMergeRules.Property
    ) -> Bool {
        if let order = property.order {
            let result = SortingOrder.compare(given[order], kept[order])
            if result != 0 { return result > 0 }
        }
        for column in property.columns {
            let result = SortingOrder.compare(given[column], kept[column])
            if result != 0 { return result > 0 }
        }
        return false
    }
}
