// Converts the paths of a model to Swift: columns to key paths; strings stay strings in the classes.
//
// A string, such as a derivation, uses the classes' property names: the classes alone define the model then.

import CairnInspection
import CairnModel

/// Converts the paths of a model.
struct SwiftPaths {
    let schema: Schema
    let names: SwiftModelNames
    let composites: SwiftComposites

    /// Returns the key path of a stored column, without its root; nil if there is none.
    func keyPath(_ column: String, _ entity: SchemaEntity) -> String? {
        guard let index = entity.columnIndex(named: column) else { return nil }
        let declaring = entity.columns[index].declaringEntity
        let description = schema.entities[declaring].description
        if let attribute = description.attributes.first(where: { $0.name == column }) {
            // A name that contains a point would be a path.
            return attribute.type == .composite
                ? nil : names.property(column, declaredIn: declaring)
        }
        if description.relationships.contains(where: { $0.name == column }) {
            return names.property(column, declaredIn: declaring)
        }
        let steps = column.split(separator: ".")
        guard let first = steps.first,
            let attribute = description.attributes.first(where: { $0.name == first }),
            let rest = composites.keyPath(
                Array(steps.dropFirst()), into: attribute, of: description)
        else { return nil }
        return names.property(attribute.name, declaredIn: declaring) + rest
    }

    /// Returns the name of a stored column in the classes' model; nil if there is none.
    func column(_ name: String, _ entity: SchemaEntity) -> String? {
        // Points, question marks before them and backticks are not parts of names.
        keyPath(name, entity)?.split(separator: ".").map { step in
            let name = SwiftIdentifier.plain(String(step))
            return step.hasSuffix("?") ? name.dropLast() : name[...]
        }.joined(separator: ".")
    }

    /// Returns a path across relationships, or to one, in the classes' model; nil if there is none.
    func path(_ path: String, from entity: SchemaEntity) -> String? {
        var holder = entity
        var rest = path[...]
        var steps: [String] = []
        while !rest.isEmpty {
            let name = String(rest.prefix { $0 != "." })
            guard let index = holder.relationshipIndex(named: name) else {
                guard let column = column(String(rest), holder) else { return nil }
                steps.append(column)
                break
            }
            let relationship = holder.relationships[index]
            if relationship.description.isTransient { return nil }
            steps.append(
                SwiftIdentifier.plain(
                    names.property(name, declaredIn: relationship.declaringEntity)))
            holder = schema.entities[relationship.destination]
            rest = rest.dropFirst(name.count + 1)
        }
        return steps.joined(separator: ".")
    }

    /// Returns an attribute's derivation with the classes' names, the model's own text if that is equivalent;
    /// nil if it cannot be expressed.
    func derivation(_ text: String, of entity: SchemaEntity) -> String? {
        guard let node = try? ExpressionNode(format: text) else { return nil }
        let said: ExpressionNode
        switch node {
        case .keyPath(let path):
            guard let path = self.path(path, from: entity) else { return nil }
            said = .keyPath(path)
        case .function(let function, let arguments):
            var paths: [ExpressionNode] = []
            for case .keyPath(let path) in arguments {
                guard let path = self.path(path, from: entity) else { return nil }
                paths.append(.keyPath(path))
            }
            guard paths.count == arguments.count else { return nil }
            said = .function(function, paths)
        case .collection(let operation, .keyPath(let path), nil):
            guard let path = self.path(path, from: entity) else { return nil }
            said = .collection(operation, of: .keyPath(path), path: nil)
        default: return nil
        }
        return said == node ? text : said.expressionFormat
    }

    /// Returns a condition on an object's stored columns with the classes' names; nil if it cannot be
    /// expressed.
    func condition(_ node: PredicateNode, of entity: SchemaEntity) -> PredicateNode? {
        switch node {
        case .constant: return node
        case .and(let parts): return conditions(parts, of: entity).map { .and($0) }
        case .or(let parts): return conditions(parts, of: entity).map { .or($0) }
        case .not(let part): return condition(part, of: entity).map { .not($0) }
        case .comparison(var comparison):
            guard let left = side(comparison.left, of: entity),
                let right = side(comparison.right, of: entity)
            else { return nil }
            (comparison.left, comparison.right) = (left, right)
            return .comparison(comparison)
        }
    }

    private func conditions(_ parts: [PredicateNode], of entity: SchemaEntity) -> [PredicateNode]? {
        let said = parts.compactMap { condition($0, of: entity) }
        return said.count == parts.count ? said : nil
    }

    private func side(_ node: ExpressionNode, of entity: SchemaEntity) -> ExpressionNode? {
        switch node {
        case .keyPath(let name): column(name, entity).map { .keyPath($0) }
        case .constant, .list: node
        default: nil
        }
    }
}
