// willChangeValue(forKey: "isFinished")
//
// An operation tells its queue of its states. Foundation on Linux has no key-value observing, but it has these calls of operations
// with the key path, as Apple's has.

import CairnMacros
import SwiftSyntax

/// Names the states of operations by their key paths.
struct OperationStateRule: Rule {
    let words = ["ChangeValue"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.isInterface ? Examination() : Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            guard let state = OperationState(toldBy: node), let argument = node.arguments.first,
                argument.label?.text == "forKey"
            else { return .visitChildren }
            result.edits.append(SourceEdit(argument.bytes, "for: \\.\(state.name)"))
            return .visitChildren
        }
    }
}

/// The state of an operation whose change a call announces.
struct OperationState {
    let name: String

    private static let names: Set = [
        "isReady", "isExecuting", "isFinished", "isCancelled", "isAsynchronous", "isConcurrent",
    ]

    /// The state, if the call is one of an operation; nil if it is not.
    init?(toldBy node: FunctionCallExprSyntax) {
        let called = node.calledExpression
        let member = called.as(MemberAccessExprSyntax.self)
        let name =
            member?.declName.baseName.text ?? called.as(DeclReferenceExprSyntax.self)?.baseName.text
        let isOwn = member == nil || member?.base?.trimmedDescription == "self"
        guard name == "willChangeValue" || name == "didChangeValue", isOwn,
            node.arguments.count == 1, let argument = node.arguments.first,
            Self.isOperation(around: node)
        else { return nil }
        let key: String?
        switch argument.label?.text {
        case "forKey":
            let segments = argument.expression.as(StringLiteralExprSyntax.self)?.segments
            key =
                segments?.count == 1
                ? segments?.first?.as(StringSegmentSyntax.self)?.content.text : nil
        case "for":
            key = argument.expression.trimmedDescription.split(separator: ".").last.map(String.init)
        default: key = nil
        }
        guard let key, Self.names.contains(key) else { return nil }
        self.name = key
    }

    /// Whether a class around it is an operation, as far as its name or those of what it inherits from say so.
    private static func isOperation(around node: some SyntaxProtocol) -> Bool {
        node.ancestors.contains { ancestor in
            if let type = ancestor.as(ClassDeclSyntax.self) {
                let inherited = type.inheritanceClause?.inheritedTypes.map(\.type.lastName) ?? []
                return ([type.name.plainText] + inherited).contains { $0.hasSuffix("Operation") }
            }
            return ancestor.as(ExtensionDeclSyntax.self)?.extendedType.lastName.hasSuffix(
                "Operation")
                == true
        }
    }
}
