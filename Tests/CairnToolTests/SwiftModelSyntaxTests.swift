// What the tool writes for models of real apps: Swift that parses, and in which the macros find nothing to refuse.

import CairnMacros
import CairnTestSupport
import Foundation
import SwiftParser
import SwiftSyntax
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import CairnTool

/// What is wrong with a generated file, and what is in it.
struct GeneratedSyntax {
    private(set) var problems: [String] = []
    private(set) var classes: [String] = []
    private(set) var structs: [String] = []

    init(_ text: String) throws {
        let file = Parser.parse(source: text)
        if file.hasError { problems.append("it does not parse") }
        for statement in file.statements {
            let context = BasicMacroExpansionContext()
            if let declaration = statement.item.as(ClassDeclSyntax.self) {
                classes.append(declaration.name.text)
                guard let mark = Self.mark("Entity", declaration.attributes) else {
                    problems.append("\(declaration.name.text) is not marked")
                    continue
                }
                _ = try EntityExpansion.expansion(
                    of: mark, providingMembersOf: declaration, conformingTo: [], in: context)
            } else if let declaration = statement.item.as(StructDeclSyntax.self) {
                structs.append(declaration.name.text)
                guard let mark = Self.mark("Composite", declaration.attributes) else {
                    problems.append("\(declaration.name.text) is not marked")
                    continue
                }
                _ = try CompositeExpansion.expansion(
                    of: mark, attachedTo: declaration,
                    providingExtensionsOf: TypeSyntax(stringLiteral: declaration.name.text),
                    conformingTo: [], in: context)
            } else if !statement.item.is(ImportDeclSyntax.self) {
                problems.append("it has something else: \(statement.trimmedDescription)")
            }
            problems += context.diagnostics.map { "\($0.message) at \($0.node.trimmedDescription)" }
        }
    }

    private static func mark(_ name: String, _ attributes: AttributeListSyntax) -> AttributeSyntax?
    {
        for case .attribute(let attribute) in attributes
        where attribute.attributeName.trimmedDescription == name {
            return attribute
        }
        return nil
    }
}

@Suite("What cairn model --swift writes")
struct SwiftModelSyntaxTests {
    @Test("It parses, and the macros refuse nothing of it", arguments: GeneratedModel.all)
    func own(_ model: GeneratedModel) throws {
        let syntax = try GeneratedSyntax(run(model.arguments).output)
        #expect(syntax.problems == [])
        #expect(
            Set(syntax.classes + syntax.structs).count == syntax.classes.count
                + syntax.structs.count)
    }

    private static let corpus: [String] = {
        let folder = Corpus.url("xcdatamodel").path
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
        return names.filter { $0.hasSuffix(".xml") }.sorted()
    }()

    @Test(
        "All models of real apps become classes, one for each entity",
        .enabled(if: Corpus.isAvailable))
    func real() throws {
        Corpus.noteUse()
        #expect(Self.corpus.count == 155)
        for name in Self.corpus {
            let path = Corpus.url("xcdatamodel/\(name)").path
            let made = cairn("model", path, "--swift")
            #expect(made.code == 0 && made.errors.isEmpty, "\(name): \(made.errors)")
            let syntax = try GeneratedSyntax(made.output)
            #expect(syntax.problems == [], "\(name)")
            let source = try ModelSource.read(path, version: nil)
            #expect(syntax.classes.count == source.model.entities.count, "\(name)")
            #expect(
                Set(syntax.classes + syntax.structs).count == syntax.classes.count
                    + syntax.structs.count)
            #expect(made.output == cairn("model", path, "--swift").output, "\(name)")
        }
    }
}
