// The merge rules of an entity, resolved once: for each property its own rule, or that of the entity.
//
// Invariant: properties are in the order of their columns; derived ones are not among them, as nobody sets them.
// Threads: immutable, so any.

/// How the declared merge policy merges the objects of an entity.
package struct EntityMergeRules: Sendable {
    /// A property that a row stores, with its rule.
    package struct Property: Sendable {
        /// Its columns: several if it is a composite attribute.
        package let columns: Range<Int>
        package let rule: MergeRule
        /// The type of its values; nil for a relationship.
        package let type: AttributeType?
        /// The column that says which of two is newer.
        package let order: Int?
    }

    /// Whether an object that one side has deleted is as it is stored, and not as it is saved.
    package let keepsStored: Bool
    /// Whether the model says anything of these objects.
    package let isDeclared: Bool
    package let properties: [Property]

    /// - Parameter standard: the rule of properties without one; nil if the model says none.
    init(
        _ attributes: [SchemaAttribute], _ relationships: [SchemaRelationship],
        _ columns: [SchemaColumn], standard: MergeRule?
    ) {
        let own =
            attributes.map { (columns: $0.columns, rule: $0.description.mergeRule) }
            + relationships.compactMap { relationship -> (columns: Range<Int>, rule: MergeRule?)? in
                guard case .column(let column) = relationship.storage else { return nil }
                return (column..<column + 1, relationship.description.mergeRule)
            }
        var orders: Set<String> = []
        for rule in own.map({ $0.rule }) + [standard] {
            if case .fold(.newest(let name))? = rule { orders.insert(name) }
        }
        func isDerived(_ columns: [SchemaColumn]) -> Bool {
            columns.contains { $0.attribute?.derivationExpression != nil }
        }
        var properties: [Property] = []
        for (range, rule) in own where !range.isEmpty {
            let described = Array(columns[range])
            if isDerived(described) { continue }
            let name = described.count == 1 ? described[0].name : ""
            let used =
                rule ?? (orders.contains(name) ? .newest(by: name) : nil) ?? standard ?? .object
            var order: Int?
            if case .fold(.newest(let by)) = used {
                order = columns.firstIndex { $0.name == by }
            }
            let type: AttributeType? =
                if described.count == 1, case .attribute(let type) = described[0].kind {
                    type
                } else {
                    nil
                }
            properties.append(Property(columns: range, rule: used, type: type, order: order))
        }
        self.properties = properties.sorted { $0.columns.lowerBound < $1.columns.lowerBound }
        keepsStored = standard == .store
        isDeclared = standard != nil || own.contains { $0.rule != nil }
    }
}
