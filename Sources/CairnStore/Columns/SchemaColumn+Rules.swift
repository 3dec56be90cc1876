import CairnModel

extension SchemaColumn {
    /// Whether the model restricts the column's values, other than by their type and to non-nil values.
    package var hasRules: Bool {
        guard let attribute else { return false }
        return attribute.type == .date || attribute.minimumValue != nil
            || attribute.maximumValue != nil || attribute.minimumLength != nil
            || attribute.maximumLength != nil || attribute.regularExpression != nil
            || !attribute.validationPredicates.isEmpty
    }
}
