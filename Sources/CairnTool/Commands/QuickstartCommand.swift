// cairn quickstart: the tour.

import ArgumentParser
import FoundationEssentials

/// Imports a real list twice and shows the result.
struct QuickstartCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "quickstart",
        abstract: "Take a tour: import a real list twice, without duplicates.",
        discussion: """
            The tour creates quickstart.cairn and two lists in the folder, and overwrites nothing.

            Example:
              cairn quickstart tour
            """)

    @Argument(help: "The folder; by default a new temporary one.", completion: .directory)
    var folder: String?

    @OptionGroup var output: OutputOptions

    func run() throws {
        var place =
            folder ?? "\(Self.temporaryFolder)/cairn-\(UUID().uuidString.prefix(4).lowercased())"
        while place.count > 1, place.hasSuffix("/") { place.removeLast() }
        try QuickstartTour(
            folder: place, asJSON: output.json, console: .current,
            tool: Self.toolName(CommandLine.arguments.first)
        ) { arguments in
            var command = try CairnCommand.parseAsRoot(arguments)
            try command.run()
        }.run()
    }

    private static var temporaryFolder: String {
        let path = ProcessInfo.processInfo.environment["TMPDIR"] ?? "/tmp"
        return path.count > 1 && path.hasSuffix("/") ? String(path.dropLast()) : path
    }

    /// Returns how to call the tool again: the shortest form from this folder.
    static func toolName(_ called: String?) -> String {
        guard let called, called.contains("/") else { return "cairn" }
        let here = FileManager.default.currentDirectoryPath + "/"
        return called.hasPrefix(here) ? String(called.dropFirst(here.count)) : called
    }
}
