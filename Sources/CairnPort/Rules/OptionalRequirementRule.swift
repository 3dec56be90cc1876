// @objc protocol Listener { @objc optional func didSave(_ note: Note) }
// listener?.didSave?(note)
//
// Only a protocol of Objective-C has requirements that a type may leave out. In Swift they have default implementations, which
// do nothing, and are called like others. What would not mean the same stays, and is reported.

import CairnMacros
import SwiftSyntax

/// Gives optional requirements default implementations.
struct OptionalRequirementRule: Rule {
    let words = ["optional ", "?("]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.isInterface ? Examination() : Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
            let members = node.memberBlock.members.onLinux
            let optional = members.filter(\.isOptionalRequirement)
            guard !optional.isEmpty else { return .skipChildren }
            let isSafe = context.code.optionalRequirements.areDefaulted(
                of: node.name.plainText, buildsOnApple: context.buildsOnApple)
            guard isSafe else {
                for member in optional {
                    remark(
                        member, "an optional requirement", "only @objc protocols can have them",
                        "a default implementation in an extension of the protocol, where each class that conforms calls its own method"
                    )
                }
                return .skipChildren
            }
            for attribute in AppleAttributes.all(in: node.attributes) { remove(attribute) }
            if let name = ClassProtocol.mark(for: node, in: context.code) {
                result.edits.append(name)
            }
            for member in members {
                let attributes = member.asProtocol((any WithAttributesSyntax).self)?.attributes
                for attribute in AppleAttributes.all(in: attributes ?? []) { remove(attribute) }
                let modifiers = member.asProtocol((any WithModifiersSyntax).self)?.modifiers
                for modifier in modifiers ?? []
                where modifier.name.tokenKind == .keyword(.optional) { remove(modifier) }
            }
            result.edits.append(
                .insertion(
                    defaults(optional.compactMap { $0.as(FunctionDeclSyntax.self) }, of: node),
                    at: node.bytes.upperBound))
            return .skipChildren
        }

        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            guard let chain = node.calledExpression.as(OptionalChainingExprSyntax.self),
                let member = chain.expression.as(MemberAccessExprSyntax.self), member.base != nil,
                node.trailingClosure == nil
            else { return .visitChildren }
            let labels = node.arguments.map { "\($0.label?.plainText ?? "_"):" }.joined()
            let name = "\(member.declName.baseName.plainText)(\(labels))"
            if context.code.optionalRequirements.has(name, buildsOnApple: context.buildsOnApple) {
                result.edits.append(.removal(chain.questionMark.bytes))
            }
            return .visitChildren
        }

        /// Removes a node and the blanks and line breaks after it; comments stay.
        private func remove(_ node: some SyntaxProtocol) {
            result.edits.append(.removal(node.bytes.lowerBound..<file.nextWord(after: node)))
        }

        /// The extension with the default implementations.
        private func defaults(_ functions: [FunctionDeclSyntax], of node: ProtocolDeclSyntax)
            -> String
        {
            let start = file.lineStart(before: node.bytes.lowerBound)
            let indent = String(start.prefix { $0 == " " || $0 == "\t" })
            let access =
                node.modifiers.contains(.public)
                ? "public " : node.modifiers.contains(.package) ? "package " : ""
            let others = functions.flatMap { function -> [String] in
                let attributes = function.attributes.compactMap { element -> String? in
                    guard case .attribute(let attribute) = element,
                        !AppleAttributes.all(in: function.attributes).contains(attribute)
                    else { return nil }
                    return "    " + attribute.trimmedDescription
                }
                let head = file[function.funcKeyword.bytes.lowerBound..<function.bytes.upperBound]
                return attributes + ["    \(access)\(head) \(function.defaultBody ?? "{}")"]
            }
            let lines =
                ["extension \(node.name.text) {"] + others + ["}"]
            let end = file.lineEnd
            return end + end + lines.map { indent + $0 }.joined(separator: end)
        }
    }
}
