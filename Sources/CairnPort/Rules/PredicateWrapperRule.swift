// func matching(_ format: String, _ arguments: CVarArg...) -> NSPredicate
//
// A function that only passes its arguments to NSPredicate takes Any instead, which is more on Linux and the same elsewhere:
// lists of C arguments become arrays of them.

import CairnMacros
import SwiftSyntax

/// Changes functions that pass C arguments to a predicate.
struct PredicateWrapperRule: Rule {
    let words = ["CVarArg..."]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            look(at: node.signature.parameterClause, node.body)
            return .visitChildren
        }

        override func visit(_ node: InitializerDeclSyntax) -> SyntaxVisitorContinueKind {
            look(at: node.signature.parameterClause, node.body)
            return .visitChildren
        }

        private func look(at clause: FunctionParameterClauseSyntax, _ body: CodeBlockSyntax?) {
            guard let body,
                let parameter = clause.parameters.first(where: {
                    $0.ellipsis != nil
                        && ["CVarArg", "any CVarArg"].contains($0.type.trimmedDescription)
                })
            else { return }
            let uses = ArgumentUses((parameter.secondName ?? parameter.firstName).plainText)
            uses.walk(body)
            guard uses.passes > 0 else { return }
            guard uses.passes == uses.count else {
                if uses.reachesPredicate, !context.isInterface {
                    remark(
                        parameter, "CVarArg... for a predicate",
                        "on Linux only numbers and strings are CVarArg",
                        "a parameter Any..., passed on as argumentArray:")
                }
                return
            }
            result.edits.append(SourceEdit(parameter.type.bytes, "Any"))
            result.edits += uses.edits
        }
    }

    /// How a function uses a parameter.
    private final class ArgumentUses: LinuxVisitor {
        private let name: String
        /// How often it is named.
        private(set) var count = 0
        /// How often it is passed to a predicate in one of the ways known.
        private(set) var passes = 0
        /// What makes arrays of those that are lists of C arguments.
        private(set) var edits: [SourceEdit] = []

        var reachesPredicate: Bool { passes > 0 }

        init(_ name: String) {
            self.name = name
            super.init()
        }

        override func visit(_ node: DeclReferenceExprSyntax) -> SyntaxVisitorContinueKind {
            if node.baseName.plainText == name { count += 1 }
            return .visitChildren
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let arguments = Array(node.arguments)
            if Self.isPredicate(node), arguments.count == 2 {
                let value = arguments[1].expression
                switch arguments[1].label?.text {
                case "argumentArray": if isParameter(value) { passes += 1 }
                case "arguments":
                    if let call = value.as(FunctionCallExprSyntax.self),
                        call.calledExpression.trimmedDescription == "getVaList",
                        call.arguments.count == 1, let only = call.arguments.first,
                        isParameter(only.expression)
                    {
                        passes += 1
                        edits.append(SourceEdit(arguments[1].bytes, "argumentArray: \(name)"))
                    }
                default: break
                }
            } else if node.calledExpression.trimmedDescription == "withVaList",
                arguments.count == 1, isParameter(arguments[0].expression),
                let closure = node.trailingClosure, closure.statements.count == 1,
                let only = closure.statements.first
            {
                pass(only, instead: node, parameter: Self.parameter(of: closure))
            }
            return .visitChildren
        }

        /// `withVaList(arguments) { NSPredicate(format: format, arguments: $0) }`
        private func pass(
            _ statement: CodeBlockItemSyntax, instead node: FunctionCallExprSyntax,
            parameter: String
        ) {
            let expression =
                statement.item.as(ReturnStmtSyntax.self)?.expression
                ?? statement.item.as(ExprSyntax.self)
            guard let call = expression?.as(FunctionCallExprSyntax.self), Self.isPredicate(call),
                call.arguments.count == 2, let first = call.arguments.first,
                let last = call.arguments.last, last.label?.text == "arguments",
                last.expression.trimmedDescription == parameter
            else { return }
            passes += 1
            edits.append(
                SourceEdit(
                    node.bytes,
                    "\(call.calledExpression.trimmedDescription)(\(first.trimmedDescription) argumentArray: \(name))"
                ))
        }

        private static func parameter(of closure: ClosureExprSyntax) -> String {
            guard let clause = closure.signature?.parameterClause else { return "$0" }
            return clause.trimmedDescription
        }

        private static func isPredicate(_ call: FunctionCallExprSyntax) -> Bool {
            ["NSPredicate", "self.init", ".init", "NSPredicate.init"].contains(
                call.calledExpression.trimmedDescription)
                && call.arguments.first?.label?.text == "format"
        }

        private func isParameter(_ expression: ExprSyntax) -> Bool {
            expression.as(DeclReferenceExprSyntax.self)?.baseName.plainText == name
        }
    }
}
