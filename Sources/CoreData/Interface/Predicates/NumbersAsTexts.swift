// Whole numbers that are compared with texts: `name IN {9, 10}`, `code == %d`.
//
// Core Data hands both to SQLite, which compares a number with a column of texts by the digits of the number. Programs rely on
// that where an id is a text, so the number becomes its digits here. Cairn itself says that a number is no text.

import CairnModel

extension PredicateNode {
    /// The same with the digits of whole numbers where they are compared with attributes that are texts.
    ///
    /// - Parameter entity: what is asked about.
    func withNumbersAsTexts(of entity: SchemaEntity, in schema: Schema) -> PredicateNode {
        switch self {
        case .constant: return self
        case .and(let parts):
            return .and(parts.map { $0.withNumbersAsTexts(of: entity, in: schema) })
        case .or(let parts):
            return .or(parts.map { $0.withNumbersAsTexts(of: entity, in: schema) })
        case .not(let part): return .not(part.withNumbersAsTexts(of: entity, in: schema))
        case .comparison(var comparison):
            if let digits = comparison.right.digits, comparison.left.isText(of: entity, in: schema)
            {
                comparison.right = digits
            } else if let digits = comparison.left.digits,
                comparison.right.isText(of: entity, in: schema)
            {
                comparison.left = digits
            }
            return .comparison(comparison)
        }
    }
}

extension ExpressionNode {
    /// Whether it leads to an attribute that is a text.
    fileprivate func isText(of entity: SchemaEntity, in schema: Schema) -> Bool {
        guard case .keyPath(let path) = self else { return false }
        guard let target = KeyPathTarget(entity).following(path, in: schema),
            let column = target.column
        else { return false }
        return target.entity.columns[column].kind == .attribute(.string)
    }

    /// Whole numbers as their digits; nil if there are none.
    fileprivate var digits: ExpressionNode? {
        switch self {
        case .constant(let value): value.digits.map { .constant($0) }
        case .list(let values) where values.contains { $0.digits != nil }:
            .list(values.map { $0.digits ?? $0 })
        default: nil
        }
    }
}

extension Value {
    fileprivate var digits: Value? {
        if case .integer(let number) = self { .string("\(number)") } else { nil }
    }
}
