// cairn port, which another tool does.

import ArgumentParser
import CairnTestSupport
import Foundation
import Testing

@testable import CairnTool

@Suite("cairn port")
struct PortCommandTests {
    @Test("it passes on whatever is written")
    func arguments() throws {
        for words in [["Sources", "--dry-run"], ["--help"], ["--", "-x"], []] {
            let command = try CairnCommand.parseAsRoot(["port"] + words)
            #expect((command as? PortCommand)?.arguments == words)
        }
    }

    @Test("without the other tool it says how that is built")
    func missing() throws {
        let empty = try TemporaryDirectory()
        let handover = Handover(to: .port, beside: empty.path("cairn"), path: empty.path(""))
        let command = try PortCommand.parse(["Sources"])
        let error = #expect(throws: Failure.self) { try command.run(by: handover) }
        #expect(error?.message.contains("swift build -c release --product cairn-port") == true)
        #expect(error?.code == .failed)
    }
}
