// Expands macros as the compiler would, without compiling what comes out.

import CairnMacros
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros

/// Source text after expansion, and what the macros said about it.
struct Expansion {
    /// The text after expansion.
    let text: String
    /// The text with single spaces: where lines break is the formatter's business.
    var words: String { Self.words(text) }
    /// Line, column and sentence of each report, in the order of the places.
    let reports: [String]

    init(_ source: String) {
        let file = Parser.parse(source: source)
        let context = BasicMacroExpansionContext(
            sourceFiles: [file: .init(moduleName: "Test", fullFilePath: "test.swift")])
        let expanded = file.expand(
            macroSpecs: Self.macros,
            contextGenerator: {
                BasicMacroExpansionContext(
                    sharingWith: context, lexicalContext: $0.allMacroLexicalContexts())
            }, indentationWidth: .spaces(4))
        text = expanded.description
        reports = context.diagnostics.map { diagnostic in
            let place = context.location(
                for: diagnostic.position, anchoredAt: diagnostic.node, fileName: "")
            return (place.line, place.column, diagnostic.message)
        }.sorted { ($0.0, $0.1) < ($1.0, $1.1) }.map { "\($0.0):\($0.1) \($0.2)" }
    }

    /// A text with single spaces.
    static func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }

    private static let macros: [String: MacroSpec] = [
        "Entity": MacroSpec(
            type: EntityExpansion.self, conformances: ["Cairn.PersistentEntity"]),
        "_Persisted": MacroSpec(type: PersistedExpansion.self),
        "Attribute": MacroSpec(type: MarkExpansion.self),
        "Relationship": MacroSpec(type: MarkExpansion.self),
        "Transient": MacroSpec(type: MarkExpansion.self),
        "Unique": MacroSpec(type: KeyListExpansion.self),
        "Index": MacroSpec(type: KeyListExpansion.self),
        "NSManaged": MacroSpec(type: ManagedExpansion.self),
        "NSManagedAccessor": MacroSpec(type: ManagedAccessorExpansion.self),
        "Composite": MacroSpec(
            type: CompositeExpansion.self, conformances: ["Cairn.CompositeValue"]),
    ]
}
