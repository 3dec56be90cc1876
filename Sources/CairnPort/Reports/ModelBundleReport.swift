// Bundle(for: Note.self).url(forResource: "Shop", withExtension: "xcdatamodeld")
//
// The resources of a package lie in a bundle of its own, which only Bundle.module leads to.

import SwiftSyntax

/// Reports bundles that have no models on Linux.
struct ModelBundleReport: Rule {
    let words = ["Bundle(for", "Bundle(identifier", "Bundle.main"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.isInterface ? Examination() : Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            if node.calledExpression.trimmedDescription == "Bundle",
                let label = node.arguments.first?.label?.text,
                ["for", "identifier"].contains(label)
            {
                report(node, "Bundle(\(label):)")
            }
            return .visitChildren
        }

        override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            if node.trimmedDescription == "Bundle.main" { report(node, "Bundle.main") }
            return .visitChildren
        }

        private func report(_ node: some SyntaxProtocol, _ bundle: String) {
            guard servesModel(node) else { return }
            remark(
                node, bundle, "the models of a package are not in it",
                "Bundle.module, with the model as a resource of the target: .copy(\"Shop.xcdatamodeld\")"
            )
        }

        /// Whether what the bundle is for names a model.
        private func servesModel(_ node: some SyntaxProtocol) -> Bool {
            for ancestor in node.ancestors {
                if let call = ancestor.as(FunctionCallExprSyntax.self) {
                    let called = call.calledExpression.trimmedDescription
                    // These look into the bundles of packages by themselves.
                    if called.hasSuffix("mergedModel") { return false }
                    if call.arguments.trimmedDescription.contains("odel")
                        || called.contains("NSManagedObjectModel")
                    {
                        return true
                    }
                }
                if let binding = ancestor.as(PatternBindingSyntax.self) {
                    return binding.pattern.trimmedDescription.lowercased().contains("model")
                }
                if ancestor.is(CodeBlockItemSyntax.self) {
                    if ancestor.trimmedDescription.contains("odel") { return true }
                    if !isOnly(ancestor) { return false }
                }
            }
            return false
        }

        /// Whether a statement is all that a getter consists of.
        private func isOnly(_ statement: Syntax) -> Bool {
            statement.parent?.as(CodeBlockItemListSyntax.self)?.count == 1
                && statement.parent?.parent?.is(AccessorBlockSyntax.self) == true
        }
    }
}
