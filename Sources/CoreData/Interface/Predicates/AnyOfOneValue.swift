// ANY of what is one value: `ANY name == "Rust"`, `SUBQUERY(languages, $l, ANY $l.name == "Rust").@count > 0`.
//
// Core Data's SQL store takes it as if ANY were not there, and programs that build their conditions from parts write it. Cairn
// itself says that it is no collection.

import CairnModel

extension PredicateNode {
    /// The same without ANY where it stands before one value.
    ///
    /// - Parameters:
    ///   - entity: what is asked about.
    ///   - variables: what those of SUBQUERY are.
    func withoutAnyOfOneValue(
        of entity: SchemaEntity, in schema: Schema, _ variables: [String: SchemaEntity] = [:]
    ) -> PredicateNode {
        func rest(_ part: PredicateNode) -> PredicateNode {
            part.withoutAnyOfOneValue(of: entity, in: schema, variables)
        }
        switch self {
        case .constant: return self
        case .and(let parts): return .and(parts.map(rest))
        case .or(let parts): return .or(parts.map(rest))
        case .not(let part): return .not(rest(part))
        case .comparison(var comparison):
            let place = Place(entity: entity, schema: schema, variables: variables)
            comparison.left = place.adapted(comparison.left)
            comparison.right = place.adapted(comparison.right)
            if comparison.modifier == .any, place.isOneValue(comparison.left) {
                comparison.modifier = .direct
            }
            return .comparison(comparison)
        }
    }
}

extension ExpressionNode {
    /// The same without ANY where it stands before one value in the condition of a SUBQUERY.
    func withoutAnyOfOneValue(of entity: SchemaEntity, in schema: Schema) -> ExpressionNode {
        Place(entity: entity, schema: schema, variables: [:]).adapted(self)
    }
}

/// Where an expression stands.
private struct Place {
    let entity: SchemaEntity
    let schema: Schema
    let variables: [String: SchemaEntity]

    /// The same with what is in the conditions of SUBQUERY.
    func adapted(_ node: ExpressionNode) -> ExpressionNode {
        switch node {
        case .collection(let operation, let base, let path):
            return .collection(operation, of: adapted(base), path: path)
        case .index(let base, let index): return .index(of: adapted(base), index)
        case .function(let function, let parts): return .function(function, parts.map(adapted))
        case .subquery(let collection, let variable, let condition):
            guard let members = target(of: collection), members.column == nil else { return node }
            var inner = variables
            inner[variable] = members.entity
            return .subquery(
                adapted(collection), variable: variable,
                condition.withoutAnyOfOneValue(of: entity, in: schema, inner))
        default: return node
        }
    }

    func isOneValue(_ node: ExpressionNode) -> Bool {
        guard let target = target(of: node), !target.isMany else { return false }
        // A transformable attribute may be a list.
        return target.column.map { target.entity.columns[$0].kind != .attribute(.transformable) }
            ?? true
    }

    /// What a key path leads to; nil for other expressions.
    private func target(of node: ExpressionNode) -> KeyPathTarget? {
        switch node {
        case .evaluatedObject: KeyPathTarget(entity)
        case .variable(let name): variables[name].map { KeyPathTarget($0) }
        case .keyPath(let path): KeyPathTarget(entity).following(path, in: schema)
        case .path(let base, let path): target(of: base)?.following(path, in: schema)
        default: nil
        }
    }
}
