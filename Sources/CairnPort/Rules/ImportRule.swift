// import CoreData.NSFetchRequest
//
// The module of Linux has no submodules.

import SwiftSyntax

/// Imports the whole module where a part of it is imported.
struct ImportRule: Rule {
    let words = ["CoreData."]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        Visitor.examine(file, context)
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
            let path = Array(node.path)
            // `import class CoreData.NSManagedObject` names a declaration, and works.
            guard node.importKindSpecifier == nil, path.count > 1, path[0].name.text == "CoreData"
            else { return .skipChildren }
            result.edits.append(
                .removal(path[0].name.bytes.upperBound..<path[path.count - 1].bytes.upperBound))
            return .skipChildren
        }
    }
}
