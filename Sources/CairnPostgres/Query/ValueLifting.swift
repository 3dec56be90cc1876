// Splits expressions about an object into the part that the server computes, and the part that is computed here.
//
//   uppercase(owner.name)    the server says owner.name, which becomes a variable of what is left
//
// The largest parts for which there is SQL are the server's.
//
// Threads: owned by one call.

import CairnModel
import CairnStore

struct ValueLifting {
    private let translator: ConditionTranslator
    /// The values that the server computes for each object.
    private(set) var values: [SQLValue] = []
    private var places: [ExpressionNode: Int] = [:]

    init(_ translator: ConditionTranslator) { self.translator = translator }

    /// Where an expression's value comes from.
    enum Source {
        /// The server computes it.
        case value(Int)
        /// It is computed from the server's values.
        case expression(ExpressionEvaluator)

        /// The server's value that it is, if it is one.
        var place: Int? {
            if case .value(let place) = self { place } else { nil }
        }

        /// The value, by what the server has said.
        func value(_ said: [Value]) -> EvaluatedValue {
            switch self {
            case .value(let place): return .value(said[place])
            case .expression(let evaluator):
                var variables: [String: EvaluatedValue] = [:]
                for (place, value) in said.enumerated() {
                    variables[ValueLifting.variable(place)] = .value(value)
                }
                return evaluator.value(for: .value(.null), variables: variables)
            }
        }
    }

    private static func variable(_ place: Int) -> String { "value \(place)" }

    /// Where the value of a bound expression comes from; nil if it asks the object for what the server cannot say.
    mutating func source(_ node: ExpressionNode) -> Source? {
        if let place = place(node) { return .value(place) }
        guard let rest = lifted(node) else { return nil }
        // A pattern that is none is told of by whoever looks at objects.
        return (try? ExpressionEvaluator(rest)).map { .expression($0) }
    }

    /// The same of several.
    mutating func sources(_ nodes: [ExpressionNode]) -> [Source]? {
        var sources: [Source] = []
        for node in nodes {
            guard let source = source(node) else { return nil }
            sources.append(source)
        }
        return sources
    }

    /// The place of what the server says for an expression; nil if it says nothing.
    private mutating func place(_ node: ExpressionNode) -> Int? {
        if let place = places[node] { return place }
        guard let value = translator.value(node) else { return nil }
        let place = add(value)
        places[node] = place
        return place
    }

    private mutating func add(_ value: SQLValue) -> Int {
        values.append(value)
        return values.count - 1
    }

    private mutating func lifted(_ nodes: [ExpressionNode]) -> [ExpressionNode]? {
        var lifted: [ExpressionNode] = []
        for node in nodes {
            guard let one = self.lifted(node) else { return nil }
            lifted.append(one)
        }
        return lifted
    }

    /// An expression with variables for what the server says.
    private mutating func lifted(_ node: ExpressionNode) -> ExpressionNode? {
        if case .constant = node { return node }
        if let place = place(node) {
            // An object is more than its number to whatever is made of it.
            if case .object = values[place].kind { return nil }
            return .variable(Self.variable(place))
        }
        switch node {
        case .list: return node
        case .function(let function, let parts):
            return lifted(parts).map { .function(function, $0) }
        case .aggregate(let parts): return lifted(parts).map { .aggregate($0) }
        case .cast(let base, let type): return lifted(base).map { .cast($0, to: type) }
        case .conditional(let test, let one, let other):
            let condition = translator.condition(test)
            guard condition.isExact, let text = condition.text, let one = lifted(one),
                let other = lifted(other)
            else { return nil }
            let truth = add(
                SQLValue(text: "(\(text)) IS TRUE", kind: .boolean, isNullable: false))
            return .conditional(
                .compare(
                    .variable(Self.variable(truth)), .equal, .constant(.boolean(true))), one, other)
        default: return nil
        }
    }
}
