// What a terminal sees while a command works.

import Testing

@testable import CairnTool

@Suite("The console")
struct ConsoleTests {
    @Test("progress is one line that is taken away before anything else is printed")
    func progress() {
        var events: [String] = []
        let console = Console(
            output: {
                if !$0.isEmpty { events.append("out " + String(decoding: $0, as: UTF8.self)) }
            },
            errors: { events.append("err " + String(decoding: $0, as: UTF8.self)) },
            isTerminal: true, showsProgress: true)
        console.print("first")
        console.progress("half way")
        console.progress("done")
        console.print("second")
        console.flush()
        #expect(
            events == [
                "out first\n", "err \rhalf way", "err \rdone    ", "err \r    \r", "out second\n",
            ])
    }

    @Test("progress is not shown where nobody looks, nor worked out")
    func silent() {
        var events: [String] = []
        let console = Console(
            output: { _ in }, errors: { events.append(String(decoding: $0, as: UTF8.self)) })
        console.progress(
            {
                Issue.record("the text is not needed")
                return ""
            }())
        #expect(events.isEmpty)
    }
}
