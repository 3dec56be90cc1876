// What the tool writes for models of real apps: Swift that parses, and in which the macros find nothing to refuse.

import CairnMacros
import CairnModel
import CairnTestSupport
import Foundation
import SwiftDiagnostics
import SwiftParser
import SwiftSyntax
import SwiftSyntaxBuilder
import SwiftSyntaxMacroExpansion
import SwiftSyntaxMacros
import Testing

@testable import CairnTool

/// What is wrong with a generated file, and what is in it.
struct GeneratedSyntax {
    private(set) var problems: [String] = []
    private(set) var classes: [String] = []
    private(set) var structs: [String] = []

    /// Reads a file, and asks the macros as well if it is to be expanded.
    init(_ text: String, expanding: Bool = true) throws {
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
                guard expanding else { continue }
                _ = try EntityExpansion.expansion(
                    of: mark, providingMembersOf: declaration, conformingTo: [], in: context)
            } else if let declaration = statement.item.as(StructDeclSyntax.self) {
                structs.append(declaration.name.text)
                guard let mark = Self.mark("Composite", declaration.attributes) else {
                    problems.append("\(declaration.name.text) is not marked")
                    continue
                }
                guard expanding else { continue }
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
        let types = syntax.classes + syntax.structs
        #expect(Set(types).count == types.count)
        #expect(run(model.arguments).output == run(model.arguments).output)
    }

    /// The models of the corpus, and for each history of versions one, the last by name.
    private static let corpus: [(name: String, isSample: Bool)] = {
        let folder = Corpus.url("xcdatamodel").path
        let names = ((try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? [])
            .filter { $0.hasSuffix(".xml") }.sorted()
        let models = names.map { name in
            name.split(separator: "_").dropLast().joined(separator: "_")
        }
        let last = Dictionary(zip(models, names)) { $1 }
        return zip(models, names).map { ($1, last[$0] == $1) }
    }()

    @Test(
        "All models of real apps become classes that parse, one for each entity; the macros refuse nothing of one version of each",
        .enabled(if: Corpus.isAvailable))
    func real() throws {
        Corpus.noteUse()
        #expect(Self.corpus.count == 155)
        var random = RandomSource()
        for (name, isSample) in Campaign.sample(Self.corpus, oneIn: 5, using: &random) {
            let path = Corpus.url("xcdatamodel/\(name)").path
            let made = cairn("model", path, "--swift")
            #expect(made.code == 0 && made.errors.isEmpty, "\(name): \(made.errors)")
            let syntax = try GeneratedSyntax(made.output, expanding: isSample)
            #expect(syntax.problems == [], "\(name)")
            let types = syntax.classes + syntax.structs
            #expect(Set(types).count == types.count, "\(name)")
            let model = try ManagedObjectModel(contentsOfFile: path)
            #expect(syntax.classes.count == model.entities.count, "\(name)")
        }
    }
}
