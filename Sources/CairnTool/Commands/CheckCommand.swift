// cairn check: whether everything in a store is as it should be.

import ArgumentParser
import CairnInspection
import CairnLog

/// Reads everything a store holds, and compares it with everything else.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verify everything a store holds.",
        discussion: """
            Every frame is read and its checksums compared, every value decoded, every index entry \
            looked up and every reference followed. Damage is named with its place, and the exit \
            code is 3.
            """)

    @OptionGroup var place: StoreArgument
    @OptionGroup var output: OutputOptions

    func run() throws {
        let console = Console.current
        try StoreSession.reading(place.store) { session in
            let report = try session.store.check { done, total in
                console.progress("checking: \(done) of \(PlainText.count(total, "block"))")
            }
            console.endProgress()
            let recovery = session.store.recovery
            guard report.findingCount == 0 else { throw Self.failure(report, session.path) }
            if output.json {
                console.print(
                    JSONValue.object([
                        "store": .string(session.path), "sound": .boolean(true),
                        "frames": .count(recovery.frames), "commits": .count(recovery.commits),
                        "blocks": .count(report.blocks), "rows": .count(report.rows),
                        "indexEntries": .count(report.indexEntries),
                        "references": .count(report.references),
                        "bytesLeftBehind": .count(recovery.bytesLeftBehind),
                    ]).line)
                return
            }
            console.print(
                "\(session.path): sound. \(PlainText.count(recovery.frames, "frame")) of"
                    + " \(PlainText.count(recovery.commits, "commit")),"
                    + " \(PlainText.count(report.rows, "row")) in"
                    + " \(PlainText.count(report.blocks, "block")),"
                    + " \(PlainText.count(report.indexEntries, "index entry", "index entries")),"
                    + " \(PlainText.count(report.references, "reference"))")
            if recovery.bytesLeftBehind > 0 {
                console.print(
                    "An interrupted write left \(PlainText.bytes(recovery.bytesLeftBehind)) behind"
                        + " the last commit. They do not count.")
            }
        }
    }

    private static func failure(_ report: StoreCheckReport, _ path: String) -> Failure {
        let findings = report.findings.compactMap { Failure($0)?.message }
        var message = "\(path) is damaged: \(PlainText.count(report.findingCount, "finding"))"
        for finding in findings { message += "\n  \(finding)" }
        if report.findingCount > findings.count {
            message += "\n  and \(PlainText.number(report.findingCount - findings.count)) more"
        }
        var failure = Failure(message, code: .damaged)
        failure.details = [
            .init(key: "findings", value: .array(findings.map { .string($0) }))
        ]
        return failure
    }
}
