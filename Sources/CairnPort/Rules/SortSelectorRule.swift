// NSSortDescriptor(key: "name", ascending: true, selector: #selector(NSString.localizedStandardCompare(_:)))
//
// Of the methods of Foundation that compare texts, a sort descriptor needs the name only. The parentheses around it tell Apple's
// compilers that it is meant so.

import CairnMacros
import SwiftSyntax

/// Names the methods that sort descriptors compare with.
struct SortSelectorRule: Rule {
    let words = ["#selector"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.isInterface ? Examination() : Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: LabeledExprSyntax) -> SyntaxVisitorContinueKind {
            guard node.label?.text == "selector",
                let call = node.parent?.parent?.as(FunctionCallExprSyntax.self),
                call.calledExpression.trimmedDescription == "NSSortDescriptor",
                let selector = node.expression.as(MacroExpansionExprSyntax.self),
                selector.macroName.text == "selector",
                let method = selector.arguments.first?.expression.as(MemberAccessExprSyntax.self)
            else { return .visitChildren }
            let name = method.declName.baseName.plainText
            // Each of them has one argument, whether it is written or not.
            let labels = method.declName.argumentNames?.arguments.map(\.name.text) ?? ["_"]
            guard name.lowercased().hasSuffix("compare"), labels == ["_"] else {
                return .visitChildren
            }
            result.edits.append(SourceEdit(selector.bytes, "Selector((\"\(name):\"))"))
            return .visitChildren
        }
    }
}
