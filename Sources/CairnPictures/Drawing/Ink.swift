// The colours of pictures.
//
// Each has a name as a CSS custom property, so that a page decides how it looks, and a fallback that suits a light page.
//
// Threads: values.

/// A colour by what it is used for.
package enum Ink: CaseIterable, Hashable, Sendable {
    case text, muted, line, panel, paper
    case live, side, dead, held, index, damage
    case inserted, updated, deleted
    case inheritance
    case added, removed, changed
    case hue0, hue1, hue2, hue3, hue4, hue5, hue6, hue7, hue8, hue9

    private static let hues: [Ink] = [
        .hue0, .hue1, .hue2, .hue3, .hue4, .hue5, .hue6, .hue7, .hue8, .hue9,
    ]

    /// The fill of one of many things side by side.
    static func hue(_ index: Int) -> Ink { hues[index % hues.count] }

    /// The name of the custom property.
    package var property: String { "--cairn-\(self)" }

    /// The colour as an attribute of a shape.
    var css: String { "var(\(property), \(light))" }

    /// The colour on a light page. Text of the page can be read on every fill.
    package var light: String {
        switch self {
        case .text: "#1c2330"
        case .muted: "#5a6474"
        case .line: "#8a94a3"
        case .panel: "#e8ecf2"
        case .paper: "#ffffff"
        case .live: "#a9cdf2"
        case .side: "#b9dfc0"
        case .dead: "#b4bac4"
        case .held: "#e6d9f4"
        case .index: "#f6e3b4"
        case .damage: "#c0262d"
        case .inserted: "#4f9d69"
        case .updated: "#4a83c9"
        case .deleted: "#c9605c"
        case .inheritance: "#7a4fb5"
        case .added: "#bfe6c6"
        case .removed: "#f6c5c3"
        case .changed: "#f8e2a8"
        case .hue0: "#bcd3f2"
        case .hue1: "#f6d2ab"
        case .hue2: "#c3e2c4"
        case .hue3: "#f3c6c6"
        case .hue4: "#d8ccee"
        case .hue5: "#e2d0bc"
        case .hue6: "#b9e1dd"
        case .hue7: "#ede4a6"
        case .hue8: "#f0cae3"
        case .hue9: "#cfd7e1"
        }
    }

    /// The colour on a dark page.
    package var dark: String {
        switch self {
        case .text: "#e7eaf0"
        case .muted: "#a3adbd"
        case .line: "#788496"
        case .panel: "#29303b"
        case .paper: "#171b21"
        case .live: "#2f5684"
        case .side: "#2f6140"
        case .dead: "#596271"
        case .held: "#544173"
        case .index: "#64531c"
        case .damage: "#ff7b78"
        case .inserted: "#5bb67b"
        case .updated: "#6ba3e8"
        case .deleted: "#e07f7a"
        case .inheritance: "#b99af0"
        case .added: "#245433"
        case .removed: "#6b2f31"
        case .changed: "#65511a"
        case .hue0: "#2f4d78"
        case .hue1: "#714a20"
        case .hue2: "#2f5a36"
        case .hue3: "#70393d"
        case .hue4: "#4e407a"
        case .hue5: "#5b4835"
        case .hue6: "#1f5856"
        case .hue7: "#5f5519"
        case .hue8: "#68395c"
        case .hue9: "#444d5a"
        }
    }

    /// The declarations of all colours, for a rule of a style sheet: on a light page, or on a dark one.
    package static func declarations(dark: Bool) -> String {
        allCases.map { "\($0.property):\(dark ? $0.dark : $0.light);" }.joined()
    }
}
