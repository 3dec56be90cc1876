// import UIKit
//
// Modules that Linux does not have. A file of the user interface does not belong into a target for Linux.

import SwiftSyntax

/// Reports imports of Apple's modules.
struct ImportReport: Rule {
    let words = ["import "]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        context.usesCoreData ? Visitor.examine(file, context) : Examination()
    }

    private final class Visitor: RuleVisitor {
        override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
            let path = node.path.trimmedDescription
            let module = node.path.first?.name.text ?? ""
            if AppleModules.interface.contains(module) {
                remark(
                    node, "import \(path)",
                    "Linux has no \(module), so this file cannot compile there",
                    "leave the file out of the target for Linux, or move what uses Core Data to another file"
                )
            } else if let advice = AppleModules.others[path] ?? AppleModules.others[module] {
                remark(node, "import \(path)", "Linux has no \(module)", advice)
            }
            return .skipChildren
        }
    }
}
