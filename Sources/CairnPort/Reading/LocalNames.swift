// The names of what functions and closures declare.

import CairnMacros
import SwiftSyntax

/// Collects the names of a file's local variables and parameters.
final class LocalNames: SyntaxVisitor {
    private(set) var names: Set<String> = []

    init(_ tree: SourceFileSyntax) {
        super.init(viewMode: .sourceAccurate)
        walk(tree)
    }

    override func visit(_ node: IdentifierPatternSyntax) -> SyntaxVisitorContinueKind {
        let declaration = node.parent?.parent?.parent?.as(VariableDeclSyntax.self)
        if declaration?.parent?.is(MemberBlockItemSyntax.self) != true {
            names.insert(node.identifier.plainText)
        }
        return .skipChildren
    }

    override func visit(_ node: FunctionParameterSyntax) -> SyntaxVisitorContinueKind {
        names.insert((node.secondName ?? node.firstName).plainText)
        return .visitChildren
    }

    override func visit(_ node: ClosureParameterSyntax) -> SyntaxVisitorContinueKind {
        names.insert((node.secondName ?? node.firstName).plainText)
        return .skipChildren
    }

    override func visit(_ node: ClosureShorthandParameterSyntax) -> SyntaxVisitorContinueKind {
        names.insert(node.name.plainText)
        return .skipChildren
    }
}
