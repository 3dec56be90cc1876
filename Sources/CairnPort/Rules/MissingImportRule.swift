// extension Bundle { var model: NSManagedObjectModel? {…} }
//
// Apple's compilers find names of Core Data in a file that does not import it, if another file of the module does. Macros
// and Linux want the import.

import SwiftSyntax

/// Imports Core Data where its names are used.
struct MissingImportRule: Rule {
    /// What the names of its classes begin with.
    private static let starts = [
        "NSAttributeDescription", "NSBatch", "NSEntityDescription", "NSFetchRequest",
        "NSFetchedResults", "NSManagedObject", "NSMergePolicy", "NSPersistent",
        "NSRelationshipDescription", "@CoreData.",
    ]

    /// What Foundation has on Apple's platforms, and this module on Linux.
    private static let foundation: Set = [
        "ValueTransformer", "NSValueTransformerName", "UndoManager",
    ]

    var words: [String] { Self.starts + Self.foundation }

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        let names = Names(own: context.code.types)
        names.walk(file.tree)
        guard names.isUsed, !names.isImported else { return Examination() }
        let place = names.firstImport ?? 0
        return Examination(edits: [.insertion("import CoreData" + file.lineEnd, at: place)])
    }

    private final class Names: LinuxVisitor {
        /// Types of the tree, which may be called like Core Data's.
        private let own: Set<String>
        private(set) var isUsed = false
        private(set) var isImported = false
        /// Where the first import that is compiled on each platform begins.
        private(set) var firstImport: Int?

        init(own: Set<String>) {
            self.own = own
            super.init()
        }

        override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
            let isWhole = node.importKindSpecifier == nil
            if isWhole, node.path.first?.name.text == "CoreData" { isImported = true }
            if firstImport == nil, node.parent?.parent?.parent?.is(SourceFileSyntax.self) == true {
                firstImport = node.bytes.lowerBound
            }
            return .skipChildren
        }

        override func visit(_ node: TokenSyntax) -> SyntaxVisitorContinueKind {
            if case .identifier(let text) = node.tokenKind, !own.contains(text) {
                isUsed =
                    isUsed || text == "CoreData" || foundation.contains(text)
                    || starts.contains(where: text.hasPrefix)
            }
            return .skipChildren
        }
    }
}
