// What marks dead space: strokes, so that it is told from the rest without colours too.

/// A pattern of strokes that a picture declares once.
struct Hatching {
    private let name: String
    private let ink: Ink

    /// - Parameter picture: what tells its identifier from those of other pictures in the page.
    init(_ picture: String, ink: Ink) {
        name = "\(picture)-\(ink)"
        self.ink = ink
    }

    /// The fill of a shape.
    var fill: String { "url(#\(name))" }

    /// Declares the pattern.
    func declare(in writer: inout SVGWriter) {
        writer.open("defs")
        writer.open(
            "pattern",
            [
                "id": name, "width": "6", "height": "6", "patternUnits": "userSpaceOnUse",
                "patternTransform": "rotate(45)",
            ])
        writer.add("rect", ["width": "6", "height": "6", "fill": Ink.panel.css])
        writer.add("rect", ["width": "2.4", "height": "6", "fill": ink.css])
        writer.end("pattern")
        writer.end("defs")
    }
}
