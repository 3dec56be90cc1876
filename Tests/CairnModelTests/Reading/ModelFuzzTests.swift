// Texts of models and predicates with something changed: what they say, or an error with its place; never a
// trap, a hang, or memory without a limit.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Fuzzed models and predicates")
struct ModelFuzzTests {
    private static let body = """
        <entity name="A" isAbstract="YES" representedClassName=".A" codeGenerationType="class">
        <attribute name="x" attributeType="Decimal" minValueString="0" maxValueString="9" defaultValueString="1.5"/>
        <attribute name="d" optional="YES" attributeType="Date" defaultDateTimeInterval="5"/>
        <attribute name="s" attributeType="String" regularExpressionString="[a-z]+" maxValueString="5"/>
        <attribute name="u" optional="YES" attributeType="URI" defaultValueString="http://a.b/c"/>
        <attribute name="t" optional="YES" attributeType="Transformable" valueTransformerName="T"/>
        <attribute name="c" optional="YES" attributeType="Composite" composite="C"/>
        <relationship name="b" toMany="YES" minCount="1" ordered="YES" deletionRule="Cascade" destinationEntity="B" inverseName="a" inverseEntity="B"/>
        <fetchedProperty name="f"><fetchRequest entity="B" predicateString="x &gt; 1"/></fetchedProperty>
        <uniquenessConstraints><uniquenessConstraint><constraint value="x"/></uniquenessConstraint></uniquenessConstraints>
        <fetchIndex name="i"><fetchIndexElement property="x" type="Binary" order="ascending"/></fetchIndex>
        <userInfo><entry key="k" value="&#x41;&amp;"/></userInfo>
        </entity>
        <entity name="B" parentEntity="A"><relationship name="a" maxCount="1" destinationEntity="A" inverseName="b" inverseEntity="A"/></entity>
        <composite name="C"><attribute name="e" attributeType="Integer 16" defaultValueString="7"/></composite>
        <configuration name="Default"><memberEntity name="A"/></configuration>
        <fetchRequest name="R" entity="A" predicateString="s LIKE &quot;x*&quot;"/>
        """

    private static func words(_ words: String) -> [[UInt8]] {
        words.split(separator: " ").map { Array($0.utf8) }
    }

    private static let xmlWords = words(
        """
        <entity </entity> <attribute <relationship <composite /> > < " ' & &amp; &#x0; &#1114112; &lt <!-- -->
        <![CDATA[ ]]> <? ?> <!DOCTYPE name="A" name="B" name="" parentEntity="B" parentEntity="A" YES NO -1 1e999
        99999999999999999999 0x 1e400 NaN inf attributeType="Integer attributeType="Decimal" toMany="YES"
        minCount="-1" maxCount="99999999999" composite="C" \u{0} \u{feff} é 日 destinationEntity="C"
        """)

    @Test("A changed XML file is a model, or an error with its line")
    func xml() throws {
        let whole = Array(ModelText.file(Self.body))
        _ = try ModelFile(xml: Data(whole))
        var models = 0
        var errors = 0
        try Rounds.run("fuzzed XML", everyDay: 500, whole: 1_000_000) { random in
            var bytes = whole
            random.mutate(&bytes, words: Self.xmlWords)
            if random.oneIn(30) {
                // In the other encoding.
                let text = String(decoding: bytes, as: UTF8.self)
                bytes = [0xFF, 0xFE]
                for unit in text.utf16 {
                    bytes += [UInt8(truncatingIfNeeded: unit), UInt8(unit >> 8)]
                }
                if random.oneIn(2) { random.mutate(&bytes) }
            }
            do {
                let file = try ModelFile(xml: Data(bytes), file: "fuzzed")
                models += 1
                _ = ModelDescription(file.model).description
                _ = try file.model.json()
            } catch let error as ModelError {
                errors += 1
                if error.line == nil || error.file != "fuzzed" {
                    Issue.record("seed \(random.seed): no place: \(error)")
                }
            }
        }
        #expect(models > 0 && errors > 0)
    }

