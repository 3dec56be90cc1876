// cairn check: whether everything in a store is as it should be.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnStore

/// Reads a store's files and compares everything in them with everything else.
struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check", abstract: "Verify everything a store holds.",
        discussion: """
            It works beside a program that writes, and on a store that does not open. Everything \
            that is wrong is named with its place, and the exit code is 3 then. How deep it looks:

            headers  the headers of segments and frames: nothing is missing or out of order
            frames   and the checksums and the form of what is in every frame
            blocks   and every value, and that each object lives once
            all      and indexes, references both ways and the checkpoint, compared with what they \
            are made from

            Values of derived attributes are not recomputed.
            """)

    @OptionGroup var place: StoreArgument

    @Option(
        help: "How deep to look: headers, frames, blocks or all.",
        transform: { text in
            guard let depth = CheckDepth(rawValue: text) else {
                throw ValidationError(
                    "--depth must be one of \(CheckDepth.allCases.map(\.rawValue).joined(separator: ", "))."
                )
            }
            return depth
        })
    var depth = CheckDepth.all

    @OptionGroup var output: OutputOptions
    @OptionGroup var progress: ProgressOptions

    func run() throws {
        let console = Console.current
        let teller = progress.teller(console)
        let report = try LogStore.check(at: place.store, depth: depth) {
            teller.tell("checking \($0.rawValue)", $1, $2)
        }
        teller.end()
        guard report.findingCount == 0 else { throw Self.failure(report, place.store) }
        if output.json {
            console.print(
                JSONValue.object([
                    "store": .string(place.store), "sound": .boolean(true),
                    "depth": .string(depth.rawValue), "segments": .count(report.segments),
                    "heldSegments": .count(report.heldSegments),
                    "frames": .count(report.frames), "commits": .count(report.commits),
                    "blocks": .count(report.blocks), "rows": .count(report.rows),
                    "indexEntries": .count(report.indexEntries),
                    "references": .count(report.references),
                    "redirects": .count(report.redirects),
                    "checkpoints": .count(report.checkpoints),
                    "bytesLeftBehind": .count(report.bytesLeftBehind),
                    "notes": .array(report.notes.map { .string($0) }),
                ]).line)
            return
        }
        for line in Self.lines(report, place.store) { console.print(line) }
    }

    private static func lines(_ report: StoreCheckReport, _ path: String) -> [String] {
        var parts = [
            "\(PlainText.count(report.frames, "frame")) of"
                + " \(PlainText.count(report.commits, "commit"))"
        ]
        if report.heldSegments > 0 {
            parts.append(
                "\(PlainText.count(report.heldSegments, "segment")) kept for past states")
        }
        if report.depth >= .blocks {
            parts.append(
                "\(PlainText.count(report.rows, "row")) in"
                    + " \(PlainText.count(report.blocks, "block"))")
        }
        if report.depth >= .all {
            parts.append(PlainText.count(report.indexEntries, "index entry", "index entries"))
            parts.append(PlainText.count(report.references, "reference"))
            if report.redirects > 0 { parts.append(PlainText.count(report.redirects, "redirect")) }
            if report.checkpoints > 0 {
                parts.append(PlainText.count(report.checkpoints, "checkpoint"))
            }
        }
        let depth = report.depth == .all ? "" : " as far as its \(report.depth.rawValue) go"
        var lines = ["\(path): sound\(depth). \(parts.joined(separator: ", "))"]
        if report.bytesLeftBehind > 0 {
            lines.append(
                "An interrupted write left \(PlainText.bytes(report.bytesLeftBehind)) behind"
                    + " the last commit. They do not count.")
        }
        return lines + report.notes.map { "Note: \($0)." }
    }

    private static func failure(_ report: StoreCheckReport, _ path: String) -> Failure {
        let findings = report.findings.map { error in (Failure(error)?.message ?? "", error.context)
        }
        var message = "\(path) is damaged: \(PlainText.count(report.findingCount, "finding"))"
        for finding in findings.prefix(100) { message += "\n  \(finding.0)" }
        if report.findingCount > 100 {
            message += "\n  and \(PlainText.number(report.findingCount - 100)) more"
        }
        var failure = Failure(message, code: .damaged)
        let first = findings.first?.1
        failure.details = [
            .init(key: "segment", value: first?.segment.map { .count($0) } ?? .null),
            .init(key: "offset", value: first?.offset.map { .count($0) } ?? .null),
            .init(key: "findingCount", value: .count(report.findingCount)),
            .init(
                key: "findings",
                value: .array(
                    findings.map { text, context in
                        .object([
                            "message": .string(text),
                            "segment": context.segment.map { .count($0) } ?? .null,
                            "offset": context.offset.map { .count($0) } ?? .null,
                            "path": .text(context.path),
                        ])
                    })),
        ]
        return failure
    }
}
