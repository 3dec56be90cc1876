// @NSManaged var a: Int, b: Int
//
// A macro gives accessors to one variable only, so each gets a line of its own.

import SwiftSyntax

/// Splits declarations of several `@NSManaged` variables.
struct ManagedVariableRule: Rule {
    let words = ["NSManaged "]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: VariableDeclSyntax) -> SyntaxVisitorContinueKind {
            let isManaged = AppleAttributes.everywhere(in: node.attributes).contains {
                $0.attributeName.trimmedDescription == "NSManaged"
            }
            guard isManaged, node.bindings.count > 1, let first = node.bindings.first else {
                return .visitChildren
            }
            let head = file[node.bytes.lowerBound..<first.bytes.lowerBound]
            // In `var a, b: Int` a variable has the type that comes next.
            var type = ""
            var lines: [String] = []
            for binding in node.bindings.reversed() {
                if let own = binding.typeAnnotation { type = own.trimmedDescription }
                lines.append(head + binding.pattern.trimmedDescription + type)
            }
            let indent = file.lineStart(before: node.bytes.lowerBound).prefix {
                $0 == " " || $0 == "\t"
            }
            let text = lines.reversed().joined(separator: file.lineEnd + indent)
            result.edits.append(SourceEdit(node.bytes, text))
            return .skipChildren
        }
    }
}
