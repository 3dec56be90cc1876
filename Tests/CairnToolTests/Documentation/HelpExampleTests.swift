// That the help of every command shows how it is called, and in a way that the tool takes.

import ArgumentParser
import Testing

@testable import CairnTool

@Suite("Examples in the help")
struct HelpExampleTests {
    /// The lines behind "Example:" or "Examples:" in the help of a command, as words without the tool's name.
    private func examples(_ command: any ParsableCommand.Type) -> [[String]] {
        let lines = command.configuration.discussion.split(separator: "\n")
        return lines.drop { !["Example:", "Examples:"].contains($0) }.dropFirst()
            .filter { $0.hasPrefix("  cairn ") }.map { line in
                // What the shell takes is not the tool's.
                Array(Document.words(line).dropFirst().prefix { $0 != ">" && $0 != "|" })
            }
    }

    @Test("every command has one of its own")
    func everyCommand() {
        #expect(!examples(CairnCommand.self).isEmpty)
        let commands = CairnCommand.configuration.subcommands
        #expect(commands.count > 20)
        for command in commands {
            let name = command._commandName
            let examples = examples(command)
            #expect(!examples.isEmpty, "the help of cairn \(name) has no example")
            for example in examples { #expect(example.first == name) }
        }
    }

    @Test("they are command lines that make sense")
    func parsed() {
        for command in [CairnCommand.self] + CairnCommand.configuration.subcommands {
            for example in examples(command) {
                #expect(throws: Never.self, "cairn \(example.joined(separator: " "))") {
                    _ = try CairnCommand.parseAsRoot(example)
                }
            }
        }
    }
}
