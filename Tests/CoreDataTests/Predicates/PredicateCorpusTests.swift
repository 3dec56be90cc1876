// The predicates of other people's programs, through Foundation's class.

import CairnModel
import CairnTestSupport
import CoreData
import Testing

@testable import CoreData

@Suite("Predicates of other people, with Core Data's names")
struct PredicateCorpusTests {
    @Test(
        "every format that Cairn reads becomes a predicate that says the same",
        .enabled(if: Corpus.isAvailable))
    func corpus() throws {
        Corpus.noteUse("formatsOfNSPredicate")
        let text = try String(contentsOf: Corpus.url("predicates.tsv"), encoding: .utf8)
        var count = 0
        for line in text.split(separator: "\n").dropFirst() {
            let columns = line.split(separator: "\t", omittingEmptySubsequences: false)
            // Those without placeholders: the others are read with arguments elsewhere.
            let format = String(columns[2].isEmpty ? columns[0] : columns[2])
            guard !format.contains("%"), let node = try? PredicateNode(format: format) else {
                continue
            }
            let predicate = NSPredicate(format: format)
            #expect(try predicate.node == node, "\(format)")
            // What is written is read as what is written so.
            let written = predicate.description
            #expect(written == node.format(.coreData))
            #expect(NSPredicate(format: written).description == written)
            // Taken apart and put together again it is the same.
            #expect(try Self.again(predicate).node == node, "\(format)")
            count += 1
        }
        #expect(count > 150, "\(count)")
    }

    private static func again(_ predicate: NSPredicate) -> NSPredicate {
        switch predicate {
        case let joined as NSCompoundPredicate:
            NSCompoundPredicate(
                type: joined.compoundPredicateType, subpredicates: joined.subpredicates.map(again))
        case let comparison as NSComparisonPredicate:
            NSComparisonPredicate(
                leftExpression: comparison.leftExpression,
                rightExpression: comparison.rightExpression,
                modifier: comparison.comparisonPredicateModifier,
                type: comparison.predicateOperatorType, options: comparison.options)
        default: predicate
        }
    }
}
