// The disk usage.

import CairnInspection
import CairnLog
import CairnPictures

/// The part of a report about space.
struct SpaceSection {
    private let content: ReportContent

    init(_ content: ReportContent) { self.content = content }

    /// Writes the section.
    func write(_ writer: inout HTMLWriter) {
        writer.draw(content.treemap) { [$0.picture(), $0.picture(width: 380)] }
        guard let space = content.space?.content else { return }
        writer.add("details") { writer in
            writer.add("summary", "Bytes of each property")
            properties(space).write(to: &writer)
        }
    }

    private func properties(_ space: StoreSpace) -> ReportTable {
        var table = ReportTable(
            "Bytes in blocks, as stored. Large values lie outside of blocks.",
            [
                .init("entity"), .init("property"), .init("live", .number),
                .init("dead", .number), .init("large values", .number), .init("encoding"),
            ])
        for entity in space.entities where entity.blocks > 0 {
            for property in entity.properties {
                table.add([
                    .init(entity.isHidden ? "\(entity.name) (pairs)" : entity.name),
                    .init(property.name), .init(PlainText.number(property.liveBytes)),
                    .init(
                        PlainText.number(property.bytes - min(property.bytes, property.liveBytes))),
                    .init(
                        property.largeValueBytes == 0
                            ? "" : PlainText.number(property.largeValueBytes)),
                    .init(property.encodings.map(\.name).joined(separator: "; ")),
                ])
            }
        }
        return table
    }
}
