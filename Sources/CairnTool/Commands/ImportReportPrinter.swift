// The report of a Core Data import, for people and for scripts.

import CairnCoreData
import CairnInspection
import FoundationEssentials

/// Prints the report of an import from Core Data.
struct ImportReportPrinter {
    let report: CoreDataImportReport
    let old: String
    let new: String
    let seconds: Double

    /// The report for people.
    var lines: [String] {
        var table = TextTable(
            ["entity", "objects", "imported"], alignments: [.left, .right, .right])
        for entity in report.entities {
            table.add([
                PlainText.visible(entity.name), PlainText.number(entity.found),
                PlainText.number(entity.imported),
            ])
        }
        var lines = table.lines
        let log =
            report.logBytes > 0
            ? " and \(PlainText.bytes(report.logBytes)) of its write-ahead log" : ""
        let model = report.modelOrigin == .store ? "its own model" : "the model given"
        lines.append(
            "\(new): \(PlainText.count(report.imported, "object")) from \(old)\(log), using \(model), in \(PlainText.decimal(seconds, digits: 2)) s"
        )
        var more: [String] = []
        if report.pairs > 0 {
            more.append(PlainText.count(report.pairs, "pair") + " of many-to-many relationships")
        }
        if report.lists > 0 { more.append(PlainText.count(report.lists, "ordered list")) }
        if report.externalValues > 0 {
            more.append(PlainText.count(report.externalValues, "value") + " from files")
        }
        if !report.metadataKeys.isEmpty {
            more.append("the metadata \(report.metadataKeys.joined(separator: ", "))")
        }
        if !more.isEmpty { lines.append("with " + more.joined(separator: ", ")) }
        lines.append(
            "objects keep their numbers: x-coredata://\(report.identifier.uuidString)/…/p1 is p1")
        lines += report.remarks.map { "note: \(PlainText.visible($0))" }
        if report.losses.isEmpty { return lines }
        lines.append("not imported:")
        for loss in report.losses { lines.append("  " + Self.line(loss)) }
        return lines
    }

    private static func line(_ loss: CoreDataImportReport.Loss) -> String {
        let times = loss.count > 1 ? " (\(PlainText.number(loss.count)) times)" : ""
        // The messages about a model contain their places.
        var line = loss.kind == .model ? loss.message : "\(loss.place): \(loss.message)\(times)"
        if !loss.examples.isEmpty {
            line += ": " + loss.examples.joined(separator: ", ")
            if loss.count > loss.examples.count { line += ", …" }
        }
        return PlainText.visible(line)
    }

    /// The report for scripts.
    var json: JSONValue {
        .object([
            "source": .string(old), "store": .string(new),
            "id": .string(report.identifier.uuidString),
            "model": .string(report.modelOrigin.rawValue), "logBytes": .count(report.logBytes),
            "objects": .count(report.imported),
            "entities": .array(
                report.entities.map {
                    .object([
                        "name": .string($0.name), "found": .count($0.found),
                        "imported": .count($0.imported),
                    ])
                }),
            "pairs": .count(report.pairs), "lists": .count(report.lists),
            "externalValues": .count(report.externalValues),
            "metadata": .array(report.metadataKeys.map { .string($0) }),
            "whole": .boolean(report.isWhole),
            "losses": .array(
                report.losses.map {
                    .object([
                        "kind": .string($0.kind.rawValue), "place": .string($0.place),
                        "message": .string($0.message), "count": .count($0.count),
                        "examples": .array($0.examples.map { .string($0) }),
                    ])
                }),
            "remarks": .array(report.remarks.map { .string($0) }), "seconds": .double(seconds),
        ])
    }
}