    @Test("A changed JSON model is a model, or an error")
    func json() throws {
        let model = try ModelFile(xml: ModelText.file(Self.body)).model
        let whole = Array(try model.json().utf8)
        let words = Self.words(
            """
            { } [ ] , : " null true false -1 1e999 99999999999999999999 "entities" "attributes" "type" "string"
            "integer16" "decimal" "composite" "elements" "default" "superentity" \\u0000 \\ud800 "A" "B"
            """)
        var models = 0
        var errors = 0
        Rounds.run("fuzzed JSON model", everyDay: 400, whole: 300_000) { random in
            var bytes = whole
            random.mutate(&bytes, words: words)
            do {
                let model = try JSONDecoder().decode(ManagedObjectModel.self, from: Data(bytes))
                _ = try Schema(model)
                _ = ModelDescription(model).description
                models += 1
            } catch {
                errors += 1
            }
        }
        #expect(models > 0 && errors > 0)
    }

    private static let formats = [
        "a == 1 AND (b.c < 2.5 OR NOT d IN {1, 2, 3})", "s BETWEEN {1, 'x'} && SELF != NULL",
        "name == \"it's\\n\\u0041\" OR #'first name' >= -1e-3", "x IN %@ AND %K == %@",
        "TRUEPREDICATE && !(a <> 0x1F)", "0b11 =< b", "objectID == 'x-coredata://A/B/p1'",
    ]

    @Test(
        "A changed predicate is one that reads back the same and can be bound, or an error with its place"
    )
    func predicates() throws {
        let schema = try Schema(
            ManagedObjectModel(entities: [
                EntityDescription(
                    "A",
                    attributes: [
                        .init("a", .integer16), .init("b", .double), .init("s", .string),
                        .init("d", .date), .init("x", .decimal), .init("name", .uri),
                        .init("u", .uuid), .init("p", .binary), .init("f", .float),
                        .init("t", .boolean),
                    ])
            ]))
        let words = Self.words(
            """
            a b.c s d x name u p f t == != < >= IN BETWEEN NOT AND OR && ! ( ) { } , 1 -2.5 1e9 1e-400 'x' " ' %@ %K
            %% %d NULL TRUE SELF #in #' TRUEPREDICATE ANY @count . [c] $x LIKE \\ \\u \\uD800 é 0x 1e - %
            -9223372036854775808 99999999999999999999999999999999999999999 ((((((((((((((((
            NOT\u{a0}NOT !!!!!!!!!!!!!!!! {{{{{{{{
            """)
        var good = 0
        var bound = 0
        Rounds.run("fuzzed predicates", everyDay: 1000, whole: 1_000_000) { random in
            let format = Self.formats.randomElement(using: &random) ?? ""
            var bytes = Array(format.utf8)
            random.mutate(&bytes, words: words)
            let text = String(decoding: bytes, as: UTF8.self)
            do throws(PredicateFormatError) {
                let list = PredicateParser.Argument.list([.integer(1), .string("x"), .null])
                let arguments: [PredicateParser.Argument] =
                    format.contains("%") ? [list, .value(.string("k")), .value(.double(1))] : []
                let node = try PredicateNode(format: text, arguments: arguments)
                good += 1
                if (try? PredicateNode(format: node.predicateFormat)) != node,
                    !format.contains("%")
                {
                    Issue.record("seed \(random.seed): \(text) becomes \(node.predicateFormat)")
                }
                if (try? node.bound(to: schema.entities[0])) != nil { bound += 1 }
            } catch {
                let offset = error.offset ?? 0
                if !(0...text.count).contains(offset) {
                    Issue.record("seed \(random.seed): offset \(offset) in \(text)")
                }
            }
        }
        #expect(good > 0 && bound > 0)
    }

    @Test("Changed predicates of other people", .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse()
        let lines = String(decoding: try Corpus.data("predicates.tsv"), as: UTF8.self)
            .split(separator: "\n").flatMap { $0.split(separator: "\t") }.map { Array($0.utf8) }
        Rounds.run("fuzzed predicates of others", everyDay: 500, whole: 500_000) { random in
            var bytes = lines.randomElement(using: &random) ?? []
            random.mutate(&bytes, words: lines)
            if let node = try? PredicateNode(format: String(decoding: bytes, as: UTF8.self)) {
                _ = try? PredicateNode(format: node.predicateFormat)
            }
        }
    }
}
