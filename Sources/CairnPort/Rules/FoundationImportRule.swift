// import Foundation, where NSExpression, NSComparisonPredicate or NSCompoundPredicate is used
//
// Foundation of Linux has the first two without a way to create one, and objects of the third do not know what they say; the
// module CoreData has its own. As a type, such a name is ambiguous in a file that imports Foundation, or XCTest, which brings it
// along. An import of the class itself decides, on each platform.

import CairnMacros
import SwiftSyntax

/// Imports Core Data's class where Foundation has another one.
struct FoundationImportRule: Rule {
    let words = ["NSExpression", "NSComparisonPredicate", "NSCompoundPredicate"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        let names = Names()
        names.walk(file.tree)
        let missing = names.used.subtracting(names.imported).sorted()
        guard let place = names.place, names.importsOthers || !names.importsCoreData,
            !missing.isEmpty
        else { return Examination() }
        let start = file.lineStart(before: place.bytes.lowerBound)
        let indent = String(start.prefix { $0 == " " || $0 == "\t" })
        let access = place.modifiers.trimmedDescription
        let lines = missing.map { name in
            "\(indent)\(access.isEmpty ? "" : access + " ")import class CoreData.\(name)\(file.lineEnd)"
        }
        let next = file.nextLine(after: place.bytes.upperBound)
        let isLast = next == file.text.utf8.count && !file.text.hasSuffix(file.lineEnd)
        return Examination(
            edits: [.insertion((isLast ? file.lineEnd : "") + lines.joined(), at: next)])
    }

    /// What a file imports, and which of the classes it names.
    private final class Names: LinuxVisitor {
        private static let classes: Set = [
            "NSExpression", "NSComparisonPredicate", "NSCompoundPredicate",
        ]
        private(set) var used: Set<String> = []
        private(set) var imported: Set<String> = []
        private(set) var importsCoreData = false
        /// Whether anything comes from a module other than Core Data.
        private(set) var importsOthers = false
        /// The import after which those of classes stand: that of Core Data, or else the last one.
        private(set) var place: ImportDeclSyntax?

        override func visit(_ node: ImportDeclSyntax) -> SyntaxVisitorContinueKind {
            let path = node.path.map(\.name.plainText)
            if node.importKindSpecifier != nil {
                if path.first == "CoreData", path.count == 2 { imported.insert(path[1]) }
                return .skipChildren
            }
            if path.first == "CoreData" { importsCoreData = true } else { importsOthers = true }
            if place?.path.first?.name.plainText != "CoreData" { place = node }
            return .skipChildren
        }

        override func visit(_ node: TokenSyntax) -> SyntaxVisitorContinueKind {
            if Self.classes.contains(node.text) { used.insert(node.text) }
            return .skipChildren
        }
    }
}
