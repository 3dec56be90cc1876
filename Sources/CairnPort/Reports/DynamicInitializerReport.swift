// class func create(in context: NSManagedObjectContext) -> Self { self.init(entity: entity(), insertInto: context) }
//
// Swift calls only required initializers of a class that it learns at run time. In Core Data's interface all are.

import SwiftSyntax

/// Reports initializers that a class learned at run time does not have.
struct DynamicInitializerReport: Rule {
    let words = [".init(entity"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        let isRequired = file.text.contains("required override init(entity")
        return context.usesCoreData && !context.isInterface && !isRequired
            ? Visitor.examine(file, context) : Examination()
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: FunctionCallExprSyntax) -> SyntaxVisitorContinueKind {
            if let called = node.calledExpression.as(MemberAccessExprSyntax.self),
                called.declName.baseName.text == "init",
                let base = called.base,
                node.arguments.map({ $0.label?.text }) == ["entity", "insertInto"],
                isLearned(base, node)
            {
                let type =
                    base.is(DeclReferenceExprSyntax.self) ? base.trimmedDescription : "type(of:)"
                remark(
                    node, "\(type).init(entity:insertInto:)",
                    "Swift calls only required initializers of a class that it learns at run time",
                    "\(base.trimmedDescription).init(context:)")
            }
            return .visitChildren
        }

        /// Whether a type is known only at run time.
        private func isLearned(_ type: ExprSyntax, _ call: FunctionCallExprSyntax) -> Bool {
            switch type.trimmedDescription {
            case let text where text.hasPrefix("type(of:"): return true
            case "self", "Self": break
            // The name of a class, which is known, begins with a capital letter.
            case let name:
                return type.is(DeclReferenceExprSyntax.self) && name.first?.isLowercase ?? false
            }
            for ancestor in call.ancestors {
                // A convenience initializer calls one of the class.
                if ancestor.is(InitializerDeclSyntax.self) { return false }
                if let owner = ancestor.as(ClassDeclSyntax.self) {
                    return !owner.modifiers.contains { $0.name.text == "final" }
                }
                if ancestor.is(ExtensionDeclSyntax.self) { return true }
            }
            return false
        }
    }
}
