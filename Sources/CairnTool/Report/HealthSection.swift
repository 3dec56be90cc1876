// The findings of the check.

import CairnInspection

/// The part of a report about the store's health.
struct HealthSection {
    private let content: ReportContent

    init(_ content: ReportContent) { self.content = content }

    /// Writes the section.
    func write(_ writer: inout HTMLWriter) {
        let health = content.health
        writer.add(
            "p", ["class": "verdict \(health.isSound ? "good" : "bad")"],
            health.isSound
                ? "✓ Everything that was checked is as it should be."
                : health.count > 0
                    ? "✗ \(PlainText.count(health.count, "finding")): the store is damaged."
                    : "✗ The store could not be checked.")
        if let problem = content.problem { writer.add("p", ["class": "missing"], problem) }
        for line in health.lines { writer.add("p", line) }
        if !health.isSound {
            writer.add("p", ["class": "quiet"]) { writer in
                writer.add("code", "cairn salvage STORE NEW")
                writer.write(" writes what is left of a damaged store into a new one.")
            }
        }
        guard !health.findings.isEmpty else { return }
        var table = ReportTable(
            "Findings"
                + (health.count > UInt64(health.findings.count) ? ", the first of them" : ""),
            [.init("segment", .number), .init("offset", .number), .init("what is wrong")])
        for finding in health.findings {
            table.add([
                .init(finding.segment.map { "\($0)" } ?? "–"),
                .init(finding.offset.map { PlainText.number($0) } ?? ""), .init(finding.message),
            ])
        }
        table.write(to: &writer)
    }
}
