// Elements of a page as text. Texts are escaped; pictures are put in as they are.
//
// Threads: a value.

import CairnPictures

/// Writes a page.
struct HTMLWriter {
    /// The attributes of an element; those without a value are left out.
    typealias Attributes = KeyValuePairs<String, String?>

    private(set) var text = ""

    /// Writes an element with a text.
    mutating func add(_ name: String, _ words: String) { add(name, [:], words) }

    /// Writes an element with a text.
    mutating func add(_ name: String, _ attributes: Attributes, _ words: String) {
        begin(name, attributes)
        text += Markup.escaped(words)
        end(name)
    }

    /// Writes an element with what a body writes.
    mutating func add(
        _ name: String, _ attributes: Attributes = [:], _ body: (inout HTMLWriter) -> Void
    ) {
        begin(name, attributes)
        body(&self)
        end(name)
    }

    /// Writes the start of an element, or one that has no end.
    mutating func begin(_ name: String, _ attributes: Attributes = [:]) {
        text += "<\(name)"
        for case (let key, let value?) in attributes {
            text += " \(key)=\"\(Markup.escaped(value))\""
        }
        text += ">"
    }

    /// Writes the end of an element.
    mutating func end(_ name: String) { text += "</\(name)>\n" }

    /// Writes a text.
    mutating func write(_ words: String) { text += Markup.escaped(words) }

    /// Writes a picture. One of two widths is shown where it fits, and the other one is not there for anybody.
    mutating func draw(_ pictures: [Picture], scrolls: Bool = false) {
        for (index, picture) in pictures.enumerated() {
            let kind = pictures.count == 1 ? "figure" : index == 0 ? "figure wide" : "figure narrow"
            let area: Attributes =
                scrolls
                ? [
                    "class": "\(kind) scroll", "role": "region", "tabindex": "0",
                    "aria-label": picture.title,
                ] : ["class": kind]
            add("figure", area) { $0.text += picture.svg(in: .page) + "\n" }
        }
    }
}
