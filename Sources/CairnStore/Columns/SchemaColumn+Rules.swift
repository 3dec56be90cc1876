import CairnModel

extension SchemaColumn {
    /// Whether the model has rules about the column's values, beyond that they are of its type and there.
    package var hasRules: Bool {
        guard let attribute else { return false }
        return attribute.type == .date || attribute.minimumValue != nil
            || attribute.maximumValue != nil || attribute.minimumLength != nil
            || attribute.maximumLength != nil || attribute.regularExpression != nil
            || !attribute.validationPredicates.isEmpty
    }
}
