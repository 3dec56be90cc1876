// Visits the code that Linux compiles.

import SwiftSyntax

/// A visitor that skips the branches of `#if` that are not for Linux. What the tool writes for Apple's compilers stands in such
/// branches, and so it is never rewritten again.
class LinuxVisitor: SyntaxVisitor {
    init() { super.init(viewMode: .sourceAccurate) }

    override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
        for clause in LinuxCondition.clauses(of: node) {
            if let elements = clause.elements { walk(elements) }
        }
        return .skipChildren
    }
}
