// Bundle.module.url(forResource: "Shop", withExtension: "momd")
//
// Only Xcode compiles models. On Linux a model is read as Xcode's editor saves it, and has the ending that it has there. Where
// the code must build on a Mac as well, the file gets a constant with both.

import CairnMacros
import SwiftSyntax

/// Names models as they are saved instead of compiled ones.
struct ModelEndingRule: Rule {
    let words = ["mom", "cdm"]

    func examine(_ file: SourceFile, _ context: RuleContext) -> Examination {
        let visitor = Visitor(file, context)
        visitor.walk(file.tree)
        return visitor.result
    }

    /// An ending of compiled models.
    struct Ending {
        /// What Xcode writes.
        let compiled: String
        /// What its editor saves.
        let saved: String
        /// The constant with both.
        let constant: String

        static let all = [
            Ending(
                compiled: "momd", saved: "xcdatamodeld", constant: "builtModelExtension"),
            Ending(
                compiled: "mom", saved: "xcdatamodel", constant: "builtModelVersionExtension"),
            Ending(
                compiled: "cdm", saved: "xcmappingmodel", constant: "builtMappingModelExtension"),
        ]

        /// The declaration of the constant.
        func declaration(_ lineEnd: String) -> String {
            [
                "", "#if canImport(ObjectiveC)", "private let \(constant) = \"\(compiled)\"",
                "#else", "private let \(constant) = \"\(saved)\"", "#endif", "",
            ].joined(separator: lineEnd)
        }
    }

    private final class Visitor: RuleVisitor {
        private var declared: Set<String> = []

        override func visit(_ node: StringLiteralExprSyntax) -> SyntaxVisitorContinueKind {
            guard let last = node.segments.last?.as(StringSegmentSyntax.self),
                let ending = ending(last.content.text, isWhole: node.segments.count == 1)
            else { return .visitChildren }
            guard node.openingPounds == nil, node.openingQuote.tokenKind == .stringQuote else {
                remark(
                    node, "the name of a compiled model",
                    "only Xcode compiles models, so the file is missing",
                    "the ending \(ending.saved)")
                return .visitChildren
            }
            rename(node, last, ending)
            return .visitChildren
        }

        private func ending(_ text: String, isWhole: Bool) -> Ending? {
            let ending = Ending.all.first {
                (isWhole && text == $0.compiled) || text.hasSuffix(".\($0.compiled)")
            }
            // "mom" alone may be anybody's word.
            let isModel = context.usesCoreData || file.text.contains("momd")
            return ending?.compiled == "momd" || isModel ? ending : nil
        }

        private func rename(
            _ node: StringLiteralExprSyntax, _ last: StringSegmentSyntax, _ ending: Ending
        ) {
            let end = last.bytes.upperBound
            let suffix = end - ending.compiled.utf8.count..<end
            let saved = SourceEdit(suffix, ending.saved)
            // Raw values must be literals.
            let enumCase = node.ancestors.lazy.compactMap { $0.as(EnumCaseDeclSyntax.self) }.first
            if let enumCase {
                if let edits = PlatformBranches.edits(of: enumCase, [saved], file, context) {
                    result.edits += edits
                }
            } else if !context.buildsOnApple {
                result.edits.append(saved)
            } else {
                let isWhole = suffix.lowerBound == node.openingQuote.bytes.upperBound
                result.edits.append(
                    isWhole
                        ? SourceEdit(node.bytes, ending.constant)
                        : SourceEdit(suffix, "\\(\(ending.constant))"))
                declare(ending)
            }
        }

        private func declare(_ ending: Ending) {
            guard !file.text.contains("let \(ending.constant) ="),
                declared.insert(ending.constant).inserted
            else { return }
            let end = file.text.utf8.count
            let isClosed = file.text.isEmpty || file.text.hasSuffix(file.lineEnd)
            result.edits.append(
                .insertion(
                    (isClosed || declared.count > 1 ? "" : file.lineEnd)
                        + ending.declaration(file.lineEnd), at: end))
        }
    }
}
