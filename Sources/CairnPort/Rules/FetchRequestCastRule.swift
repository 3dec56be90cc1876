// Note.fetchRequest() as! NSFetchRequest<NSFetchRequestResult>
//
// Objective-C has no generic arguments at run time, so that the cast always succeeds there. In Swift it never does: the two
// are different classes, and the program stops.
//
//   1. A request that comes from a class's fetchRequest() is created with the result type in its place, by the name of the
//      entity. That compiles everywhere.
//   2. Any other is copied: the module's request has an initializer for it. Apple's has not, so the statement is written for
//      both; a long one is left for a person. The cast of a copy, `request.copy() as! …`, becomes that copy.
//   3. `as?` becomes an optional that is never nil, as it is on Apple's platforms.
//   4. The same cast of a fetched results controller is left for a person: its delegate has to compare what it has.

import SwiftSyntax

/// Replaces casts between fetch requests of different results.
struct FetchRequestCastRule: Rule {
    let words = ["NSFetchRequest<", "NSFetchedResultsController<"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: SequenceExprSyntax) -> SyntaxVisitorContinueKind {
            let elements = Array(node.elements)
            for index in elements.indices.dropFirst().dropLast() {
                guard let cast = elements[index].as(UnresolvedAsExprSyntax.self),
                    let type = elements[index + 1].as(TypeExprSyntax.self)?.type,
                    let mark = cast.questionOrExclamationMark
                else { continue }
                let name = type.trimmedDescription
                if name.hasPrefix("NSFetchedResultsController<") {
                    leave(cast, "NSFetchedResultsController")
                }
                guard name.hasPrefix("NSFetchRequest<") else { continue }
                let isAlone =
                    index == 1 || elements[index - 2].is(AssignmentExprSyntax.self)
                if isAlone {
                    replace(elements[index - 1], type, node, isConditional: mark.text == "?")
                } else {
                    leave(cast, "NSFetchRequest")
                }
            }
            return .visitChildren
        }

        private func replace(
            _ value: ExprSyntax, _ type: TypeSyntax, _ node: SequenceExprSyntax, isConditional: Bool
        ) {
            let range = value.bytes.lowerBound..<type.bytes.upperBound
            let type = type.trimmedDescription
            func edit(_ argument: String) -> SourceEdit {
                let request = "\(type)(\(argument))"
                return SourceEdit(range, isConditional ? "Optional(\(request))" : request)
            }
            if let owner = Self.owner(ofRequest: value) {
                result.edits.append(edit("entityName: \(owner).entity().name!"))
                return
            }
            let statement = node.ancestors.first {
                $0.is(CodeBlockItemSyntax.self) || $0.is(MemberBlockItemSyntax.self)
            }
            guard let statement,
                !statement.is(MemberBlockItemSyntax.self) || !context.buildsOnApple,
                let edits = PlatformBranches.edits(
                    of: statement, [edit(Self.copied(value).trimmedDescription)], file, context)
            else {
                leave(node, "NSFetchRequest")
                return
            }
            result.edits += edits
        }

        /// The class in `Note.fetchRequest()`.
        private static func owner(ofRequest value: ExprSyntax) -> String? {
            guard let call = value.as(FunctionCallExprSyntax.self), call.arguments.isEmpty,
                let member = call.calledExpression.as(MemberAccessExprSyntax.self),
                member.declName.trimmedDescription == "fetchRequest", let base = member.base,
                base.is(DeclReferenceExprSyntax.self),
                base.trimmedDescription.unicodeScalars.first?.properties.isUppercase == true
            else { return nil }
            return base.trimmedDescription
        }

        /// What is copied in `request.copy()`, which is of no type; any other value itself.
        private static func copied(_ value: ExprSyntax) -> ExprSyntax {
            guard let call = value.as(FunctionCallExprSyntax.self), call.arguments.isEmpty,
                let member = call.calledExpression.as(MemberAccessExprSyntax.self),
                ["copy", "mutableCopy"].contains(member.declName.trimmedDescription),
                let base = member.base
            else { return value }
            return base
        }

        private func leave(_ node: some SyntaxProtocol, _ type: String) {
            remark(
                node, "a cast to \(type)<…>",
                "in Swift, requests with different result types are unrelated classes, so the cast never succeeds",
                type == "NSFetchRequest"
                    ? "NSFetchRequest<NSFetchRequestResult>(request), or create the request with the result type it needs"
                    : "compare the controller with your own ones (===)")
        }
    }
}
