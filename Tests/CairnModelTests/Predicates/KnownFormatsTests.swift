// Formats that are read again.

import CairnTestSupport
import Testing

@testable import CairnModel

@Suite("Formats that are read again")
struct KnownFormatsTests {
    @Test("A text gives the same tree each time, with its own arguments, from any thread")
    func again() {
        TestThreads.run(4) { thread in
            #expect(throws: Never.self) {
                // More texts than are known at a time, some of them over and over.
                for round in 0..<1000 {
                    let number = round % 7 == 0 ? round : round % 5
                    let tree = try PredicateNode(
                        format: "age\(number) > %@ AND %K == 'x'",
                        [.integer(Int64(thread)), .string("name\(round)")])
                    let expected = PredicateNode.and([
                        .compare("age\(number)", .greater, .integer(Int64(thread))),
                        .compare("name\(round)", .equal, .string("x")),
                    ])
                    #expect(tree == expected)
                }
            }
        }
    }

    @Test("Texts that look the same and are written in two ways stay apart")
    func lookalikes() throws {
        // Kelvin's sign is another way to write K, and so is e with an accent.
        for (one, other) in [("K", "\u{212A}"), ("\u{e9}", "e\u{301}")] {
            for text in [one, other, one] {
                let tree = try PredicateNode(format: "name == '\(text)'")
                #expect(tree == .compare("name", .equal, .string(text)))
            }
        }
    }

    @Test("A text that is none is refused each time, in the same words")
    func errors() {
        var said: Set<String> = []
        for _ in 0..<3 {
            let error = #expect(throws: PredicateFormatError.self) {
                _ = try PredicateNode(format: "age > > 5")
            }
            said.insert(error.map { "\($0)" } ?? "nothing")
        }
        #expect(said.count == 1 && !said.contains("nothing"))
    }
}
