// Which name of an old version a name of a new one is.

import CairnTestSupport
import Testing

@testable import CairnModel

@Suite("Matching names and renaming identifiers")
struct RenamingMatchTests {
    /// Reads "name" and "name<identifier".
    private static func named(_ text: String) -> [RenamingMatch.Named] {
        text.split(separator: " ").map { word in
            let parts = word.split(separator: "<").map(String.init)
            return .init(parts[0], parts.count > 1 ? parts[1] : nil)
        }
    }

    /// The match as "new=old …", in the order of the new ones; without "=" for one that is new.
    private static func match(_ old: String, _ new: String) -> String {
        let (old, new) = (named(old), named(new))
        let match = RenamingMatch(old, new)
        return zip(new, match.sources).enumerated().map { index, pair in
            let rival = match.rivals[index].map { "!\(old[$0].name)" } ?? ""
            return pair.0.name + (pair.1.map { "=\(old[$0].name)" } ?? "") + rival
        }.joined(separator: " ")
    }

    @Test(
        "An old one is found by name, by identifier, and over chains",
        arguments: [
            ("a b", "a b", "a=a b=b"),
            ("a b", "a c", "a=a c"),
            ("a", "b<a", "b=a"),
            // Over several versions that all name the first.
            ("b<a", "c<a", "c=b"),
            ("a", "c<a", "c=a"),
            // A chain: each names the one before.
            ("b<a", "c<b", "c=b"),
            // Two that change names, once and when the version after that says so still.
            ("a b", "a<b b<a", "a=b b=a"),
            ("a<b b<a", "a<b b<a", "a=a b=b"),
            // A renaming taken back, and one of two.
            ("b<a", "a", "a=b"),
            ("a<b b<a", "a b", "a=b b=a"),
            // An identifier left over from long ago.
            ("b<a", "b", "b=b"),
            ("b", "b<a", "b=b"),
            ("b<a", "b<z", "b=b"),
            // Renamed, and a new one under the old name.
            ("a", "a c<a", "a c=a"),
            ("c<a", "a c<a", "a c=c"),
            // An identifier that says what the name says.
            ("a", "a<a", "a=a"),
            // Two that say they were the same.
            ("a", "b<a c<a", "b=a c!a"),
            ("a b", "b<a c<a", "b=a c!a"),
            ("", "a", "a"),
        ])
    func match(old: String, new: String, expected: String) {
        #expect(Self.match(old, new) == expected)
    }

    @Test("The orders of both sides mean nothing, and nobody is matched twice")
    func orders() {
        Rounds.run("renaming matches", everyDay: 300, whole: 100_000) { random in
            let letters = ["a", "b", "c", "d", "e", "f"]
            func some() -> [RenamingMatch.Named] {
                letters.filter { _ in Bool.random(using: &random) }.map { name in
                    .init(name, random.oneIn(2) ? letters.randomElement(using: &random) : nil)
                }
            }
            let (old, new) = (some(), some())
            func pairs(_ old: [RenamingMatch.Named], _ new: [RenamingMatch.Named]) -> [String:
                String]
            {
                let match = RenamingMatch(old, new)
                var pairs: [String: String] = [:]
                for (one, source) in zip(new, match.sources) {
                    if let source { pairs[one.name] = old[source].name }
                }
                return pairs
            }
            let expected = pairs(old, new)
            #expect(Set(expected.values).count == expected.count)
            #expect(pairs(old.shuffled(using: &random), new.shuffled(using: &random)) == expected)
            #expect(
                pairs(old, old) == Dictionary(uniqueKeysWithValues: old.map { ($0.name, $0.name) }))
            // What has the same name is never new and gone at once.
            let gone = Set(old.map(\.name)).subtracting(expected.values)
            let fresh = Set(new.map(\.name)).subtracting(expected.keys)
            #expect(gone.isDisjoint(with: fresh))
        }
    }
}
