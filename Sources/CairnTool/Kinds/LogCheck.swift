// The result of checking a store in a folder.
//
// Threads: values.

import CairnInspection
import CairnLog
import CairnStore

/// The result of checking a store in a folder.
struct LogCheck {
    let report: StoreCheckReport
    let path: String

    /// The result as text.
    var printout: StorePrintout {
        StorePrintout(
            lines: Self.lines(report, path),
            json: .object([
                "store": .string(path), "sound": .boolean(true),
                "depth": .string(report.depth.rawValue), "segments": .count(report.segments),
                "heldSegments": .count(report.heldSegments),
                "frames": .count(report.frames), "commits": .count(report.commits),
                "blocks": .count(report.blocks), "rows": .count(report.rows),
                "indexEntries": .count(report.indexEntries),
                "references": .count(report.references),
                "redirects": .count(report.redirects),
                "checkpoints": .count(report.checkpoints),
                "bytesLeftBehind": .count(report.bytesLeftBehind),
                "notes": .array(report.notes.map { .string($0) }),
            ]), failure: report.findingCount == 0 ? nil : Self.failure(report, path))
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
        let depth = report.depth == .all ? "" : " (--depth \(report.depth.rawValue))"
        var lines = ["\(path): sound\(depth). \(parts.joined(separator: ", "))"]
        if report.bytesLeftBehind > 0 {
            lines.append(
                "An interrupted write left \(PlainText.bytes(report.bytesLeftBehind)) after"
                    + " the last commit, which are ignored.")
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
