// NSPredicate(format: "date > %@", date as CVarArg)
//
// On Linux only numbers and strings are CVarArg. An array of arguments takes anything, on each platform.

import SwiftSyntax

/// Passes the arguments of a predicate as an array where they are cast to CVarArg.
struct PredicateArgumentRule: Rule {
    let words = ["CVarArg"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let arguments = Array(node.arguments)
            let values = arguments.dropFirst()
            let casts = values.map { Self.cast($0.expression) }
            guard casts.contains(where: { $0 != nil }), let first = values.first,
                let last = values.last
            else { return .visitChildren }
            let isPredicate =
                ["NSPredicate", "self.init", ".init"]
                .contains(node.calledExpression.trimmedDescription)
                && arguments.first?.label?.text == "format"
                && values.allSatisfy { $0.label == nil }
            guard isPredicate else {
                if context.usesCoreData, !context.isInterface { leave(casts.compactMap(\.self)) }
                return .visitChildren
            }
            result.edits.append(
                .insertion("argumentArray: [", at: first.expression.bytes.lowerBound))
            for cast in casts.compactMap(\.self) { result.edits.append(.removal(cast.range)) }
            result.edits.append(.insertion("]", at: last.expression.bytes.upperBound))
            return .visitChildren
        }

        private struct Cast {
            let node: ExprSyntax
            /// The bytes of ` as CVarArg`.
            let range: Range<Int>
            /// Whether only numbers and strings stand there, which need no change.
            let isLiteral: Bool
        }

        private static func cast(_ expression: ExprSyntax) -> Cast? {
            guard let sequence = expression.as(SequenceExprSyntax.self) else { return nil }
            let elements = Array(sequence.elements)
            guard elements.count == 3, elements[1].is(UnresolvedAsExprSyntax.self),
                ["CVarArg", "any CVarArg", "(any CVarArg)"].contains(
                    elements[2].trimmedDescription)
            else { return nil }
            return Cast(
                node: expression,
                range: elements[0].bytes.upperBound..<elements[2].bytes.upperBound,
                isLiteral: elements[0].is(StringLiteralExprSyntax.self)
                    || elements[0].is(IntegerLiteralExprSyntax.self))
        }

        private func leave(_ casts: [Cast]) {
            for cast in casts where !cast.isLiteral {
                remark(
                    cast.node, "as CVarArg", "on Linux only numbers and strings are CVarArg",
                    "pass the value without the cast to a function that takes Any")
            }
        }
    }
}
