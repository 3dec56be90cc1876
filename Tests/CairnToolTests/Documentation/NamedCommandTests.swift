// That commands which README and the articles name are there, with the options that they name.

import ArgumentParser
import Testing

@testable import CairnTool

@Suite("Commands that the documentation names")
struct NamedCommandTests {
    @Test("they are commands of the tool, with their options", arguments: try Document.all())
    func known(_ document: Document) throws {
        for words in document.named where words != ["help"] {
            let line = "cairn \(words.joined(separator: " "))"
            let name = words[0] == "help" ? words[1] : words[0]
            guard !name.hasPrefix("-") else { continue }
            let command = CairnCommand.configuration.subcommands.first { $0._commandName == name }
            guard let command else {
                Issue.record("\(line): there is no such command")
                continue
            }
            let help = CairnCommand.helpMessage(for: command, columns: 10_000)
            for option in words.dropFirst() where option.hasPrefix("--") {
                let isThere = help.split { !$0.isLetter && $0 != "-" }.contains { $0 == option }
                #expect(isThere, "\(line): there is no \(option)")
            }
        }
    }

    @Test("they are found in what is written")
    func found() throws {
        #expect(try Document.all().flatMap(\.named).count > 40)
    }
}
