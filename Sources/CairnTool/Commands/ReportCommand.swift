// cairn report: writes all known facts about a store to one page.

import ArgumentParser
import CairnInspection

/// Writes a page about a store.
struct ReportCommand: OneStoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "report",
        abstract: "Write a page about a store: its health, contents, model and history.",
        discussion: """
            The page is one HTML file without scripts, to attach to a ticket: what info, check, space, \
            schema and history say, with pictures of the space, the log, the commits and the model. It \
            works for a damaged store too, and says what is damaged; the exit code is then 3.

            With --redact the page shows no values of objects or metadata, and names neither people nor \
            machines: authors are numbered, and only the last part of the store's path is shown. The \
            model stays, with its names, types, defaults and constraints; so do counts, times and names \
            of programs.

            Example:
              cairn report airports.cairn -o airports.html
            """)

    @OptionGroup var place: StoreArgument

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write the page into this file, which is replaced if it is such a page; without it, or for -, the page is printed.",
            valueName: "file"), completion: .file(extensions: ["html"]))
    var file: String?

    @Flag(help: "Leave out values, and the names of people and machines.")
    var redact = false

    @OptionGroup var depth: DepthOptions
    @OptionGroup var output: OutputOptions
    @OptionGroup var progress: ProgressOptions

    func validate() throws {
        if output.json, file == nil || file == "-" {
            throw ValidationError("--json says what was written: name the file with --output.")
        }
    }

    func run() throws {
        let console = Console.current
        let target = file.flatMap { $0 == "-" ? nil : OutputFile(path: $0, command: "report") }
        let isReport = { (text: String) in text.contains(ReportPage.mark) }
        try target?.refuseToReplace(isReport)
        let teller = progress.teller(console)
        var reader = ReportReader(place.store, depth: depth.depth, redacts: redact) {
            teller.tell($0, $1, $2)
        }
        let content = try reader.read()
        teller.end()
        let page = ReportPage(content: content, version: CairnCommand.configuration.version).text
        if let target {
            try target.write(page, replacing: isReport)
            say(target.path, content, bytes: page.utf8.count, console)
        } else {
            var page = page
            page.withUTF8 { console.print(bytes: UnsafeRawBufferPointer($0)) }
        }
        if let failure = content.health.failure { throw failure }
        if let problem = content.problem { throw Failure(problem) }
    }

    private func say(_ path: String, _ content: ReportContent, bytes: Int, _ console: Console) {
        console.print(
            output.json
                ? JSONValue.object([
                    "store": .string(place.title), "report": .string(path), "bytes": .count(bytes),
                    "sound": .boolean(content.health.isSound), "redacted": .boolean(redact),
                ]).line
                : "\(path): a report of \(place.title), \(PlainText.bytes(UInt64(bytes)))")
    }
}
