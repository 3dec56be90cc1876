// Elements of an SVG as text.
//
// Threads: a value.

/// Writes the elements of an SVG.
struct SVGWriter {
    /// The attributes of an element, in the order in which they are written; those without a value are left out.
    typealias Attributes = KeyValuePairs<String, String?>

    private(set) var text = ""

    /// Writes an element.
    ///
    /// - Parameter title: what a pointer over it is told.
    mutating func add(_ name: String, _ attributes: Attributes, title: String? = nil) {
        begin(name, attributes)
        guard let title else {
            text.removeLast()
            text += "/>"
            return
        }
        text += "<title>\(Markup.escaped(title))</title>"
        end(name)
    }

    /// Writes the start of an element, and what a pointer over it is told.
    mutating func open(_ name: String, _ attributes: Attributes = [:], title: String? = nil) {
        begin(name, attributes)
        if let title { text += "<title>\(Markup.escaped(title))</title>" }
    }

    /// Writes the end of an element.
    mutating func end(_ name: String) { text += "</\(name)>" }

    /// Writes a line of text.
    ///
    /// - Parameter anchor: `start`, `middle` or `end`; the place is that of it.
    mutating func write(
        _ words: String, _ x: Double, _ y: Double, size: Double = 11, ink: Ink = .text,
        anchor: String? = nil, bold: Bool = false, italic: Bool = false
    ) {
        begin(
            "text",
            [
                "x": Self.number(x), "y": Self.number(y), "font-size": Self.number(size),
                "fill": ink.css, "text-anchor": anchor, "font-weight": bold ? "600" : nil,
                "font-style": italic ? "italic" : nil,
            ])
        text += Markup.escaped(words)
        end("text")
    }

    /// Writes a rectangle.
    mutating func rectangle(
        _ frame: Frame, fill: String, stroke: Ink? = nil, radius: Double = 0, dashed: Bool = false,
        width: Double = 1, title: String? = nil
    ) {
        add(
            "rect",
            [
                "x": Self.number(frame.x), "y": Self.number(frame.y),
                "width": Self.number(frame.width), "height": Self.number(frame.height),
                "rx": radius > 0 ? Self.number(radius) : nil, "fill": fill, "stroke": stroke?.css,
                "stroke-width": stroke != nil && width != 1 ? Self.number(width) : nil,
                "stroke-dasharray": dashed ? "4 3" : nil,
            ], title: title)
    }

    /// Writes what other writers have written.
    mutating func add(_ other: SVGWriter) { text += other.text }

    private mutating func begin(_ name: String, _ attributes: Attributes) {
        text += "<\(name)"
        for case (let key, let value?) in attributes {
            text += " \(key)=\"\(Markup.escaped(value))\""
        }
        text += ">"
    }

    /// A coordinate, to a tenth: nobody sees more.
    static func number(_ value: Double) -> String {
        guard let tenths = Int(exactly: (value * 10).rounded()) else { return "0" }
        let sign = tenths < 0 ? "-" : ""
        let rest = tenths.magnitude % 10
        return "\(sign)\(tenths.magnitude / 10)" + (rest == 0 ? "" : ".\(rest)")
    }
}
