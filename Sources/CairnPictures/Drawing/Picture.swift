// A picture that is done.
//
// Colours are custom properties with fallbacks, in attributes: a picture within a page brings no style sheet along, so a page
// that allows none but its own can show it. One that stands alone has a sheet for dark surroundings.
//
// Threads: a value.

/// A picture, as SVG.
package struct Picture: Sendable {
    /// What it shows, in a few words.
    package let title: String
    /// The same in sentences, for those who do not see it.
    package let summary: String
    /// How wide it is by itself.
    package let width: Double
    /// How high it is by itself.
    package let height: Double
    /// What the identifiers within it begin with.
    private let name: String
    private let content: String

    /// - Parameter name: what tells its identifiers from those of other pictures in the page.
    init(
        _ name: String, title: String, summary: String, width: Double, height: Double,
        _ content: SVGWriter
    ) {
        self.name = name
        self.title = title
        self.summary = summary
        self.width = width.rounded(.up)
        self.height = height.rounded(.up)
        self.content = content.text
    }

    /// Where a picture is shown.
    package enum Place: Sendable {
        /// In a file of its own.
        case file
        /// In a page, which says what the colours are.
        case page
    }

    /// The picture as the text of an SVG element.
    package func svg(in place: Place) -> String {
        var writer = SVGWriter()
        writer.open(
            "svg",
            [
                "xmlns": "http://www.w3.org/2000/svg", "role": "img",
                "aria-labelledby": "\(name)-title \(name)-summary",
                "viewBox": "0 0 \(SVGWriter.number(width)) \(SVGWriter.number(height))",
                "width": SVGWriter.number(width), "height": SVGWriter.number(height),
                "font-family":
                    "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
            ])
        let title = Markup.escaped(title)
        let summary = Markup.escaped(summary)
        let style =
            place == .page
            ? ""
            : "<style>@media (prefers-color-scheme: dark){svg{\(Ink.declarations(dark: true))"
                + "background:\(Ink.paper.dark)}}</style>"
        return writer.text + "<title id=\"\(name)-title\">\(title)</title>"
            + "<desc id=\"\(name)-summary\">\(summary)</desc>\(style)\(content)</svg>"
    }
}
