// The steps from one version of a real app's model to the next, as the corpus lists them.

package import Foundation

/// A line of the corpus's SEQUENCES.tsv.
package struct CorpusStep: Sendable {
    /// The app and its model, such as "RestKit/RestKit:VersionedModel.xcdatamodeld".
    package let sequence: String
    /// The file of the version before, in the corpus's folder of models.
    package let from: String
    /// The file of the version after.
    package let to: String
    /// Whether a mapping can be inferred, in the list's words: "yes", "no", "if no duplicates" and so on.
    package let inferable: String
    /// Why not, each such as "attribute type changed: Item.givenURL". Of very many the list has the first ones.
    package let reasons: [String]

    /// Where a model's file lies.
    package static func url(_ file: String) -> URL { Corpus.url("xcdatamodel/\(file)") }

    /// All steps, in the order of the list.
    package static func all() throws -> [CorpusStep] {
        let text = try String(contentsOf: Corpus.url("xcdatamodel/SEQUENCES.tsv"), encoding: .utf8)
        return text.split(separator: "\n").dropFirst().map { line in
            let cells = line.split(separator: "\t", omittingEmptySubsequences: false).map(
                String.init)
            // What is longer is cut off.
            var reasons = cells[7].isEmpty ? [] : cells[7].components(separatedBy: "; ")
            if cells[7].utf8.count >= 600 { reasons.removeLast() }
            return CorpusStep(
                sequence: cells[0], from: cells[2], to: cells[3], inferable: cells[6],
                reasons: reasons)
        }
    }

    /// A sequence with more steps is long.
    package static let longFrom = 8

    /// Some of the steps: every day all of the short sequences, and a stretch of each long one, of one in so many of its steps.
    package static func sample(
        _ steps: [CorpusStep], oneIn everyDay: Int, using random: inout some RandomNumberGenerator
    ) -> [CorpusStep] {
        let sequences = Dictionary(grouping: steps.indices) { steps[$0].sequence }
        var places: [Int] = []
        for name in sequences.keys.sorted() {
            let all = sequences[name] ?? []
            let step = all.count > longFrom ? Campaign.step(everyDay) : 1
            let length = (all.count + step - 1) / step
            let first = Int.random(in: 0...all.count - length, using: &random)
            places += all[first..<first + length]
        }
        return places.sorted().map { steps[$0] }
    }

    /// The names of the sequences, the longest first, so that tests of all of them end together; none without the corpus.
    package static let sequences: [String] = {
        guard Corpus.isAvailable, let steps = try? all() else { return [] }
        let counts = Dictionary(grouping: steps, by: \.sequence).mapValues(\.count)
        return counts.keys.sorted { (counts[$1] ?? 0, $0) < (counts[$0] ?? 0, $1) }
    }()
}
