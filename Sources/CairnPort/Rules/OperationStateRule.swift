// willChangeValue(forKey: "isFinished")
//
// An operation tells its queue of its states. Foundation on Linux has no key-value observing, but it has these calls of operations
// with the key path. Apple's queues are told by the key.

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
            guard let state = OperationState(toldBy: node, context.code),
                let argument = node.arguments.first, argument.label?.text == "forKey"
            else { return .visitChildren }
            if context.buildsOnApple {
                remark(
                    node, "the state of an operation", "Linux has no key-value observing",
                    "there \(node.calledExpression.trimmedDescription)(for: \\.\(state.name))")
                return .visitChildren
            }
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
    init?(toldBy node: FunctionCallExprSyntax, _ code: KnownCode) {
        let called = node.calledExpression
        let member = called.as(MemberAccessExprSyntax.self)
        let name =
            member?.declName.baseName.text ?? called.as(DeclReferenceExprSyntax.self)?.baseName.text
        let isOwn = member == nil || member?.base?.trimmedDescription == "self"
        guard name == "willChangeValue" || name == "didChangeValue", isOwn,
            node.arguments.count == 1, let argument = node.arguments.first,
            Self.isOperation(around: node), !Surroundings(of: node).areManaged(in: code)
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

    /// Whether the class around it is an operation, as far as its name or those of what it inherits from say so.
    private static func isOperation(around node: some SyntaxProtocol) -> Bool {
        for ancestor in node.ancestors {
            if let type = ancestor.as(ClassDeclSyntax.self) {
                let inherited = type.inheritanceClause?.inheritedTypes.map(\.type.lastName) ?? []
                return ([type.name.plainText] + inherited).contains { $0.hasSuffix("Operation") }
            }
            if let type = ancestor.as(ExtensionDeclSyntax.self) {
                return type.extendedType.lastName.hasSuffix("Operation")
            }
        }
        return false
    }
}
