// An import that is killed leaves the old list or the new one, nothing between.

import CairnLog
import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

/// The tool beside the tests, as a process of its own.
enum ToolProcess {
    static let url: URL? = {
        let url = URL(fileURLWithPath: CommandLine.arguments[0])
            .deletingLastPathComponent().appendingPathComponent("cairn")
        return FileManager.default.isExecutableFile(atPath: url.path) ? url : nil
    }()

    /// Runs the tool.
    static func run(_ arguments: [String]) throws -> ToolRun {
        let process = Process()
        let tool: URL = try #require(url)
        process.executableURL = tool
        process.arguments = arguments
        let (output, errors) = (Pipe(), Pipe())
        process.standardOutput = output
        process.standardError = errors
        try process.run()
        // What is said is less than a pipe takes.
        inTime(for: "the tool to end") { process.waitUntilExit() }
        func text(_ pipe: Pipe) throws -> String {
            String(decoding: try pipe.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        }
        return ToolRun(
            code: process.terminationStatus, output: try text(output), errors: try text(errors))
    }

    /// Starts the tool, which says nothing.
    static func start(_ arguments: [String]) throws -> Process {
        let process = Process()
        let tool: URL = try #require(url)
        process.executableURL = tool
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.run()
        return process
    }
}

@Suite("A killed import", .enabled(if: ToolProcess.url != nil))
struct KilledImportTests {
    private static func list(_ rows: Int, size: Int) -> String {
        "code,name,size\n"
            + (0..<rows).map { "c\($0),thing number \($0 * 7919 % 10007),\($0 % 10 + size)\n" }
            .joined()
    }

    @Test(
        "kills at random moments, and each time the store holds the old list or the new one")
    func killed() throws {
        var random = RandomSource()
        let work = try Workplace()
        let files = FileManager.default
        try work.importing("old.csv", Self.list(4000, size: 0))
        let spare = work.folder.path("spare.cairn")
        try files.copyItem(atPath: work.store, toPath: spare)
        let old = cairn("export", work.store).output
        let new = try work.list("new.csv", Self.list(5000, size: 1))
        let arguments = ["import", work.store, new, "--entity", "Thing"]

        // Once in peace: what the new list looks like, and about how long it takes.
        let begin = ContinuousClock.now
        let whole = try ToolProcess.start(arguments)
        inTime(for: "the tool to end") { whole.waitUntilExit() }
        #expect(whole.terminationStatus == 0)
        let length = ContinuousClock.now - begin
        let expected = cairn("export", work.store).output
        #expect(expected != old)

        for round in 1...Campaign.count(6, whole: 20) {
            try files.removeItem(atPath: work.store)
            try files.copyItem(atPath: spare, toPath: work.store)
            let process = try ToolProcess.start(arguments)
            // Any moment is good: nothing is expected of the time itself.
            let moment = ContinuousClock.now + length * Double.random(in: 0...1.1, using: &random)
            while process.isRunning, ContinuousClock.now < moment { sched_yield() }
            kill(process.processIdentifier, SIGKILL)
            inTime(for: "the killed tool to end") { process.waitUntilExit() }
            let found = cairn("export", work.store)
            #expect(found.code == 0, "round \(round): \(found.errors)")
            #expect(found.output == old || found.output == expected, "round \(round)")
            #expect(cairn("check", work.store).code == 0, "round \(round)")
            // And the job can be done again.
            #expect(run(arguments).code == 0, "round \(round)")
            let last = cairn("query", work.store, "Thing", "--where", "size < 1", "--json")
            #expect(last.output.isEmpty, "round \(round)")
            #expect(cairn("count", work.store, "Thing").output == "5000\n", "round \(round)")
        }
    }

    @Test("a command writes beside a program, and is refused if that keeps its turn")
    func beside() throws {
        let work = try Workplace()
        try work.importing("1.csv", Self.list(10, size: 0))
        try StoreSession.log(work.store, StoreAccess()) { store in
            let list = try work.list("2.csv", Self.list(20, size: 0))
            func importing(wait: String) throws -> Int32 {
                let process = try ToolProcess.start([
                    "import", work.store, list, "--entity", "Thing", "--wait", wait,
                ])
                inTime(for: "the tool to end") { process.waitUntilExit() }
                return process.terminationStatus
            }
            try store.whileAloneInWriting {
                for wait in ["0", "20ms"] {
                    let status = try importing(wait: wait)
                    #expect(status == 1)
                    #expect(cairn("count", work.store, "Thing").output == "10\n")
                }
            }
            let status = try importing(wait: "1m")
            #expect(status == 0)
            #expect(cairn("count", work.store, "Thing").output == "20\n")
            // The program goes on from there.
            let entity = try #require(store.schema.entity(named: "Thing")).index
            let result = try store.execute(
                BatchDeleteRequest(.fetch(StoreFetch(entity: entity))))
            #expect(result.deletedCount == 20)
        }
        #expect(cairn("count", work.store, "Thing").output == "0\n")
    }
}
