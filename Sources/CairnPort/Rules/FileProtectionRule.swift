// description.setOption(FileProtectionType.complete as NSObject, forKey: NSPersistentStoreFileProtectionKey)
//
// On Linux no struct becomes an object by a cast. The text that it stands for is one, on each platform.

import SwiftSyntax

/// Writes kinds of file protection as texts where they are cast to objects.
struct FileProtectionRule: Rule {
    let words = ["FileProtectionType"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
            let elements = Array(node.elements)
            guard elements.count == 3, let value = elements[0].as(MemberAccessExprSyntax.self),
                value.base?.trimmedDescription == "FileProtectionType",
                let cast = elements[1].as(UnresolvedAsExprSyntax.self),
                cast.questionOrExclamationMark == nil,
                ["NSObject", "NSString"].contains(elements[2].trimmedDescription)
            else { return .visitChildren }
            result.edits.append(.insertion("NSString(string: ", at: value.bytes.lowerBound))
            result.edits.append(
                SourceEdit(value.bytes.upperBound..<elements[2].bytes.upperBound, ".rawValue)"))
            return .visitChildren
        }
    }
}
