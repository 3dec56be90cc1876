// The kinds of expressions that programs make.

import CairnModel
import CairnStore
public import Foundation

extension NSExpression {
    /// The expression of a format.
    ///
    /// A format that cannot be read ends the program with a sentence that says where it is wrong.
    public convenience init(format expressionFormat: String, _ args: Any?...) {
        self.init(expressionFormat, args)
    }

    /// The expression of a format with its arguments in an array.
    public convenience init(format expressionFormat: String, argumentArray arguments: [Any]) {
        self.init(expressionFormat, arguments)
    }

    private convenience init(_ format: String, _ arguments: [Any?]) {
        let arguments = PredicateArguments(arguments)
        do throws(PredicateFormatError) {
            self.init(
                try PredicateParser.parseExpression(format, arguments.list), arguments.unsaved)
        } catch {
            fatalError("the expression cannot be read: \(error.explanation)")
        }
    }

    /// A value: any that a program has, though a store can only be asked about those that it could keep.
    public convenience init(forConstantValue obj: Any?) {
        let value = EvaluatedValue(any: obj)
        let content: Result<ExpressionNode, StoreError> =
            switch value {
            case .value?, .object?: .success(.constant(value?.plain ?? .null))
            case .collection(let members)?: .success(.list(members.map(\.plain)))
            case .keyed?, nil:
                .failure(
                    StoreError(
                        .invalidRequest,
                        "a store cannot be asked about a value of type \(obj.map { "\(type(of: $0))" } ?? "nil")"
                    ))
            }
        self.init(
            .constantValue, content, given: obj, value.map(UnsavedObjects.init) ?? .init())
    }

    /// The object that is asked about.
    public class func expressionForEvaluatedObject() -> NSExpression {
        NSExpression(.evaluatedObject)
    }

    /// The value of a variable.
    public convenience init(forVariable string: String) { self.init(.variable(string)) }

    /// What a key path leads to, which may have collection operators and begin with a variable: `$item.price`.
    public convenience init(forKeyPath keyPath: String) {
        if keyPath.hasPrefix("$") {
            self.init(keyPath, [])
        } else {
            self.init("%K", [keyPath])
        }
    }

    /// What a key path leads to.
    public convenience init<Root, Value>(forKeyPath keyPath: KeyPath<Root, Value>) {
        self.init(forKeyPath: KeyNames.name(of: keyPath))
    }

    /// A function of the language, such as `sum:`, with its arguments. One that there is not ends the program with a sentence.
    public convenience init(forFunction name: String, arguments parameters: [Any]) {
        let arguments = parameters.map(Self.expression)
        self.init(.function, of: arguments) { nodes in
            do throws(FunctionError) {
                return try .function(named: name, nodes)
            } catch {
                fatalError(error.message)
            }
        }
    }

    /// A function that an expression's value has. Stores know none.
    public convenience init(
        forFunction target: NSExpression, selectorName name: String, arguments parameters: [Any]?
    ) {
        let parts = [target] + (parameters ?? []).map(Self.expression)
        self.init(.function, of: parts) {
            .call(of: $0[0], selector: name, Array($0.dropFirst()))
        }
    }

    /// Several expressions, or values, as one collection.
    public convenience init(forAggregate subexpressions: [Any]) {
        let parts = subexpressions.map(Self.expression)
        self.init(.aggregate, of: parts) { .braces($0) }
    }

    /// What is in one of two collections.
    public convenience init(forUnionSet left: NSExpression, with right: NSExpression) {
        self.init(.unionSet, of: [left, right]) { .set(.union, $0[0], $0[1]) }
    }

    /// What is in both of two collections.
    public convenience init(forIntersectSet left: NSExpression, with right: NSExpression) {
        self.init(.intersectSet, of: [left, right]) { .set(.intersect, $0[0], $0[1]) }
    }

    /// What is in the first of two collections only.
    public convenience init(forMinusSet left: NSExpression, with right: NSExpression) {
        self.init(.minusSet, of: [left, right]) { .set(.minus, $0[0], $0[1]) }
    }

    /// The members of a collection that meet a condition.
    public convenience init(
        forSubquery expression: NSExpression, usingIteratorVariable variable: String,
        predicate: NSPredicate
    ) {
        self.init(.subquery, of: [expression], predicate) { nodes, condition in
            .subquery(nodes[0], variable: variable, condition)
        }
    }

    /// One of two expressions, as a condition says.
    public convenience init(
        forConditional predicate: NSPredicate, trueExpression: NSExpression,
        falseExpression: NSExpression
    ) {
        self.init(.conditional, of: [trueExpression, falseExpression], predicate) {
            nodes, condition in .conditional(condition, nodes[0], nodes[1])
        }
    }

    /// The values of all attributes.
    public class func expressionForAnyKey() -> NSExpression { NSExpression(.anyKey) }

    /// What a closure gives. Only objects in memory can be asked for it.
    public convenience init(
        block: @escaping (Any?, [NSExpression], NSMutableDictionary?) -> Any,
        arguments: [NSExpression]?
    ) {
        self.init(
            .block,
            .failure(
                StoreError(
                    .invalidRequest,
                    "an expression that is a closure cannot be asked of a store")),
            given: Block(body: block, arguments: arguments ?? []))
    }

    // MARK: Steps

    private static func expression(_ any: Any) -> NSExpression {
        any as? NSExpression ?? NSExpression(forConstantValue: any)
    }

    /// An expression made of others.
    private convenience init(
        _ type: ExpressionType, of parts: [NSExpression],
        _ make: ([ExpressionNode]) -> ExpressionNode
    ) {
        self.init(type, of: parts, nil) { nodes, _ in make(nodes) }
    }

    /// An expression made of others and of a condition.
    private convenience init(
        _ type: ExpressionType, of parts: [NSExpression], _ condition: NSPredicate?,
        _ make: ([ExpressionNode], PredicateNode) -> ExpressionNode
    ) {
        var unsaved = condition?.unsaved ?? UnsavedObjects()
        for part in parts { unsaved.add(part.unsaved) }
        let content = Result { () throws(StoreError) in
            var nodes: [ExpressionNode] = []
            for part in parts { nodes.append(try part.node) }
            return make(nodes, try condition?.node ?? .constant(true))
        }
        self.init(type, content, given: condition, unsaved)
    }
}
