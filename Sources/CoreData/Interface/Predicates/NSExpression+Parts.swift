// What an expression is made of. Asking an expression of another kind ends the program with a sentence, as it raises an exception
// on Apple's platforms.

import CairnModel
import CairnStore
public import Foundation

extension NSExpression {
    private func misfit(_ part: String) -> Never { fatalError("\(self) has no \(part)") }

    /// A part, which may name objects whose ids will change.
    private func part(_ node: ExpressionNode) -> NSExpression { NSExpression(node, unsaved) }

    private func tree(for part: String) -> ExpressionNode {
        do throws(StoreError) {
            return try node
        } catch {
            fatalError("\(part) of \(self): \(error.message)")
        }
    }

    /// The value of a constant.
    public var constantValue: Any? {
        if expressionType != .constantValue { misfit("constant value") }
        if let given { return given }
        switch try? node {
        case .constant(let value)?: return value.any(in: nil)
        case .list(let values)?: return values.map { $0.any(in: nil) ?? NSNull() }
        default: return nil
        }
    }

    /// The key path.
    public var keyPath: String {
        guard let path = tree(for: "keyPath").flatPath, !path.isEmpty else { misfit("key path") }
        return path
    }

    /// The name of the variable.
    public var variable: String {
        switch tree(for: "variable") {
        case .variable(let name), .assignment(let name, _), .subquery(_, let name, _): return name
        default: misfit("variable")
        }
    }

    /// The name of the function.
    public var function: String {
        switch tree(for: "function") {
        case .function(let function, _): return function.rawValue
        case .call(_, let selector, _): return selector
        case .cast: return "castObject:toType:"
        case .index: return "objectFrom:withIndex:"
        case .path, .collection: return "valueForKeyPath:"
        default: misfit("function")
        }
    }

    /// What the function is of.
    public var operand: NSExpression {
        switch tree(for: "operand") {
        case .call(let target, _, _): return part(target)
        case .path(let base, _), .collection(_, let base, _): return part(base)
        case .keyPath, .function, .cast, .index: return .expressionForEvaluatedObject()
        default: misfit("operand")
        }
    }

    /// The arguments of the function, or of the closure.
    public var arguments: [NSExpression]? {
        if let block = given as? Block { return block.arguments }
        switch tree(for: "arguments") {
        case .function(_, let arguments), .call(_, _, let arguments):
            return arguments.map { part($0) }
        case .cast(let base, let type):
            return [part(base), NSExpression(forConstantValue: type.rawValue)]
        case .index(let base, let index):
            let place =
                switch index {
                case .first: NSExpression(forConstantValue: "FIRST")
                case .last: NSExpression(forConstantValue: "LAST")
                case .size: NSExpression(forConstantValue: "SIZE")
                case .at(let place): part(place)
                }
            return [part(base), place]
        case .path(_, let path): return [NSExpression(.keyPath(path))]
        case .collection(let operation, _, let path):
            return [NSExpression(.collection(operation, of: .evaluatedObject, path: path))]
        default: misfit("arguments")
        }
    }

    /// The parts of an aggregate, or the collection of a subquery.
    public var collection: Any {
        switch tree(for: "collection") {
        case .aggregate(let members): return members.map { part($0) }
        case .list(let values): return values.map { part(.constant($0)) }
        case .subquery(let collection, _, _): return part(collection)
        default: misfit("collection")
        }
    }

    /// The condition of a subquery, or of what is conditional.
    public var predicate: NSPredicate {
        if let predicate = given as? NSPredicate { return predicate }
        switch tree(for: "predicate") {
        case .subquery(_, _, let condition), .conditional(let condition, _, _):
            return .predicate(for: condition, unsaved)
        default: misfit("predicate")
        }
    }

    /// The left one of two collections.
    public var left: NSExpression {
        guard case .set(_, let left, _) = tree(for: "left") else { misfit("left side") }
        return part(left)
    }

    /// The right one of two collections.
    public var right: NSExpression {
        guard case .set(_, _, let right) = tree(for: "right") else { misfit("right side") }
        return part(right)
    }

    /// What is given where the condition holds.
    public var `true`: NSExpression {
        guard case .conditional(_, let one, _) = tree(for: "true") else {
            misfit("expression for true")
        }
        return part(one)
    }

    /// What is given where the condition does not hold.
    public var `false`: NSExpression {
        guard case .conditional(_, _, let other) = tree(for: "false") else {
            misfit("expression for false")
        }
        return part(other)
    }

    /// The closure.
    public var expressionBlock: (Any?, [NSExpression], NSMutableDictionary?) -> Any {
        guard let block = given as? Block else { misfit("closure") }
        return block.body
    }
}
