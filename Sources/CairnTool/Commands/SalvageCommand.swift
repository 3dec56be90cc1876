// cairn salvage: recovers a damaged store into a new one.

import ArgumentParser
import CairnInspection
import CairnLog
import CairnModel
import CairnStore
import FoundationEssentials

/// Recovers a damaged store into a new one.
struct SalvageCommand: StoreCommand {
    static let configuration = CommandConfiguration(
        commandName: "salvage",
        abstract: "Recover a damaged store into a new one.",
        discussion: """
            The damaged store is only read, never changed, and does not have to open. The new \
            store gets every object that is left, with its number and version; losses are reported \
            object by object and byte range by byte range. The exit code is 0 if nothing is lost, \
            otherwise 4.

            Example:
              cairn salvage shop.cairn shop-salvaged.cairn
            """)

    @OptionGroup var place: FolderArgument

    @Argument(help: "The folder of the new store; it must not exist.", completion: .directory)
    var destination: String

    @Option(
        help:
            "The store's model, in case its own cannot be read: from Xcode, a .json file, or another store.",
        completion: .file())
    var model: String?

    @Flag(
        help: ArgumentHelp(
            "Give the new store the old one's identity, so that object URIs stay valid.",
            discussion: "Only use this if the new store replaces the old one."))
    var keepID = false

    @Flag(help: "Also recover complete commits after a torn end, which were not durable.")
    var includeTail = false

    @OptionGroup var output: OutputOptions
    @OptionGroup var progress: ProgressOptions

    var places: [String] { model.map { [$0] } ?? [] }

    func run() throws {
        let console = Console.current
        let folder = try place.folder(for: .salvage)
        try DatabaseURL.refuse(destination, for: "a salvaged store")
        var options = SalvageOptions()
        options.keepsIdentifier = keepID
        options.takesUnpromised = includeTail
        options.schema = try model.map { try ModelSource.read($0, version: nil).schema }
        let teller = progress.teller(console)
        let report = try LogStore.salvage(at: folder, to: destination, options: options) {
            teller.tell($0.rawValue, $1, $2)
        }
        teller.end()
        if output.json {
            console.print(Self.json(report, from: folder).line)
        } else {
            for line in Self.lines(report, from: folder) { console.print(line) }
        }
        guard report.isWhole else {
            var failure = Failure(
                "\(folder): not all of it could be salvaged", code: .incomplete)
            failure.details = [.init(key: "lost", value: .count(report.rowsLost))]
            throw failure
        }
    }

    // MARK: Text

    private static func lines(_ report: SalvageReport, from store: String) -> [String] {
        var lines = [
            "\(store): \(PlainText.count(report.rowsKept, "object")) written to \(report.destination)"
        ]
        func add(_ count: some BinaryInteger, _ text: String) {
            if count > 0 { lines.append("  \(text)") }
        }
        func n(_ count: some BinaryInteger, _ one: String) -> String { PlainText.count(count, one) }
        add(report.rowsLost, "\(n(report.rowsLost, "object")) known to be lost")
        let older = report.entities.reduce(0) { $0 + ($1.isHidden ? 0 : $1.older) }
        add(older, "\(n(older, "object")) in an older version, or since deleted")
        add(report.valuesLost, "\(n(report.valuesLost, "value")) lost from recovered objects")
        add(
            report.referencesCleared,
            "\(n(report.referencesCleared, "reference")) to lost objects")
        add(
            report.duplicates,
            "\(n(report.duplicates, "object")) replaced by newer ones with the same key")
        add(
            report.possiblyResurrected,
            "deletions may be lost: up to \(n(report.possiblyResurrected, "deleted object")) may have reappeared"
        )
        if report.hasUnknownLosses {
            lines.append("  some bytes are lost, and their contents are unknown")
        }
        if !report.isEndKnown {
            lines.append("  the end of the log is unknown: the last commits may be lost")
        }
        add(
            report.unpromisedCommits,
            "\(n(report.unpromisedCommits, "commit")) after a torn end: --include-tail recovers them"
        )
        if report.isWhole { lines.append("  nothing is lost") }
        lines += segmentLines(report)
        lines.append("")
        var table = TextTable(
            ["entity", "kept", "lost", "older"], alignments: [.left, .right, .right, .right])
        for entity in report.entities where !entity.isHidden || entity.kept + entity.lost > 0 {
            table.add([
                entity.isHidden ? "\(entity.name) (pairs)" : entity.name,
                PlainText.number(entity.kept), PlainText.number(entity.lost),
                PlainText.number(entity.older),
            ])
        }
        lines += table.lines
        if !report.losses.isEmpty { lines.append("") }
        return lines + lossLines(report)
    }

