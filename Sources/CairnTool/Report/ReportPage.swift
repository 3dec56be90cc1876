// A report as a page: one self-contained file without scripts.
//
// Threads: a value.

import CairnInspection
import CairnLog
import CairnPictures

/// A report as HTML.
struct ReportPage {
    /// Marks a file as a report.
    static let mark = "<meta name=\"generator\" content=\"cairn report\">"

    let content: ReportContent
    /// The version of the tool that created it.
    let version: String

    /// A part of the page: its anchor, its title, and the function that writes it.
    private struct Section {
        let anchor: String
        let title: String
        let write: (inout HTMLWriter) -> Void
    }

    /// The page.
    var text: String {
        let sections = sections
        var writer = HTMLWriter()
        writer.add("body") { writer in
            writer.add("a", ["class": "skip", "href": "#health"], "Skip to the report")
            writer.add("header") { writer in
                writer.add("h1", content.title)
                writer.add(
                    "p", ["class": "quiet"], "A report of a Cairn store, made \(content.made).")
                tiles(&writer)
                writer.add("nav", ["aria-label": "Contents"]) { writer in
                    writer.add("ul") { writer in
                        for section in sections {
                            writer.add("li") {
                                $0.add("a", ["href": "#\(section.anchor)"], section.title)
                            }
                        }
                    }
                }
            }
            writer.add("main") { writer in
                for section in sections {
                    writer.add(
                        "section",
                        ["id": section.anchor, "aria-labelledby": "\(section.anchor)-title"]
                    ) { writer in
                        writer.add("h2", ["id": "\(section.anchor)-title"], section.title)
                        section.write(&writer)
                    }
                }
            }
            writer.add("footer") { writer in
                let left =
                    content.isRedacted
                    ? " Values of objects, names of people and machines are left out." : ""
                writer.add("p", "Made by cairn report, version \(version).\(left)")
            }
        }
        return "<!doctype html>\n<html lang=\"en\">\n\(head)\(writer.text)</html>\n"
    }

    private var head: String {
        """
        <head>
        <meta charset="utf-8">
        \(Self.mark)
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; \
        form-action 'none'; base-uri 'none'">
        <title>\(Markup.escaped(content.title)): report</title>
        <style>
        \(ReportStyle.sheet)
        </style>
        </head>

        """
    }

    private var sections: [Section] {
        let schema = SchemaSection(content)
        var sections = [
            Section(anchor: "health", title: "Health", write: HealthSection(content).write),
            Section(anchor: "store", title: "Store", write: StoreSection(content).write),
            Section(anchor: "entities", title: "Entities", write: schema.writeEntities),
            Section(anchor: "space", title: "Space", write: SpaceSection(content).write),
        ]
        if let strip = content.strip {
            sections.append(
                Section(anchor: "log", title: "Files of the log") { writer in
                    writer.draw(strip) { [$0.picture(), $0.picture(width: 380)] }
                    StoreSection(content).writeFiles(&writer)
                })
        }
        sections += [
            Section(anchor: "commits", title: "Commits over time") { writer in
                writer.draw(content.commits) { [$0.picture(), $0.picture(width: 380)] }
            },
            Section(
                anchor: "history", title: "Latest transactions",
                write: HistorySection(content).write),
            Section(anchor: "model", title: "Model", write: schema.writeDiagram),
            Section(anchor: "schema", title: "Schema", write: schema.writeTables),
            Section(
                anchor: "indexes", title: "Constraints and indexes", write: schema.writeIndexes),
            Section(
                anchor: "metadata", title: "Metadata", write: StoreSection(content).writeMetadata),
        ]
        return sections
    }

    // MARK: Tiles

    private func tiles(_ writer: inout HTMLWriter) {
        let information = content.information
        let entities = (information["entities"]?.elements ?? []).filter {
            $0["hidden"] != .boolean(true)
        }
        var tiles: [(words: String, what: String, kind: String?)] = [verdict]
        if information["entities"] != nil {
            let objects = entities.reduce(UInt64(0)) { $0 + ($1["objects"]?.number ?? 0) }
            tiles.append((PlainText.number(objects), objects == 1 ? "object" : "objects", nil))
            tiles.append(
                (PlainText.number(entities.count), entities.count == 1 ? "entity" : "entities", nil)
            )
        }
        if let bytes = information["bytes"]?.number {
            tiles.append((PlainText.bytes(bytes), "on disk" + live(of: bytes), nil))
        }
        if let commit = information["commit"]?.number {
            let time = information["lastCommitTime"].map { StoreSection.words($0) } ?? ""
            tiles.append(("commit \(PlainText.number(commit))", time, nil))
        }
        writer.add("ul", ["class": "tiles", "aria-label": "Summary"]) { writer in
            for tile in tiles {
                writer.add("li", ["class": tile.kind]) { writer in
                    writer.add("b", tile.words)
                    writer.add("span", tile.what)
                }
            }
        }
    }

    private var verdict: (words: String, what: String, kind: String?) {
        let health = content.health
        if health.count > 0 {
            return ("Damaged", PlainText.count(health.count, "finding"), "bad")
        }
        if content.problem != nil { return ("Does not open", "see Health", "bad") }
        if !health.isSound { return ("Not checked", "see Health", "bad") }
        return ("Sound", "as far as “\(content.depth)” looks", "good")
    }

    private func live(of bytes: UInt64) -> String {
        guard case .known(let space) = content.space, bytes > 0 else { return "" }
        let live = space.segments.reduce(UInt64(0)) { $0 &+ $1.liveBytes }
        return ", \(PlainText.decimal(Double(live) * 100 / Double(bytes), digits: 0)) % alive"
    }
}

extension HTMLWriter {
    /// Writes a known part as pictures, or the reason why it is unknown.
    mutating func draw<Content>(
        _ part: ReportContent.Part<Content>, scrolls: Bool = false,
        _ pictures: (Content) -> [Picture]
    ) {
        switch part {
        case .known(let content): draw(pictures(content), scrolls: scrolls)
        case .unknown(let reason): add("p", ["class": "missing"], reason)
        }
    }
}
