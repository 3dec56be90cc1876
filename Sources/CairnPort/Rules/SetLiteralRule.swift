// let tags: NSSet = [work, home]
// note.tags = [work, home]
//
// Foundation's sets are made of array literals on Apple's platforms only. Their initializer is everywhere. What the type of a
// property is that a literal is assigned to, its name says, if all properties of that name are such sets.

import CairnMacros
import SwiftSyntax

/// Writes the initializer of a set where an array literal becomes one.
struct SetLiteralRule: Rule {
    let words = ["NSSet", "NSMutableSet", "= ["]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        private static let sets: Set<String> = ["NSSet", "NSMutableSet"]
        private lazy var locals = LocalNames(file.tree).names

        override func visit(_ node: PatternBindingSyntax) -> SyntaxVisitorContinueKind {
            if let type = node.typeAnnotation?.type.unwrapped.trimmedDescription,
                Self.sets.contains(type), let value = node.initializer?.value
            {
                replace(value, type)
            }
            return .visitChildren
        }

        override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
            let elements = Array(node.elements)
            if elements.count == 3, elements[1].is(AssignmentExprSyntax.self),
                let type = setType(of: elements[0])
            {
                replace(elements[2], type)
            }
            for index in elements.indices.dropFirst().dropLast()
            where elements[index].is(UnresolvedAsExprSyntax.self) {
                guard let type = elements[index + 1].as(TypeExprSyntax.self)?.type,
                    Self.sets.contains(type.trimmedDescription)
                else { continue }
                replace(elements[index - 1], type.trimmedDescription)
            }
            return .visitChildren
        }

        /// The type of set that a property has; nil if it is none, or another one of its name is not.
        private func setType(of expression: ExprSyntax) -> String? {
            let own = expression.as(DeclReferenceExprSyntax.self)?.baseName
            // A local variable or a parameter of the name may be anything.
            if let own, locals.contains(own.plainText) { return nil }
            let name = expression.as(MemberAccessExprSyntax.self)?.declName.baseName ?? own
            guard let name, let types = context.code.variables[name.plainText], types.count == 1
            else { return nil }
            return types.first.flatMap { Self.sets.contains($0) ? $0 : nil }
        }

        private func replace(_ value: ExprSyntax, _ type: String) {
            guard let literal = value.as(ArrayExprSyntax.self) else { return }
            if literal.elements.isEmpty {
                result.edits.append(SourceEdit(literal.bytes, "\(type)()"))
            } else {
                result.edits.append(.insertion("\(type)(array: ", at: literal.bytes.lowerBound))
                result.edits.append(.insertion(")", at: literal.bytes.upperBound))
            }
        }
    }
}
