// What programs give a format: values, objects, collections, key paths and expressions.

import CairnModel
import CairnStore
import Foundation

/// The arguments of a format.
struct PredicateArguments {
    let list: [PredicateParser.Argument]
    /// Objects among them whose ids will change.
    private(set) var unsaved = UnsavedObjects()

    /// Arguments as a program gives them. What no predicate can compare ends the program with a sentence.
    init(_ given: [Any?]) {
        var unsaved = UnsavedObjects()
        list = given.map { Self.argument($0, &unsaved) }
        self.unsaved = unsaved
    }

    /// Values of variables as a program gives them.
    static func values(
        _ given: [String: Any], _ unsaved: inout UnsavedObjects
    ) -> [String: ExpressionNode] {
        given.mapValues { any in
            switch argument(any, &unsaved) {
            case .value(let value): .constant(value)
            case .list(let values): .list(values)
            case .expression(let node): node
            }
        }
    }

    private static func argument(
        _ any: Any?, _ unsaved: inout UnsavedObjects
    ) -> PredicateParser.Argument {
        if let path = any as? AnyKeyPath { return .value(.string(KeyNames.name(of: path))) }
        if let expression = any as? NSExpression {
            do throws(StoreError) {
                unsaved.add(expression.unsaved)
                return .expression(try expression.content.get())
            } catch {
                fatalError("\(expression) cannot be an argument of a predicate: \(error.message)")
            }
        }
        guard let value = EvaluatedValue(any: any) else { unusable(any) }
        unsaved.note(value)
        switch value {
        case .value, .object: return .value(value.plain)
        case .collection(let members): return .list(members.map(\.plain))
        case .keyed: unusable(any)
        }
    }

    private static func unusable(_ any: Any?) -> Never {
        fatalError(
            "a value of type \(any.map { "\(type(of: $0))" } ?? "nil") cannot be an argument of a predicate"
        )
    }
}