    private static func segmentLines(_ report: SalvageReport) -> [String] {
        var lines: [String] = []
        for segment in report.segments where segment.problem != nil || !segment.unusable.isEmpty {
            lines.append(
                "  segment \(segment.number): \(PlainText.count(segment.frames, "frame")) read,"
                    + " \(PlainText.number(segment.skippedFrames)) skipped,"
                    + " \(PlainText.bytes(segment.unusableBytes)) unusable,"
                    + " \(PlainText.count(segment.rowsKept, "row")) kept"
                    + (segment.problem.map { "; \($0)" } ?? ""))
            for range in segment.unusable.prefix(20) {
                lines.append(
                    "    \(range.start) to \(range.end): \(range.kind.map { "\($0): " } ?? "")\(range.reason)"
                )
            }
            if segment.unusable.count > 20 {
                lines.append("    and \(PlainText.number(segment.unusable.count - 20)) more")
            }
        }
        return lines
    }

    /// Returns one line per kind of loss and block.
    private static func lossLines(_ report: SalvageReport) -> [String] {
        var lines: [String] = []
        var told = 0
        var rest = report.losses[...]
        while let first = rest.first, lines.count < 50 {
            let group = rest.prefix {
                $0.kind == first.kind && $0.entity == first.entity && $0.key == first.key
                    && $0.segment == first.segment && $0.offset == first.offset
                    && $0.reason == first.reason
            }
            rest = rest.dropFirst(group.count)
            told += group.count
            let more = group.count > 1 ? " and \(PlainText.number(group.count - 1)) more there" : ""
            lines.append("  \(text(first))\(more)")
        }
        if report.lossCount > told {
            lines.append("  and \(PlainText.number(report.lossCount - told)) more")
        }
        return lines
    }

    private static func text(_ loss: SalvageReport.Loss) -> String {
        var name = loss.entity ?? "?"
        if let number = loss.number { name += " p\(number)" }
        if let key = loss.key { name += ", \(key)" }
        return "\(name): \(loss.reason) (segment \(loss.segment), offset \(loss.offset))"
    }

    // MARK: JSON

    private static func json(_ report: SalvageReport, from store: String) -> JSONValue {
        .object([
            "store": .string(store), "destination": .string(report.destination),
            "sourceID": .text(report.sourceIdentifier?.uuidString),
            "id": .text(report.identifier?.uuidString), "whole": .boolean(report.isWhole),
            "kept": .count(report.rowsKept), "lost": .count(report.rowsLost),
            "valuesLost": .count(report.valuesLost),
            "referencesCleared": .count(report.referencesCleared),
            "duplicates": .count(report.duplicates), "superseded": .count(report.superseded),
            "damagedCommits": .count(report.damagedCommits),
            "possiblyResurrected": .count(report.possiblyResurrected),
            "unknownLosses": .boolean(report.hasUnknownLosses),
            "endKnown": .boolean(report.isEndKnown),
            "bytesLeftBehind": .count(report.bytesLeftBehind),
            "unpromisedCommits": .count(report.unpromisedCommits),
            "entities": .array(
                report.entities.map {
                    .object([
                        "name": .string($0.name), "hidden": .boolean($0.isHidden),
                        "kept": .count($0.kept), "lost": .count($0.lost), "older": .count($0.older),
                    ])
                }), "segments": .array(report.segments.map(json)),
            "lossCount": .count(report.lossCount), "losses": .array(report.losses.map(json)),
        ])
    }

    private static func json(_ segment: SalvageReport.Segment) -> JSONValue {
        .object([
            "number": .count(segment.number), "bytes": .count(segment.bytes),
            "problem": .text(segment.problem), "frames": .count(segment.frames),
            "skippedFrames": .count(segment.skippedFrames), "rowsKept": .count(segment.rowsKept),
            "unusableBytes": .count(segment.unusableBytes),
            "unusable": .array(
                segment.unusable.map {
                    .object([
                        "start": .count($0.start), "end": .count($0.end), "kind": .text($0.kind),
                        "reason": .string($0.reason),
                    ])
                }),
        ])
    }

    private static func json(_ loss: SalvageReport.Loss) -> JSONValue {
        .object([
            "kind": .string(loss.kind.rawValue), "entity": .text(loss.entity),
            "objectID": .text(loss.number.map { "p\($0)" }), "key": .text(loss.key),
            "segment": .count(loss.segment), "offset": .count(loss.offset),
            "reason": .string(loss.reason),
        ])
    }
}
