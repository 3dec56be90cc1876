// A headless browser of a test's own, with nothing of its user's in it. It ends with the test: at the latest when the
// pipe to it is closed.
//
// Threads: any.

import CairnTestSupport
import Foundation
import PostgresServers
import Testing

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

/// A browser that runs.
final class Browser: Sendable {
    let pipe: DevToolsPipe
    let journal = BrowserJournal()
    private let process: Int32
    private let folder: TemporaryDirectory

    private init(_ program: String) throws {
        folder = try TemporaryDirectory()
        let (commandsRead, commandsWritten) = try Self.highPipe()
        let (answersRead, answersWritten) = try Self.highPipe()
        defer {
            close(commandsRead)
            close(answersWritten)
        }
        process = try ServerProcess.spawn(
            [
                program, "--headless=new", "--remote-debugging-pipe", "--no-first-run",
                "--user-data-dir=\(folder.path)", "--disable-gpu", "--hide-scrollbars=false",
                // Tests open no pages but their own, often as root in a container, where the sandbox cannot be set up.
                "--no-sandbox", "--disable-dev-shm-usage", "--disable-background-networking",
                "--window-size=1280,800", "about:blank",
            ], input: nil, output: nil, inOwnGroup: true,
            more: [3: commandsRead, 4: answersWritten])
        let journal = journal
        pipe = DevToolsPipe(reading: answersRead, writing: commandsWritten) {
            journal.take($0, $1)
        }
    }

    // The program has its ends as 3 and 4: those here must not be these numbers.
    private static func highPipe() throws -> (Int32, Int32) {
        let (reading, writing) = try ServerProcess.pipe()
        defer {
            close(reading)
            close(writing)
        }
        return (fcntl(reading, F_DUPFD_CLOEXEC, 10), fcntl(writing, F_DUPFD_CLOEXEC, 10))
    }

    private struct Nothing: Decodable {}

    private struct Version: Decodable {
        let product: String
    }

    /// Says what browser it is: a run must show that the tests were not skipped.
    private func sayVersion() async throws {
        let version = try await pipe.call("Browser.getVersion", as: Version.self)
        printLine("Chromium: the tests of the studio run in \(version.product)")
    }

    private func end() async {
        _ = try? await pipe.call("Browser.close", as: Nothing.self)
        // What it was told is done: how it ends is its own affair.
        if await !ServerProcess.end(process, within: 30) { printLine("Chromium: killed") }
    }

    /// Runs a test with a page of a new browser; what the page complained about fails it.
    static func with<Result>(
        _ body: (BrowserPage) async throws -> Result
    ) async throws -> Result {
        let program = try #require(BrowserProgram.installed)
        await BrowserTurn.shared.begin()
        let outcome = await run(program, body)
        await BrowserTurn.shared.end()
        return try outcome.get()
    }

    private static func run<Result>(
        _ program: String, _ body: (BrowserPage) async throws -> Result
    ) async -> Swift.Result<Result, any Error> {
        do {
            let browser = try Browser(program)
            let outcome: Swift.Result<Result, any Error>
            do {
                try await browser.sayVersion()
                outcome = .success(try await body(BrowserPage(browser)))
            } catch {
                outcome = .failure(error)
            }
            await browser.end()
            browser.journal.report()
            return outcome
        } catch {
            return .failure(error)
        }
    }
}
