// note.observe(\.title) { … }
//
// Linux has no key-value observing. What a managed object says of its own changes (willChangeValue(forKey:)) stays: the module
// has it, as accessors written by hand call it.

import SwiftSyntax

/// Reports key-value observing.
struct ObservationReport: Rule {
    let words = [
        "observe(", "forKeyPath", "ChangeValue", "keyPathsForValues", "NSKeyValueObserv",
        "publisher(for",
    ]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.usesCoreData && !context.isInterface
            ? Visitor.examine(file, context) : Examination()
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            let called = node.calledExpression
            let name =
                called.as(MemberAccessExprSyntax.self)?.declName.baseName.text
                ?? called.as(DeclReferenceExprSyntax.self)?.baseName.text ?? ""
            let first = node.arguments.first
            let labels = node.arguments.compactMap { $0.label?.text }
            switch name {
            case "observe" where first?.expression.is(KeyPathExprSyntax.self) == true:
                report(node, "observe(\\.…)")
            case "addObserver" where labels.contains("forKeyPath"),
                "removeObserver" where labels.contains("forKeyPath"):
                report(node, "\(name)(_:forKeyPath:…)")
            case "publisher" where first?.expression.is(KeyPathExprSyntax.self) == true:
                report(node, "publisher(for: \\.…)")
            case "publisher" where labels == ["for"] || labels == ["for", "object"]:
                remark(
                    node, "a publisher of notifications", "Linux has no Combine",
                    "for await notification in NotificationCenter.default.notifications(named:)")
            case "willChangeValue", "didChangeValue":
                if OperationState(toldBy: node, context.code) == nil,
                    !Surroundings(of: node).areManaged(in: context.code)
                {
                    report(node, name)
                }
            default: break
            }
            return .visitChildren
        }

        override func visit(_ node: FunctionDeclSyntax) -> SyntaxVisitorContinueKind {
            let name = node.name.text
            let isObserver =
                name == "observeValue"
                && node.signature.parameterClause.parameters.first?.firstName.text == "forKeyPath"
            if isObserver || name.hasPrefix("keyPathsForValuesAffecting")
                || name == "automaticallyNotifiesObservers"
            {
                report(node.name, "func \(name)")
            }
            return .visitChildren
        }

        override func visit(_ node: IdentifierTypeSyntax) -> SyntaxVisitorContinueKind {
            if node.name.text.hasPrefix("NSKeyValueObserv") { report(node, node.name.text) }
            return .visitChildren
        }

        private func report(_ node: some SyntaxProtocol, _ subject: String) {
            remark(
                node, subject, "Linux has no key-value observing",
                "the context's notifications (NSManagedObjectContextObjectsDidChange), or a fetched results controller"
            )
        }
    }
}
