// A merged property of a batch's rows: what its rule needs, resolved once.
//
// Threads: a value.

import CairnModel

/// A property for which the model's rules do more than take the row's value.
struct MergedProperty {
    enum Rule {
        /// The stored value wins.
        case keep
        case fillNil
        /// The column that determines which of two is newer; nil if the values themselves do.
        case newest(by: Int?)
        case maximum
        case minimum
        case sum(AttributeType)
    }

    let columns: Range<Int>
    let rule: Rule

    private init?(_ property: EntityMergeRules.Property) {
        columns = property.columns
        switch property.rule {
        case .object: return nil
        case .store, .fold(.keep), .fold(.union): rule = .keep
        case .fold(.fillNil): rule = .fillNil
        case .fold(.newest): rule = .newest(by: property.order)
        // A property without a type of its own stays as it is: the model allows no such rule for it.
        case .fold(.maximum): rule = property.type == nil ? .keep : .maximum
        case .fold(.minimum): rule = property.type == nil ? .keep : .minimum
        case .fold(.sum): rule = property.type.map { .sum($0) } ?? .keep
        }
    }

    /// Returns those of an entity, among its first columns.
    static func all(of entity: Int, _ catalog: Catalog, columns: Int) -> [MergedProperty] {
        catalog.description(of: entity).mergeRules.properties.compactMap {
            $0.columns.upperBound <= columns ? MergedProperty($0) : nil
        }
    }

    /// The columns whose values the rule compares, or adds.
    var compared: [Int] {
        switch rule {
        case .keep, .fillNil: []
        case .newest(let order): Array(columns) + (order.map { [$0] } ?? [])
        case .maximum, .minimum, .sum: Array(columns)
        }
    }

    /// Whether a row may change an object although it equals what is stored: by adding to it, or by setting a
    /// part of a composite attribute, which it does not name, to its default.
    var mayChangeEqual: Bool {
        switch rule {
        case .sum: true
        case .fillNil, .newest: columns.count > 1
        case .keep, .maximum, .minimum: false
        }
    }

    var isSum: Bool { if case .sum = rule { true } else { false } }
}
