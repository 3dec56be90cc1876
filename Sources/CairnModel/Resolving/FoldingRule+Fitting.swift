// Whether a rule that combines several values fits a property: for deduplication requests, and for the merge rules that a
// model declares.

extension SchemaEntity {
    /// Why a rule does not fit a property, and the name of the property with the problem; nil if it fits.
    package func problem(of rule: FoldingRule, for name: String) -> (key: String, words: String)? {
        if case .newest(let by) = rule, let words = problem(ofOrder: by) { return (by, words) }
        if let index = relationshipIndex(named: name) {
            let isToMany = relationships[index].description.isToMany
            switch rule {
            case .keep: return nil
            case .fillNil, .newest: if !isToMany { return nil }
            case .union: if isToMany { return nil }
            case .maximum, .minimum, .sum: break
            }
            return (name, "a to-\(isToMany ? "many" : "one") relationship has no \(rule.word)")
        }
        guard let index = attributeIndex(named: name) else {
            return (name, "the entity has no property of this name")
        }
        let attribute = attributes[index].description
        if attributes[index].columns.isEmpty {
            return (name, "a transient attribute is not stored")
        }
        if attribute.derivationExpression != nil {
            return (name, "a derived attribute cannot be set")
        }
        let fits =
            switch rule {
            case .keep, .fillNil, .newest: true
            case .maximum, .minimum:
                attribute.type != .transformable && attribute.type != .composite
            case .sum:
                [.integer16, .integer32, .integer64, .decimal, .double, .float]
                    .contains(attribute.type)
            case .union: false
            }
        return fits ? nil : (name, "an attribute of its type has no \(rule.word)")
    }

    /// What keeps an attribute from saying which of two is newer; nil if nothing does.
    package func problem(ofOrder name: String) -> String? {
        guard let column = columnIndex(named: name) else {
            return "the entity has no stored attribute or to-one relationship of this name"
        }
        switch columns[column].kind {
        case .attribute(let type) where type != .transformable && type != .binary: return nil
        default: return "its values cannot be ordered"
        }
    }
}

extension FoldingRule {
    fileprivate var word: String {
        switch self {
        case .keep: "value to keep"
        case .fillNil: "nil to fill"
        case .newest: "newest value"
        case .maximum: "greatest value"
        case .minimum: "least value"
        case .sum: "sum"
        case .union: "union"
        }
    }
}
