// class URLs: Foundation.ValueTransformer
//
// On Linux these classes are the module CoreData's, and Foundation has none, or one that falls short.

import SwiftSyntax

/// Names classes without Foundation where Linux has them elsewhere.
struct FoundationNameRule: Rule {
    let words = ["Foundation."]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        private static let names: Set<String> = [
            "NSComparisonPredicate", "NSCompoundPredicate", "NSExpression", "UndoManager",
            "ValueTransformer", "NSValueTransformerName",
        ]

        override func visit(_ node: MemberTypeSyntax) -> SyntaxVisitorContinueKind {
            shorten(node.baseType, node.name)
            return .visitChildren
        }

        override func visit(_ node: MemberAccessExprSyntax) -> SyntaxVisitorContinueKind {
            if let base = node.base { shorten(base, node.declName.baseName) }
            return .visitChildren
        }

        private func shorten(_ base: some SyntaxProtocol, _ name: TokenSyntax) {
            // A class of the tree with that name is why the module was named.
            guard base.trimmedDescription == "Foundation", Self.names.contains(name.text),
                !context.code.types.contains(name.text)
            else { return }
            result.edits.append(.removal(base.bytes.lowerBound..<name.bytes.lowerBound))
        }
    }
}
