// Where the last members of a file's classes end.

import CairnMacros
import SwiftSyntax

/// Finds where a class gets another member.
final class ClassEnds: LinuxVisitor {
    /// Where a class ends.
    struct End {
        let type: String
        /// The end of its last member.
        let offset: Int
        /// Whether the brace stands on a line of its own.
        let closesOnNextLine: Bool
    }

    private(set) var ends: [End] = []

    init(_ tree: SourceFileSyntax) {
        super.init()
        walk(tree)
    }

    override func visit(_ node: ClassDeclSyntax) -> SyntaxVisitorContinueKind {
        let last =
            node.memberBlock.members.last?.endPosition ?? node.memberBlock.leftBrace.endPosition
        let brace = node.memberBlock.rightBrace
        ends.append(
            End(
                type: node.name.plainText, offset: last.utf8Offset,
                closesOnNextLine: brace.leadingTrivia.contains { $0.isNewline }))
        return .visitChildren
    }
}
