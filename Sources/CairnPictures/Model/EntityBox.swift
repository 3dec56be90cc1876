// What stands in the box of an entity, and how large that is.
//
//   1. The head: name, how many objects, and the parent below.
//   2. Attributes, those that changed first, then as many as there is room for; relationships, all of them, for links end at
//      their rows; constraints and indexes.
//
// Threads: values.

/// The rows of an entity's box.
struct EntityBox {
    /// A row of a box.
    struct Row {
        var left: String
        var right = ""
        var isBold = false
        var isItalic = false
        var ink = Ink.text
        var title: String?
        var change: ModelDiagram.Change?
        var property: String?
    }

    static let rowHeight = 17.0
    static let padding = 9.0
    static let size = 11.0
    static let nameSize = 13.0
    private static let widths = 130.0...290.0

    let entity: ModelDiagram.Entity
    let attributes: [Row]
    let relationships: [Row]
    let rules: [Row]

    /// - Parameter most: how many attributes are shown, and how many rules.
    init(_ entity: ModelDiagram.Entity, most: Int) {
        self.entity = entity
        attributes = Self.cut(entity.attributes.map(Self.row), to: most) {
            "\($0) more attributes"
        }
        relationships = entity.relationships.map(Self.row)
        rules = Self.cut(entity.rules.map(Self.row), to: max(2, most / 2)) { "\($0) more" }
    }

    private static func cut(_ rows: [Row], to most: Int, _ words: (Int) -> String) -> [Row] {
        // One row that says that one row is missing would take its place.
        guard rows.count > most + 1 else { return rows }
        let changed = rows.filter { $0.change != nil }
        let chosen = changed + rows.filter { $0.change == nil }.prefix(max(0, most - changed.count))
        let rest = rows.filter { row in !chosen.contains { $0.property == row.property } }
        let shown =
            changed.isEmpty
            ? chosen : rows.filter { row in chosen.contains { $0.property == row.property } }
        guard !rest.isEmpty else { return shown }
        return shown + [
            Row(
                left: "… \(words(rest.count))", isItalic: true, ink: .muted,
                title: rest.map { $0.right.isEmpty ? $0.left : "\($0.left): \($0.right)" }
                    .joined(separator: "\n"))
        ]
    }

    private static func row(_ attribute: ModelDiagram.Attribute) -> Row {
        Row(
            left: attribute.isKey ? "◆ \(attribute.name)" : attribute.name, right: attribute.type,
            isBold: attribute.isKey, isItalic: attribute.isDerived,
            title: title("\(attribute.name): \(attribute.type)", attribute.remark),
            change: attribute.change, property: attribute.name)
    }

    private static func row(_ relationship: ModelDiagram.Relationship) -> Row {
        let arrow = relationship.isToMany ? "⇉" : "→"
        return Row(
            left: relationship.name,
            right: "\(arrow) \(relationship.destination) \(relationship.arity)",
            title: title(
                "\(relationship.name) \(arrow) \(relationship.destination), \(relationship.arity)",
                relationship.remark), change: relationship.change, property: relationship.name)
    }

    private static func row(_ rule: ModelDiagram.Rule) -> Row {
        Row(
            left: rule.words, ink: .muted, title: title(rule.words, rule.remark),
            change: rule.change, property: rule.words)
    }

    private static func title(_ words: String, _ remark: String?) -> String {
        remark.map { "\(words)\n\($0)" } ?? words
    }

    // MARK: Size

    /// The height of what stands above the rows.
    var headHeight: Double { entity.parent == nil ? 26 : 41 }

    /// What stands before the name.
    var title: String { (entity.change.map { "\($0.sign) " } ?? "") + entity.name }

    private static let sectionGap = 7.0

    private func height(of rows: [Row]) -> Double {
        rows.isEmpty ? 0 : Double(rows.count) * Self.rowHeight + Self.sectionGap
    }

    /// How far below the upper side the relationships begin.
    var slotTop: Double { headHeight + height(of: attributes) + 4 }

    /// Where each group of rows begins, below the upper side.
    var sections: [(rows: [Row], top: Double)] {
        [
            (attributes, headHeight + 4), (relationships, slotTop),
            (rules, slotTop + height(of: relationships)),
        ].filter { !$0.0.isEmpty }
    }

    var height: Double {
        slotTop + height(of: relationships) + height(of: rules) - (sections.isEmpty ? 0 : 2)
    }

    var width: Double {
        var width =
            TextWidth.of(title, size: Self.nameSize, bold: true)
            + (entity.note.map { TextWidth.of($0, size: Self.size) + 14 } ?? 0)
        if let parent = entity.parent {
            width = max(width, TextWidth.of("inherits from \(parent)", size: Self.size))
        }
        for row in attributes + relationships + rules {
            let right = row.right.isEmpty ? 0 : TextWidth.of(row.right, size: Self.size) + 16
            let sign = row.change == nil ? 0.0 : 14
            width = max(
                width, TextWidth.of(row.left, size: Self.size, bold: row.isBold) + right + sign)
        }
        return min(max(width + 2 * Self.padding, Self.widths.lowerBound), Self.widths.upperBound)
            .rounded(.up)
    }
}
