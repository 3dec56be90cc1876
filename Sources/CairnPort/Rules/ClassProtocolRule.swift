// @objc protocol Listener {}
//
// Only classes conform to a protocol of Objective-C, so that it can be the type of a weak variable. Without `@objc` the protocol
// has to say so.

import CairnMacros
import SwiftSyntax

/// Says of protocols of Objective-C that they are for classes.
struct ClassProtocolRule: Rule {
    let words = ["@objc"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.isInterface ? Examination() : Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: ProtocolDeclSyntax) -> SyntaxVisitorContinueKind {
            if AppleAttributes.isObjectiveC(node.attributes),
                let edit = ClassProtocol.mark(for: node, in: context.code)
            {
                result.edits.append(edit)
            }
            return .skipChildren
        }
    }
}

/// Protocols that only classes conform to.
enum ClassProtocol {
    private static let known: Set<String> = ["AnyObject", "class", "NSObjectProtocol"]

    /// The edit that says so of a protocol; nil if it, or one that it inherits from, does.
    static func mark(for node: ProtocolDeclSyntax, in code: KnownCode) -> SourceEdit? {
        guard let inherited = node.inheritanceClause?.inheritedTypes, let last = inherited.last
        else {
            let end =
                node.primaryAssociatedTypeClause?.bytes.upperBound ?? node.name.bytes.upperBound
            return .insertion(": AnyObject", at: end)
        }
        let names = inherited.map(\.type.lastName)
        let isKnown = names.contains { name in
            known.contains(name) || code.optionalRequirements.objectiveCProtocols.contains(name)
        }
        return isKnown ? nil : .insertion(", AnyObject", at: last.type.bytes.upperBound)
    }
}
