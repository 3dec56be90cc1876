// What an `#if` means on Linux: whether its code is compiled there.
//
// Three values: a flag such as DEBUG can be either, and then both branches count.

import SwiftSyntax

/// Evaluates conditions of `#if`.
enum LinuxCondition {
    /// Whether a condition holds on Linux; nil if that depends on something else.
    static func value(_ condition: ExprSyntax) -> Bool? {
        if let literal = condition.as(BooleanLiteralExprSyntax.self) {
            return literal.literal.tokenKind == .keyword(.true)
        }
        if let not = condition.as(PrefixOperatorExprSyntax.self), not.operator.text == "!" {
            return value(not.expression).map { !$0 }
        }
        if let tuple = condition.as(TupleExprSyntax.self), tuple.elements.count == 1,
            let only = tuple.elements.first
        {
            return value(only.expression)
        }
        if let sequence = condition.as(SequenceExprSyntax.self) {
            return value(ofSequence: Array(sequence.elements))
        }
        if let call = condition.as(FunctionCallExprSyntax.self) { return value(ofCall: call) }
        return nil
    }

    /// `a && b || c`, before anybody has said what binds tighter.
    private static func value(ofSequence elements: [ExprSyntax]) -> Bool? {
        var sums: [Bool?] = []
        var product: Bool? = true
        for (index, element) in elements.enumerated() {
            if index % 2 == 0 {
                let value = value(element)
                if product == false || value == false {
                    product = false
                } else if value == nil {
                    product = nil
                }
            } else if element.trimmedDescription == "||" {
                sums.append(product)
                product = true
            } else if element.trimmedDescription != "&&" {
                return nil
            }
        }
        sums.append(product)
        if sums.contains(true) { return true }
        return sums.contains(nil) ? nil : false
    }

    private static func value(ofCall call: FunctionCallExprSyntax) -> Bool? {
        let argument = call.arguments.first?.expression.trimmedDescription ?? ""
        switch call.calledExpression.trimmedDescription {
        case "os": return argument == "Linux"
        case "targetEnvironment": return false
        case "canImport":
            if AppleModules.isAbsent(argument) { return false }
            return ["Foundation", "Glibc", "CoreData", "Dispatch"].contains(argument) ? true : nil
        default: return nil
        }
    }

    /// The branches that Linux may compile.
    static func clauses(of node: IfConfigDeclSyntax) -> [IfConfigClauseSyntax] {
        var clauses: [IfConfigClauseSyntax] = []
        for clause in node.clauses {
            let value = clause.condition.map(Self.value) ?? true
            if value != false { clauses.append(clause) }
            if value == true { break }
        }
        return clauses
    }
}
