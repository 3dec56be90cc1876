// Treemaps of bytes.

import CairnTestSupport
import Testing

@testable import CairnPictures

@Suite("Treemaps")
struct SpaceTreemapTests {
    @Test("parts are as large as their weights, lie within the whole, and do not overlap")
    func division() {
        var random = RandomSource()
        for _ in 0..<60 {
            let whole = Frame(
                x: 3, y: 5, width: Double.random(in: 50...900, using: &random),
                height: Double.random(in: 50...900, using: &random))
            let count = Int.random(in: 1...40, using: &random)
            let weights = (0..<count).map { _ in
                Bool.random(using: &random) ? 0 : Double.random(in: 1...1e9, using: &random)
            }
            let total = weights.reduce(0, +)
            let parts = Squares.divide(whole, among: weights)
            #expect(parts.count == count)
            for (part, weight) in zip(parts, weights) {
                let share = part.width * part.height / (whole.width * whole.height)
                #expect(total == 0 || abs(share - weight / total) < 1e-6)
                #expect(part.x >= whole.x - 1e-6 && part.y >= whole.y - 1e-6)
                #expect(part.right <= whole.right + 1e-6 && part.bottom <= whole.bottom + 1e-6)
            }
            for one in parts.indices {
                for other in parts.indices where one < other {
                    #expect(!parts[one].inset(1e-4).overlaps(parts[other].inset(1e-4)))
                }
            }
        }
    }

    @Test("equal weights make squares, not strips")
    func squares() {
        let parts = Squares.divide(
            Frame(x: 0, y: 0, width: 400, height: 400), among: [Double](repeating: 1, count: 16))
        for part in parts { #expect(abs(part.width - part.height) < 1e-6) }
    }

    @Test("entities and properties can be linked, and say their bytes")
    func links() throws {
        let map = SpaceTreemap([
            .init(
                "Airport", entity: "Airport",
                parts: [.init("name", bytes: 2048, property: "name"), .init("heads", bytes: 10)]),
            .init("checkpoints", parts: [.init("checkpoints", bytes: 500)]),
            .init("Empty", entity: "Empty", parts: [.init("name", bytes: 0, property: "name")]),
        ])
        let picture = map.picture()
        let text = try PictureText(picture)
        #expect(text.values(of: "data-entity") == ["Airport"])
        #expect(text.values(of: "data-property") == ["name"])
        #expect(text.all("title").contains { $0.text == "Airport, name: 2.00 KiB" })
        #expect(picture.summary.contains("Airport: 2.01 KiB"))
        #expect(!picture.summary.contains("Empty"))
    }

    @Test("what nobody would see is one group, and is counted in it")
    func small() throws {
        let map = SpaceTreemap(
            [.init("Large", entity: "Large", parts: [.init("a", bytes: 1_000_000_000)])]
                + (0..<90).map {
                    .init("Small\($0)", entity: "Small\($0)", parts: [.init("a", bytes: 100)])
                })
        let text = try PictureText(map.picture())
        #expect(text.values(of: "data-entity") == ["Large"])
        #expect(text.all("title").contains { $0.text == "90 smaller: 8.79 KiB" })
    }

    @Test("a store without content has a picture, too")
    func empty() throws {
        let text = try PictureText(SpaceTreemap([]).picture())
        #expect(text.all("text").contains { $0.text == "Nothing takes space yet." })
    }
}
