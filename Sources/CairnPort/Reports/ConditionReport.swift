// #if canImport(CoreData)
//
// It has been false on Linux, and is true now. What it guards may be more than Core Data.

import SwiftSyntax

/// Reports conditions that change their answer.
struct ConditionReport: Rule {
    let words = ["canImport(CoreData"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: IfConfigDeclSyntax) -> SyntaxVisitorContinueKind {
            for clause in node.clauses {
                guard let condition = clause.condition,
                    condition.trimmedDescription.contains("canImport(CoreData"),
                    LinuxCondition.value(condition) != false
                else { continue }
                remark(
                    clause, "canImport(CoreData)", "it is true on Linux now",
                    "canImport(ObjectiveC), if the code requires Apple's platforms"
                )
            }
            return super.visit(node)
        }
    }
}
