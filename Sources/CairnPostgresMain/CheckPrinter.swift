// What a check of a store in PostgreSQL has found, as text.

import CairnInspection
import CairnPostgres
import CairnStore
import CairnTool

/// Prints what a check has found.
struct CheckPrinter {
    let title: String
    let report: PostgresCheckReport

    var printout: StorePrintout {
        StorePrintout(
            lines: [line],
            json: .object([
                "store": .string(title), "sound": .boolean(true), "commit": .count(report.commit),
                "tables": .count(report.tables), "rows": .count(report.rows),
                "pairs": .count(report.pairs), "constraints": .count(report.constraints),
                "references": .count(report.references), "redirects": .count(report.redirects),
                "transactions": .count(report.transactions),
            ]), failure: report.findingCount == 0 ? nil : failure)
    }

    private var line: String {
        var parts = [
            "\(PlainText.count(report.rows, "row")) in \(PlainText.count(report.tables, "table"))"
        ]
        if report.pairs > 0 { parts.append(PlainText.count(report.pairs, "pair")) }
        parts.append(PlainText.count(report.constraints, "constraint"))
        parts.append(PlainText.count(report.references, "reference"))
        if report.redirects > 0 { parts.append(PlainText.count(report.redirects, "redirect")) }
        if report.transactions > 0 {
            parts.append(PlainText.count(report.transactions, "transaction"))
        }
        return "\(title): sound after commit \(report.commit). \(parts.joined(separator: ", "))"
    }

    private var failure: Failure {
        let findings = report.findings.map { Failure($0)?.message ?? "\($0)" }
        var message = "\(title) is damaged: \(PlainText.count(report.findingCount, "finding"))"
        for finding in findings.prefix(100) { message += "\n  \(finding)" }
        if report.findingCount > 100 {
            message += "\n  and \(PlainText.number(report.findingCount - 100)) more"
        }
        var failure = Failure(message, code: .damaged)
        failure.details = [
            .init(key: "findingCount", value: .count(report.findingCount)),
            .init(
                key: "findings",
                value: .array(
                    zip(findings, report.findings).map { text, error in
                        .object([
                            "message": .string(text), "entity": .text(error.context.entity),
                            "key": .text(error.context.key),
                        ])
                    })),
        ]
        return failure
    }
}
