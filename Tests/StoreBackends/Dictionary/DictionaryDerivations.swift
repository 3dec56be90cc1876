// Derived attributes of a dictionary store: after every change all of them are computed from the whole state.
//
// What they are made of is asked as predicates ask for it, by the expression itself.

import CairnModel
import CairnStore
import FoundationEssentials

extension DictionaryState {
    /// Computes all derived attributes. The moment of an object is that of the last change that wrote it.
    mutating func derive(after before: DictionaryState, in schema: Schema) throws(StoreError) {
        let derived = schema.entities.map { $0.derivedColumns }
        guard derived.contains(where: { !$0.isEmpty }) else { return }
        let moment = Date()
        let snapshot = DictionarySnapshot(state: self, schema: schema)
        let known = SnapshotObjects(snapshot)
        var result = objects
        for (id, object) in objects {
            guard let row = row(id) else { continue }
            let entity = schema.entities[object.entity]
            let old = before.objects[id]
            let isWritten = entity.columns.indices.contains { column in
                !derived[entity.index].contains(column)
                    && old?.values[column] != object.values[column]
            }
            for column in derived[entity.index] {
                let text = entity.columns[column].attribute?.derivationExpression ?? ""
                guard let node = try? ExpressionNode(format: text),
                    let evaluator = try? ExpressionEvaluator(node, now: moment)
                else { throw StoreError(.invalidRequest, "the derivation is not understood") }
                if node == .function(.now, []), !isWritten, let old {
                    result[id]?.values[column] = old.values[column]
                    continue
                }
                let value = evaluator.value(for: known.object(of: row)).plain
                result[id]?.values[column] = try value.converted(for: entity.columns[column])
            }
        }
        try known.rethrow()
        objects = result
    }
}

extension SchemaEntity {
    /// The columns that the store computes.
    var derivedColumns: [Int] {
        columns.indices.filter { columns[$0].attribute?.derivationExpression != nil }
    }

    /// Whether two rows have the same values, but for what is computed.
    func isEqualButDerived(_ one: [Value], _ other: [Value]) -> Bool {
        columns.indices.allSatisfy { derivedColumns.contains($0) || one[$0] == other[$0] }
    }
}

extension Value {
    /// The value as the column's type; an error if it is none.
    fileprivate func converted(for column: SchemaColumn) throws(StoreError) -> Value {
        guard let type = column.attribute?.type, !isNull, !fits(type) else { return self }
        let other: Value? =
            switch (self, type) {
            case (.integer(let whole), .double): .double(Double(whole))
            case (.integer(let whole), .float): .float(Float(whole))
            case (.integer(let whole), .decimal): .decimal(Decimal(whole))
            case (.double(let number), .float): .float(Float(number))
            case (.float(let number), .double): .double(Double(number))
            case (.decimal(let number), .double): Double("\(number)").map { .double($0) }
            case (.decimal(let number), .float): Double("\(number)").map { .float(Float($0)) }
            case (.date(let moment), .double): .double(moment.timeIntervalSinceReferenceDate)
            default: nil
            }
        if let other { return other }
        throw StoreError(
            .validation, "the derived value is none of the attribute's type",
            context: .init(key: column.name))
    }
}
