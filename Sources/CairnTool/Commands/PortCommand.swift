// cairn port: rewrites sources that use Core Data, with a separate tool.

import ArgumentParser

/// Runs `cairn-port`.
struct PortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "port",
        abstract: "Bring Swift code that uses Core Data to Linux.",
        discussion: """
            Rewrites what does not compile without Apple's Objective-C runtime, writes the classes that \
            Xcode generates from models, and lists each line left for you. With --dry-run the changes \
            are printed as a diff. The tool cairn-port does it, which must be next to cairn or in PATH: \
            swift build -c release --product cairn-port builds it, and swift run cairn-port DIR runs it \
            from here. cairn-port --help shows all options.

            Example:
              cairn port Sources --dry-run
            """)

    @Argument(
        parsing: .captureForPassthrough,
        help: ArgumentHelp("Folders with sources and models, and options.", valueName: "dir"))
    var arguments: [String] = []

    func run() throws { try run(by: .standard(to: .port)) }

    /// Runs the tool that a handover finds. It does not return.
    func run(by handover: Handover) throws {
        // Such arguments are passed with the terminator that ends the command's own.
        try handover.run(arguments.first == "--" ? Array(arguments.dropFirst()) : arguments)
    }
}
