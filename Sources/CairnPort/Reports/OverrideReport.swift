// extension Note { override func awakeFromInsert() {…} }
//
// A member of an extension overrides only what the Objective-C runtime knows. Those of classes in the tree have been moved; this
// one could not be.

import CairnMacros
import SwiftSyntax

/// Reports overrides in extensions.
struct OverrideReport: Rule {
    let words = ["override"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.usesCoreData && !context.isInterface
            ? Visitor.examine(file, context) : Examination()
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: ExtensionDeclSyntax) -> SyntaxVisitorContinueKind {
            let type = node.extendedType.lastName
            for member in node.memberBlock.members.onLinux where member.isOverride {
                remark(
                    member, "override in an extension of \(type)",
                    "without the Objective-C runtime, members of extensions cannot override",
                    "move it to the declaration of the class")
            }
            return .visitChildren
        }
    }
}
