// Damaged and hostile texts give errors. Nothing traps, whatever stands in a file.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Damaged texts")
struct HostileInputTests {
    private static let body = """
        <entity name="A" isAbstract="YES" representedClassName=".A">
        <attribute name="x" attributeType="Decimal" minValueString="0" maxValueString="9" defaultValueString="1.5"/>
        <attribute name="d" optional="YES" attributeType="Date" defaultDateTimeInterval="5"/>
        <attribute name="s" attributeType="String" regularExpressionString="[a-z]+" maxValueString="5"/>
        <attribute name="c" optional="YES" attributeType="Composite" composite="C"/>
        <relationship name="b" toMany="YES" minCount="1" destinationEntity="B" inverseName="a" inverseEntity="B"/>
        <uniquenessConstraints><uniquenessConstraint><constraint value="x"/></uniquenessConstraint></uniquenessConstraints>
        <fetchIndex name="i"><fetchIndexElement property="x" type="Binary" order="ascending"/></fetchIndex>
        </entity>
        <entity name="B" parentEntity="A"><relationship name="a" maxCount="1" destinationEntity="A" inverseName="b" inverseEntity="A"/></entity>
        <composite name="C"><attribute name="e" attributeType="Integer 16" defaultValueString="7"/></composite>
        """

    @Test("A model file with damaged bytes is a model or an error with its line")
    func models() throws {
        var random = RandomSource()
        let whole = [UInt8](ModelText.file(Self.body))
        _ = try ModelFile(xml: Data(whole))
        var broken = 0
        for _ in 0..<1500 {
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[place] = UInt8(truncatingIfNeeded: random.next())
                case 1: bytes.remove(at: place)
                case 2:
                    bytes[place] = [48, 57, 45, 46, 65, 66][Int.random(in: 0..<6, using: &random)]
                default: bytes.removeSubrange(place..<min(place + 20, bytes.count))
                }
            }
            do {
                let file = try ModelFile(xml: Data(bytes), file: "damaged")
                _ = ModelDescription(file.model).description
                _ = try file.model.json()
            } catch let error as ModelError {
                broken += 1
                #expect(error.line != nil, "\(error)")
                #expect(error.file == "damaged")
            }
        }
        #expect(broken > 500)
    }

    @Test("Words of the predicate language in any order are a predicate or an error with its place")
    func predicates() throws {
        var random = RandomSource()
        let words = [
            "a", "b.c", "==", "!=", "<", ">=", "IN", "BETWEEN", "NOT", "AND", "OR", "&&", "!", "(",
            ")",
            "{", "}", ",", "1", "-2.5", "1e9", "'x'", "\"", "'", "%@", "%K", "NULL", "TRUE", "SELF",
            "#in",
            "TRUEPREDICATE", "ANY", "@count", ".", "[c]", "$x", "LIKE", "\\", "é", "0x", "1e", "-",
            "%",
        ]
        var good = 0
        let rounds = Campaign.count(5_000, whole: 500_000)
        for _ in 0..<rounds {
            // Comparisons, some of them with a few tokens that do not belong there.
            var tokens: [String] = []
            for part in 0..<Int.random(in: 1...3, using: &random) {
                if part > 0 { tokens.append(random.oneIn(2) ? "AND" : "OR") }
                let pair = ["a", "1"].shuffled(using: &random)
                let sign = ["==", "<", "!="].randomElement(using: &random) ?? "=="
                tokens += [pair[0], sign, pair[1]]
            }
            for _ in 0..<Int.random(in: 0...4, using: &random) {
                let place = Int.random(in: 0..<tokens.count, using: &random)
                tokens[place] = words.randomElement(using: &random) ?? ""
            }
            let format = tokens.joined(separator: random.oneIn(4) ? "" : " ")
            do {
                let node = try PredicateNode(
                    format: format,
                    format.contains("%@") || format.contains("%K") ? [.string("k")] : [])
                #expect(try PredicateNode(format: node.predicateFormat) == node, "\(format)")
                good += 1
            } catch {
                let offset = error.offset ?? -1
                #expect((0...format.count).contains(offset), "\(format)")
            }
        }
        #expect(good * 20 > rounds)
    }

    @Test(
        "Composites in one another fill neither the stack nor the memory",
        arguments: [(count: 20_000, width: 1), (count: 40, width: 2)])
    func composites(_ shape: (count: Int, width: Int)) throws {
        var xml = "<model>"
        for level in 0..<shape.count {
            xml += "<composite name=\"C\(level)\">"
            for part in 0..<shape.width {
                xml +=
                    level + 1 < shape.count
                    ? "<attribute name=\"a\(part)\" attributeType=\"Composite\" composite=\"C\(level + 1)\"/>"
                    : "<attribute name=\"a\(part)\" attributeType=\"String\"/>"
            }
            xml += "</composite>"
        }
        xml += """
            <entity name="A"><attribute name="x" attributeType="Composite" composite="C0"/>\
            </entity></model>
            """
        let error = #expect(throws: ModelError.self) { try ModelFile(xml: Data(xml.utf8)) }
        #expect(error?.code == .invalidElement)
        #expect(error?.line == 1)
    }
}
