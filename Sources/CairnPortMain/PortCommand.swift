// The command line of `cairn-port`.
//
//   1. What changes is printed as a diff with --dry-run, and written otherwise.
//   2. What is left for a person goes to standard output as well; with --dry-run to standard error, so that the output is a
//      patch.

import ArgumentParser
import CairnInspection
import CairnPort

/// `cairn-port`: rewrites a source tree.
struct PortCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cairn-port",
        abstract: "Bring Swift code that uses Core Data to Linux.",
        discussion: """
            Rewrites what does not compile without Apple's Objective-C runtime, so that the code builds with Cairn's \
            module CoreData, and lists each line left for you: FILE:LINE: what it is: why; instead: what to write. \
            Running it again changes nothing. Without --force, everything must be committed in git, so that the \
            changes can be undone. All files are read before the first is written: either all are written or none.

            Rewritten: @objc, @objcMembers and @NSManaged; #keyPath; imports of parts of CoreData, and missing ones; \
            NSSet from an array literal; casts between NSFetchRequest<…>; arguments of predicates as CVarArg; \
            selectors of sort descriptors and of observers of notifications; overrides in extensions, which move into \
            their class; the initializer that classes with initializers of their own need. Where Xcode generates an \
            entity's class from its model, that class is written.

            The result still builds on a Mac: what differs stands in #if canImport(ObjectiveC), which is four more \
            lines for each @NSManaged property. With --linux-only it is replaced: the code stays as short as it was, \
            and builds on Linux alone.

            Left alone: files that are not current Swift (the first error is named), Objective-C, compiled models \
            (.momd), and code in an #if branch that Linux does not compile.

            Exit codes: 0 success, also if lines are left for you; 1 nothing was changed; 2 the command line is \
            invalid; 4 done, but for files that cannot be read or parsed.

            With --json, one object for each change and each line left is printed, and at last \
            {"summary":{…}}; errors are objects {"error":{"exit":…,"message":…}} on standard error.

            Examples:
              cairn-port Sources --dry-run
              cairn-port Sources Tests
              cairn-port Model.swift --linux-only --force
              cairn-port . --generated-classes Sources/Store/Generated
            """,
        version: "0.1.0")

    @Argument(
        help: ArgumentHelp("Folders with sources and models, or single files.", valueName: "dir"))
    var paths: [String]

    @Flag(help: "Print the changes as a diff, and write nothing.")
    var dryRun = false

    @Flag(help: "Also change files that git could not bring back.")
    var force = false

    @Flag(help: "Write for Linux alone, without #if for Apple's platforms.")
    var linuxOnly = false

    @Option(
        help: ArgumentHelp(
            "Where classes generated from models go. Default: beside the model.", valueName: "dir"))
    var generatedClasses: String?

    @Flag(help: "Print JSON, one value per line.")
    var json = false

    /// Runs a command line, without the tool's name, and returns the exit code.
    static func run(_ arguments: [String], _ console: PortConsole) -> Int32 {
        do {
            return try parse(arguments).run(console)
        } catch {
            let code = exitCode(for: error)
            // Help and version are no errors.
            guard !code.isSuccess || error is PortError else {
                console.output(fullMessage(for: error) + "\n")
                return 0
            }
            let (exit, message) =
                (error as? PortError).map { (1, $0.description) } ?? (2, Self.message(for: error))
            if arguments.contains("--json") {
                console.errors(
                    JSONValue.object([
                        "error": .object(["exit": .count(exit), "message": .string(message)])
                    ]).line + "\n")
            } else if exit == 1 {
                console.errors("cairn-port: \(PlainText.visible(message))\n")
            } else {
                console.errors(fullMessage(for: error) + "\n")
            }
            return Int32(exit)
        }
    }

    private func run(_ console: PortConsole) throws -> Int32 {
        var options = PortOptions()
        options.buildsOnApple = !linuxOnly
        options.generatedClasses = generatedClasses
        let port = try Port(paths, options)
        if !dryRun, !port.changes.isEmpty {
            if !force { try GitState.check(paths, port.changes) }
            try PortWriter.write(port.changes)
        }
        if json { printJSON(port, console) } else { printText(port, console) }
        return port.unreadable.isEmpty ? 0 : 4
    }

    private func printText(_ port: Port, _ console: PortConsole) {
        if dryRun { for change in port.changes { console.output(change.diff) } }
        let print = dryRun ? console.errors : console.output
        for finding in port.unreadable + port.findings(written: !dryRun) {
            print(finding.text + "\n")
        }
        print(port.counts.text(written: !dryRun) + "\n")
    }

    private func printJSON(_ port: Port, _ console: PortConsole) {
        for change in port.changes {
            var members: [JSONValue.Member] = [
                .init(key: "changed", value: .string(change.path)),
                .init(key: "new", value: .boolean(change.isNew)),
                .init(key: "lines", value: .count(change.changedLines)),
            ]
            if dryRun { members.append(.init(key: "diff", value: .string(change.diff))) }
            console.output(JSONValue.object(members).line + "\n")
        }
        for finding in port.unreadable {
            console.output(JSONValue.object(["unreadable": finding.json]).line + "\n")
        }
        for finding in port.findings(written: !dryRun) {
            console.output(JSONValue.object(["left": finding.json]).line + "\n")
        }
        console.output(JSONValue.object(["summary": port.counts.json]).line + "\n")
    }
}
