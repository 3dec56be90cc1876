// What validation has to look at in the values of an entity's objects, gathered once: a column of the schema has
// many parts, and a save would pay for copies of each of them for every object.
//
// Threads: immutable, so any.

import CairnModel
import CairnStore

/// The columns of an entity that a rule of the model is about.
final class EntityRules: Sendable {
    /// Columns that may not be nil, a bit each, in words.
    let mandatory: [UInt64]
    /// Those of them that a new object has no value in before it is given one.
    let mandatoryWithoutDefault: [UInt64]
    /// Columns with limits, patterns, dates or decimal numbers, which may be none: their values are looked at.
    let limited: [Int]
    /// To-many relationships with limits of their members' number.
    let counted: [Int]
    /// The validation predicates of columns that have some.
    let conditions: [Int: [ValueCondition]]
    /// What the class of the entity's objects validates itself.
    let own: OwnValidation

    /// Whether values that are each allowed may not be allowed together: if a class looks at its objects itself, or if members
    /// are counted.
    let looksAtMerged: Bool

    init(_ entity: SchemaEntity, _ type: ManagedObject.Type) {
        own = OwnValidation(of: type)
        var conditions: [Int: [ValueCondition]] = [:]
        var mandatory = [UInt64](repeating: 0, count: max(1, (entity.columns.count + 63) / 64))
        var mandatoryWithoutDefault = mandatory
        var limited: [Int] = []
        for (index, column) in entity.columns.enumerated() {
            let isDerived = column.attribute?.derivationExpression != nil
            if !column.isOptional && !isDerived {
                mandatory[index >> 6] |= 1 << UInt64(index & 63)
                if column.defaultValue.isNull {
                    mandatoryWithoutDefault[index >> 6] |= 1 << UInt64(index & 63)
                }
            }
            guard let attribute = column.attribute else { continue }
            if column.hasRules || attribute.type == .decimal { limited.append(index) }
            // The schema has refused what cannot be asked.
            if let list = try? attribute.valueConditions(), !list.isEmpty {
                conditions[index] = list
            }
        }
        self.mandatory = mandatory
        self.mandatoryWithoutDefault = mandatoryWithoutDefault
        self.limited = limited
        self.conditions = conditions
        counted = entity.relationships.indices.filter {
            let description = entity.relationships[$0].description
            return description.isToMany
                && (description.minimumCount > 0 || description.maximumCount > 0)
        }
        looksAtMerged =
            !own.isNone || !counted.isEmpty
            || type._typedEntity?.validatesObjects ?? (type != ManagedObject.self)
    }
}
