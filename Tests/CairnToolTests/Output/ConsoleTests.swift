// What a terminal sees while a command works.

import SystemPackage
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

    @Test("a command whose output cannot be written fails, one that changed a store says so")
    func lostOutput() throws {
        let work = try Workplace()
        var errors: [UInt8] = []
        func run(_ error: Errno, _ arguments: [String]) -> Int32 {
            errors = []
            let console = Console(
                output: { _ in throw error }, errors: { errors.append(contentsOf: $0) })
            return Tool.run(arguments, console: console)
        }
        let list = try work.list("1.csv", "code\na\n")
        let code = run(
            .noSpace,
            ["import", work.store, list, "--entity", "Thing", "--unique", "code"])
        #expect(code == 0)
        #expect(
            String(decoding: errors, as: UTF8.self)
                == "cairn: note: the output cannot be written: No space left on device\n")
        #expect(cairn("count", work.store, "Thing").output == "1\n")
        for command in [["export", work.store], ["query", work.store, "Thing"]] {
            #expect(run(.noSpace, command) == 1)
        }
    }

    @Test("a reader of the output that goes away is no failure")
    func brokenPipe() throws {
        let work = try Workplace()
        try work.importing("1.csv", "code\na\n")
        let console = Console(
            output: { _ in throw Errno.brokenPipe },
            errors: { _ in Issue.record("nothing is wrong") })
        #expect(Tool.run(["export", work.store], console: console) == 0)
    }

    @Test("names and texts of a list cannot give a terminal orders")
    func controls() throws {
        let work = try Workplace()
        let text = "code,a\u{1B}[31m\na,\u{9B}31m\n"
        try work.importing("1.csv", text)
        let prints = [
            cairn("query", work.store, "Thing"), cairn("get", work.store, "Thing", "a"),
            try work.importing("2.csv", "code,b\u{1B}[31m\na,x\n"),
            try work.importing("3.json", "{\"code\":\"a\",\"code\u{9B}31m\":[],\"x\":}"),
        ]
        for run in prints {
            let all = run.output + run.errors
            #expect(!all.isEmpty)
            #expect(!all.contains("\u{1B}") && !all.contains("\u{9B}"), "\(all)")
        }
    }
}
