// Differences of texts, and changes of them. That git applies the differences is tested with whole trees.

import CairnTestSupport
import Testing

@testable import CairnPort

@Suite("Differences line by line")
struct LineDifferenceTests {
    @Test("a hunk has the lines around a change, and far changes have hunks of their own")
    func hunks() {
        let old = (1...20).map { "\($0)\n" }.joined()
        let new = old.replacing("2\n", with: "two\n", maxReplacements: 1)
            .replacing("18\n", with: "")
        #expect(
            LineDifference(from: old, to: new).unified(path: "a/b.swift", isNew: false) == """
                --- a/a/b.swift
                +++ b/a/b.swift
                @@ -1,5 +1,5 @@
                 1
                -2
                +two
                 3
                 4
                 5
                @@ -15,6 +15,5 @@
                 15
                 16
                 17
                -18
                 19
                 20

                """)
    }

    @Test(
        "random texts: lines that stay are mapped to themselves, and the counts are those of the diff"
    )
    func random() {
        var random = RandomSource()
        for _ in 0..<300 {
            let old = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Int.random(in: 0...3, using: &random)
            }
            let new = (0..<Int.random(in: 0...12, using: &random)).map { _ in
                Int.random(in: 0...3, using: &random)
            }
            let texts = [old, new].map { $0.map { "\($0)\n" }.joined() }
            let difference = LineDifference(from: texts[0], to: texts[1])
            #expect(new.count - old.count == difference.addedLines - difference.changedLines)
            let body = difference.unified(path: "x", isNew: false).split(separator: "\n").dropFirst(
                2)
            #expect(body.count { $0.hasPrefix("-") } == difference.changedLines)
            #expect(body.count { $0.hasPrefix("+") } == difference.addedLines)
            var last = 0
            for line in new.indices {
                let origin = difference.oldLine(of: line + 1)
                #expect(origin >= last && origin <= max(1, old.count))
                last = origin
            }
        }
    }

    @Test("edits are applied in order, and an insertion comes before a removal at its place")
    func edits() {
        let text = SourceEdit.apply(
            [
                SourceEdit(4..<7, "two"), .insertion("0 ", at: 0), .removal(0..<4),
                .insertion("!", at: 7),
            ], to: "one 2 3")
        #expect(text == "0 two!")
    }
}
