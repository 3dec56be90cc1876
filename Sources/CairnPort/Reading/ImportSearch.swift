// Whether a file belongs to the user interface, by what it imports.

import SwiftSyntax

/// Looks for imports of user interface frameworks.
final class ImportSearch: LinuxVisitor {
    private var isInterface = false

    /// Whether a file imports a user interface framework.
    static func isInterface(_ file: SourceFile) -> Bool {
        guard WordSearch(AppleModules.interface).finds(in: file.text) else { return false }
        let visitor = ImportSearch()
        visitor.walk(file.tree)
        return visitor.isInterface
    }

    override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
        if let module = node.path.first?.name.text, AppleModules.interface.contains(module) {
            isInterface = true
        }
        return .skipChildren
    }
}
