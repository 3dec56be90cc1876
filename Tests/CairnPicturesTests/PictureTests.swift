// What all pictures have in common.

import Foundation
import Testing

@testable import CairnPictures

@Suite("Pictures")
struct PictureTests {
    /// Names that try to get out of their places.
    private static let evil = #"<script>"&'\#u{202E}\#u{7}"#

    private static func pictures(_ name: String, width: Double = 960) -> [Picture] {
        let map = SpaceTreemap([
            .init(
                name, entity: name,
                parts: [
                    .init(name, bytes: 900, property: name, remark: name),
                    .init("dead", bytes: 100, kind: .dead), .init(name, bytes: 50, kind: .memory),
                ])
        ])
        let strip = LogStrip([
            .init(1, .main, bytes: 4096, liveBytes: 1000, remark: name, problem: name),
            .init(2, .side, bytes: 100_000, liveBytes: 100_000),
            .init(7, .checkpoint, bytes: 2000, liveBytes: nil),
        ])
        let timeline = CommitTimeline([
            .init(1, time: 0, inserted: 3, updated: 0, deleted: 0),
            .init(2, time: 86_400 * 40, inserted: 0, updated: 2, deleted: 1),
        ])
        var entity = ModelDiagram.Entity(name)
        entity.parent = name
        entity.note = name
        entity.attributes = [.init(name, type: name)]
        entity.relationships = [.init(name, to: name, arity: name)]
        entity.rules = [.init(name, remark: name)]
        entity.change = .changed
        let diagram = ModelDiagram([entity], comparedWith: name)
        return [
            map.picture(width: width), strip.picture(width: width), timeline.picture(width: width),
            diagram.picture(width: width),
        ]
    }

    @Test(
        "are well-formed, say what they are, and bring neither scripts nor styles into a page",
        arguments: [240, 380, 960])
    func form(width: Double) throws {
        for picture in Self.pictures(Self.evil, width: width) {
            let text = try PictureText(picture)
            let root = try #require(text.elements.first)
            #expect(root.name == "svg")
            #expect(root.attributes["role"] == "img")
            let labels = try #require(root.attributes["aria-labelledby"]).split(separator: " ")
            let ids = text.values(of: "id")
            #expect(Set(ids).count == ids.count)
            for label in labels {
                let element = text.elements.first { $0.attributes["id"] == String(label) }
                #expect(element?.text.isEmpty == false)
            }
            #expect(text.all("script").isEmpty && text.all("style").isEmpty)
            for element in text.elements {
                for (key, value) in element.attributes {
                    #expect(key != "style" && !key.hasPrefix("on") && key != "href", "\(key)")
                    guard value.contains("url(") else { continue }
                    #expect(ids.contains { value == "url(#\($0))" }, "\(value)")
                }
            }
        }
    }

    @Test("a name says what it says, without what turns the text around")
    func names() throws {
        let told = #"<script>"&'"# + "\u{FFFD}\u{FFFD}"
        for picture in [0, 3].map({ Self.pictures(Self.evil)[$0] }) {
            let text = try PictureText(picture)
            #expect(text.values(of: "data-entity").contains(told))
            #expect(text.values(of: "data-property").contains(told))
        }
    }

    @Test("pictures of one page have identifiers of their own")
    func identifiers() throws {
        let both = Self.pictures("a", width: 960) + Self.pictures("a", width: 380).prefix(3)
        let ids = try both.flatMap { try PictureText($0).values(of: "id") }
        #expect(Set(ids).count == ids.count)
    }

    @Test("colours have fallbacks, and a file of its own has a sheet for the dark")
    func colours() throws {
        for picture in Self.pictures("a") {
            let page = picture.svg(in: .page)
            #expect(page.contains("var(--cairn-"))
            #expect(!page.contains("prefers-color-scheme"))
            let style = try #require(try PictureText(picture, .file).all("style").first)
            #expect(style.text.contains("prefers-color-scheme: dark"))
            for ink in Ink.allCases { #expect(style.text.contains("\(ink.property):\(ink.dark);")) }
        }
    }

    @Test("text can be read on every fill, light and dark")
    func contrast() throws {
        let fills: [Ink] =
            [.paper, .panel, .live, .side, .held, .index, .added, .removed, .changed]
            + (0..<10).map(Ink.hue)
        for fill in fills {
            #expect(try ratio(Ink.text.light, fill.light) >= 4.5, "\(fill)")
            #expect(try ratio(Ink.text.dark, fill.dark) >= 4.5, "\(fill)")
        }
        for ink in [Ink.muted, .inheritance, .damage] {
            for paper in [Ink.paper, .panel] {
                #expect(try ratio(ink.light, paper.light) >= 4.5, "\(ink) on \(paper)")
                #expect(try ratio(ink.dark, paper.dark) >= 4.5, "\(ink) on \(paper)")
            }
        }
    }

    /// The contrast of two colours as WCAG 2 defines it.
    private func ratio(_ one: String, _ other: String) throws -> Double {
        func luminance(_ colour: String) throws -> Double {
            let number = try #require(Int(colour.dropFirst(), radix: 16))
            let parts = [16, 8, 0].map { shift -> Double in
                let part = Double(number >> shift & 255) / 255
                return part <= 0.03928 ? part / 12.92 : pow((part + 0.055) / 1.055, 2.4)
            }
            return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]
        }
        let values = try [luminance(one), luminance(other)].sorted()
        return (values[1] + 0.05) / (values[0] + 0.05)
    }

    @Test("a text is cut where it would be too wide, and not else")
    func cut() {
        #expect(TextWidth.cut("Airport", to: 100, size: 11) == "Airport")
        let long = String(repeating: "many words ", count: 20)
        for width in [24.0, 40, 100, 300] {
            let cut = TextWidth.cut(long, to: width, size: 11)
            #expect(TextWidth.of(cut, size: 11) <= width)
            #expect(cut.hasSuffix("…") && long.hasPrefix(cut.dropLast()))
        }
        #expect(TextWidth.cut(long, to: 3, size: 11).isEmpty)
    }

    @Test(
        "coordinates are told to a tenth, and are always numbers",
        arguments: [
            (0, "0"), (1.25, "1.3"), (-0.04, "0"), (-2.5, "-2.5"), (1e30, "0"), (.nan, "0"),
        ] as [(Double, String)])
    func number(value: Double, text: String) {
        #expect(SVGWriter.number(value) == text)
    }
}
