// #selector(contextDidSave(_:))
//
// Without the Objective-C runtime nothing is called by the name of a method.

import SwiftSyntax

/// Reports selectors.
struct SelectorReport: Rule {
    let words = ["#selector", "Selector("]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.usesCoreData && !context.isInterface
            ? Visitor.examine(file, context) : Examination()
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: MacroExpansionExprSyntax) -> SyntaxVisitorContinueKind {
            if node.macroName.text == "selector" { report(node, "#selector") }
            return .visitChildren
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let name = node.calledExpression.trimmedDescription
            // A sort descriptor has the name of a comparison, and calls nothing by it.
            let outer = node.parent?.parent?.parent?.as(FunctionCallExprSyntax.self)
            let sorts = outer?.calledExpression.trimmedDescription == "NSSortDescriptor"
            if ["Selector", "NSSelectorFromString"].contains(name), !sorts { report(node, name) }
            return .visitChildren
        }

        private func report(_ node: some SyntaxProtocol, _ subject: String) {
            remark(
                node, subject, "calling a method by its name requires the Objective-C runtime",
                "a closure: NotificationCenter.addObserver(forName:object:queue:using:), Timer(timeInterval:repeats:block:)"
            )
        }
    }
}
