// Writes elements of a page as text. Text is escaped; pictures are inserted unchanged.
//
// Threads: a value.

import CairnPictures

/// Writes a page.
struct HTMLWriter {
    /// The attributes of an element; those without a value are omitted.
    typealias Attributes = KeyValuePairs<String, String?>

    private(set) var text = ""

    /// Writes an element with text.
    mutating func add(_ name: String, _ words: String) { add(name, [:], words) }

    /// Writes an element with text.
    mutating func add(_ name: String, _ attributes: Attributes, _ words: String) {
        begin(name, attributes)
        text += Markup.escaped(words)
        end(name)
    }

    /// Writes an element with the output of a body.
    mutating func add(
        _ name: String, _ attributes: Attributes = [:], _ body: (inout HTMLWriter) -> Void
    ) {
        begin(name, attributes)
        body(&self)
        end(name)
    }

    /// Writes the start of an element, or an element without an end.
    mutating func begin(_ name: String, _ attributes: Attributes = [:]) {
        text += "<\(name)"
        for case (let key, let value?) in attributes {
            text += " \(key)=\"\(Markup.escaped(value))\""
        }
        text += ">"
    }

    /// Writes the end of an element.
    mutating func end(_ name: String) { text += "</\(name)>\n" }

    /// Writes text.
    mutating func write(_ words: String) { text += Markup.escaped(words) }

    /// Writes a picture. Of two widths only the one that fits is shown; the other is hidden for all readers.
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
