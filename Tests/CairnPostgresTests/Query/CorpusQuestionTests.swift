// The predicates of other people's programs, asked of both kinds of stores.
//
// They come without their models. The keys of each become properties of a model of ours, by chance, until all of it fits.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import PostgresServers
import Testing

@testable import CairnPostgres

@Suite(
    "Predicates of other people, asked of a server",
    .enabled(if: PostgresServer.isInstalled && Corpus.isAvailable))
struct CorpusQuestionTests {
    /// So many ways to give the keys properties are tried.
    private static let tries = 400

    /// An argument for each placeholder: a key, a text, a number, or, behind IN and BETWEEN, a list.
    private static func arguments(for format: String, _ random: inout RandomSource)
        -> [PredicateParser.Argument]
    {
        var arguments: [PredicateParser.Argument] = []
        var quote: Character?
        var before = ""
        var rest = format[...]
        let isText = random.oneIn(2)
        while let character = rest.popFirst() {
            if let mark = quote {
                if character == mark { quote = nil }
                continue
            }
            if character == "'" || character == "\"" { quote = character }
            guard character == "%" else {
                before.append(character)
                continue
            }
            let name = rest.drop { "lhqztjL0123456789.".contains($0) }.first
            let word = before.uppercased().trimmingCharacters(
                in: CharacterSet(charactersIn: " ([cdnl]"))
            func value() -> Value {
                isText
                    ? .string(AskedValue.text(&random))
                    : .integer(Int64.random(in: -1...3, using: &random))
            }
            switch name {
            case "K": arguments.append(.value(.string("key\(arguments.count)")))
            case "s": arguments.append(.value(.string(AskedValue.text(&random))))
            case "d", "i", "u", "f", "c": arguments.append(.value(.integer(1)))
            case "@" where word.hasSuffix("IN") || word.hasSuffix("BETWEEN"):
                arguments.append(.list([value(), value()]))
            default: arguments.append(.value(value()))
            }
        }
        return arguments
    }

    /// Properties for keys, the same one for the same key.
    private struct Keys {
        let schema: Schema
        var known: [String: String] = [:]
        var random: RandomSource

        mutating func property(_ key: String) -> String {
            if let name = known[key] { return name }
            var entity = AskedValue.pick(schema.entities, &random)
            // Most are about things, so that most keys are of them.
            if !random.oneIn(3) { entity = schema.entities[0] }
            var names = entity.columns.map(\.name)
            names += entity.relationships.flatMap { [$0.description.name, $0.description.name] }
            let name = AskedValue.pick(names, &random)
            known[key] = name
            return name
        }

        /// A path key by key. What is no key of an entity stays.
        mutating func path(_ path: String) -> String {
            path.split(separator: ".").map { key in
                switch key {
                case "self", "SELF", "objectID", "length", "count": String(key)
                default: key.hasPrefix("@") ? String(key) : property(String(key))
                }
            }.joined(separator: ".")
        }

        mutating func node(_ node: PredicateNode) -> PredicateNode {
            switch node {
            case .constant: return node
            case .and(let parts): return .and(parts.map { self.node($0) })
            case .or(let parts): return .or(parts.map { self.node($0) })
            case .not(let part): return .not(self.node(part))
            case .comparison(let comparison):
                return .compare(
                    expression(comparison.left), comparison.operator, expression(comparison.right),
                    modifier: comparison.modifier, options: comparison.options)
            }
        }

        private mutating func expressions(_ nodes: [ExpressionNode]) -> [ExpressionNode] {
            nodes.map { expression($0) }
        }

        private mutating func expression(_ node: ExpressionNode) -> ExpressionNode {
            switch node {
            case .keyPath(let path): return .keyPath(self.path(path))
            case .path(let base, let path): return .path(of: expression(base), self.path(path))
            case .collection(let operation, let base, let path):
                return .collection(
                    operation, of: expression(base), path: path.map { self.path($0) })
            case .index(let base, let index): return .index(of: expression(base), index)
            case .function(let function, let parts):
                return .function(function, expressions(parts))
            case .aggregate(let parts): return .aggregate(expressions(parts))
            case .cast(let base, let type): return .cast(expression(base), to: type)
            case .conditional(let test, let one, let other):
                return .conditional(self.node(test), expression(one), expression(other))
            case .subquery(let collection, let variable, let condition):
                return .subquery(
                    expression(collection), variable: variable, self.node(condition))
            case .set(let operation, let left, let right):
                return .set(operation, expression(left), expression(right))
            default: return node
            }
        }
    }

    /// A condition on an entity of the schema like one of the corpus; nil if none of those that were tried fits.
    private func fitting(_ format: String, _ schema: Schema, _ random: inout RandomSource)
        -> (PredicateNode, SchemaEntity)?
    {
        for _ in 0..<Self.tries {
            let arguments = Self.arguments(for: format, &random)
            guard let node = try? PredicateNode(format: format, arguments: arguments) else {
                return nil
            }
            var keys = Keys(schema: schema, random: RandomSource(seed: random.next()))
            let entity =
                random.oneIn(3) ? AskedValue.pick(schema.entities, &random) : schema.entities[0]
            let fitting = keys.node(node)
            if let bound = try? fitting.boundForStore(to: entity, in: schema) {
                return (bound, entity)
            }
        }
        return nil
    }

    @Test("Each predicate of the corpus finds what it finds in memory")
    func corpus() throws {
        Corpus.noteUse()
        let text = try String(contentsOf: Corpus.url("predicates.tsv"), encoding: .utf8)
        let formats = text.split(separator: "\n").dropFirst().compactMap { line in
            line.split(separator: "\t", omittingEmptySubsequences: false).first.map(String.init)
        }
        var random = RandomSource("predicates of the corpus asked of a server")
        let schema = try AskedModel.schema()
        let content = AskedContent(schema, &random)
        let server = try PostgresServer.shared()
        let name = server.newName("corpus")
        let store = try PostgresStore.open(server.url(["cairn_schema": name]), schema: schema)
        defer { _ = try? server.run("DROP SCHEMA \(name) CASCADE") }
        let memory = try LogStore.inMemory(schema: schema)
        let stored = try content.fill(store)
        let expected = try content.fill(memory)
        let (asked, known) = (try store.snapshot(), try memory.snapshot())
        var (fitted, telling, inServer) = (0, 0, 0)
        for format in Set(formats).sorted() {
            guard let (node, entity) = fitting(format, schema, &random) else { continue }
            // What asks for the time of day may find another one.
            if node.description.contains("now()") || node.description.contains("random") {
                continue
            }
            fitted += 1
            let fetch = StoreFetch(entity: entity.index, predicate: node)
            let found = try asked.fetch(fetch)
            let wanted = try known.fetch(fetch).ids.map { expected.places[$0] }
            #expect(
                found.ids.map { stored.places[$0] } == wanted,
                "\(format) as \(node) of \(entity.name), \(found.plan), seed \(random.seed)")
            #expect(try asked.count(fetch) == wanted.count)
            if !wanted.isEmpty { telling += 1 }
            if !found.plan.hasSuffix("here") { inServer += 1 }
        }
        Campaign.report(
            "predicates of the corpus: \(telling) found something, \(inServer) by the server alone",
            fitted)
        #expect(fitted > 500, "\(fitted)")
        #expect(telling > 100, "\(telling)")
        #expect(inServer * 2 > fitted, "\(inServer)")
        try store.close()
        try memory.close()
    }
}
