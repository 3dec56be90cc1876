// Strips of segments.

import Testing

@testable import CairnPictures

@Suite("Strips of segments")
struct LogStripTests {
    @Test(
        "segments keep their order and stay within the picture, however many and however large",
        arguments: [(1, 380.0), (3, 960), (40, 380), (400, 960)])
    func rows(count: Int, width: Double) throws {
        let segments = (1...count).map { number -> LogStrip.Segment in
            let bytes: UInt64 = number % 7 == 0 ? 1 << 26 : 4096
            let live: UInt64 = number % 3 == 0 ? 2000 : 4096
            return LogStrip.Segment(UInt64(number), .main, bytes: bytes, liveBytes: live)
        }
        let text = try PictureText(LogStrip(segments).picture(width: width))
        #expect(text.values(of: "data-segment") == segments.map { "\($0.number)" })
        for rectangle in text.all("rect") where rectangle.attributes["y"] != nil {
            #expect(rectangle.number("x") >= 0)
            #expect(rectangle.number("x") + rectangle.number("width") <= width + 1)
        }
    }

    @Test("as much of a segment is filled as is alive")
    func live() throws {
        let strip = LogStrip([.init(1, .main, bytes: 1000, liveBytes: 250)])
        let text = try PictureText(strip.picture())
        let widths = text.all("rect").filter { $0.number("height") == 44 }.map {
            $0.number("width")
        }
        #expect(widths.count == 3)
        #expect(abs(widths[1] / widths[0] - 0.25) < 0.01)
        #expect(strip.picture().summary == "1 segment with 1,000 bytes, 250 bytes of them alive.")
    }

    @Test("damage is named, not only coloured")
    func damage() throws {
        let strip = LogStrip([
            .init(1, .main, bytes: 1000, liveBytes: nil),
            .init(2, .main, bytes: 1000, liveBytes: nil, problem: "a checksum"),
        ])
        let text = try PictureText(strip.picture())
        #expect(strip.picture().summary == "2 segments with 1.95 KiB. Damaged: 2.")
        #expect(text.all("text").contains { $0.text == "! 2" })
        #expect(text.all("title").contains { $0.text.hasSuffix("damaged: a checksum") })
    }
}
