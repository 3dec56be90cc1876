// The names that only one file can see.

import CairnMacros
import SwiftSyntax

/// Collects what a file declares as private.
final class PrivateNames: SyntaxVisitor {
    private(set) var names: Set<String> = []

    init(_ tree: SourceFileSyntax) {
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    override func visit(_ node: DeclModifierListSyntax) -> SyntaxVisitorContinueKind {
        guard node.contains(.private, .fileprivate), let parent = node.parent else {
            return .skipChildren
        }
        if let variable = parent.as(VariableDeclSyntax.self) {
            for binding in variable.bindings {
                let pattern = binding.pattern.as(IdentifierPatternSyntax.self)
                if let pattern { names.insert(pattern.identifier.plainText) }
            }
        } else if let named = parent.asProtocol((any NamedDeclSyntax).self) {
            names.insert(named.name.plainText)
        } else if let extended = parent.as(ExtensionDeclSyntax.self) {
            for member in extended.memberBlock.members {
                let named = member.decl.asProtocol((any NamedDeclSyntax).self)
                if let named { names.insert(named.name.plainText) }
            }
        }
        return .skipChildren
    }
}
