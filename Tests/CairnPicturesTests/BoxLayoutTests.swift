// Boxes and lines, placed.

import CairnTestSupport
import Testing

@testable import CairnPictures

@Suite("The layout of boxes")
struct BoxLayoutTests {
    /// A graph of some boxes, with lines between those that lie near each other in number, and some hubs.
    private static func graph(boxes count: Int, _ random: inout RandomSource) -> BoxGraph {
        var boxes: [BoxGraph.Box] = []
        var lines: [BoxGraph.Line] = []
        for _ in 0..<count {
            let slots = Int.random(in: 0...8, using: &random)
            boxes.append(
                .init(
                    width: Double.random(in: 120...280, using: &random).rounded(),
                    height: 40 + Double(slots) * 16
                        + Double.random(in: 0...160, using: &random).rounded(), head: 12,
                    slotTop: 30, slotHeight: 16, slots: slots))
        }
        for box in boxes.indices {
            for slot in 0..<boxes[box].slots where Int.random(in: 0..<3, using: &random) > 0 {
                let isHub = Int.random(in: 0..<5, using: &random) == 0
                let other = isHub ? 0 : (box + Int.random(in: 0...6, using: &random)) % count
                lines.append(
                    .init(
                        from: .init(box: box, slot: slot), to: .init(box: other, slot: nil),
                        leadsRight: Bool.random(using: &random)))
            }
        }
        return BoxGraph(boxes: boxes, lines: lines)
    }

    @Test("boxes never overlap, and no line runs through one", arguments: [1, 2, 7, 30, 100])
    func overlap(count: Int) throws {
        var random = RandomSource()
        for _ in 0..<(count > 50 ? 3 : 12) {
            let graph = Self.graph(boxes: count, &random)
            let placement = graph.placed(shape: 1.5, leastWidth: 900)
            for one in 0..<count {
                let frame = placement.frames[one]
                #expect(frame.x >= 0 && frame.y >= -0.001)
                #expect(frame.right <= placement.width + 0.001)
                #expect(frame.bottom <= placement.height + 0.001)
                #expect(frame.width >= graph.boxes[one].width)
                #expect(frame.height == graph.boxes[one].height)
                #expect(placement.slots[one].sorted() == Array(0..<graph.boxes[one].slots))
                for other in 0..<count where one < other {
                    #expect(!frame.inset(-5).overlaps(placement.frames[other].inset(-5)))
                }
            }
            for (line, route) in zip(graph.lines, placement.routes) {
                let route = try #require(route)
                for point in Self.points(of: route) {
                    let hit = placement.frames.contains {
                        let inner = $0.inset(0.5)
                        return inner.x < point.x && point.x < inner.right && inner.y < point.y
                            && point.y < inner.bottom
                    }
                    #expect(!hit, "\(line) at \(point)")
                }
            }
        }
    }

    /// Points along a route.
    private static func points(of route: Route) -> [Point] {
        var here = route.start
        var points = [here]
        for leg in route.legs {
            let end: Point
            var controls: (Point, Point)?
            switch leg {
            case .straight(let point): end = point
            case .curve(let point):
                end = point
                let middle = (here.x + point.x) / 2
                controls = (Point(x: middle, y: here.y), Point(x: middle, y: point.y))
            case .arc(let point, let reach):
                end = point
                let x = max(here.x, point.x) + reach * 4 / 3
                controls = (Point(x: x, y: here.y), Point(x: x, y: point.y))
            }
            for step in 1...20 {
                let t = Double(step) / 20
                func mix(_ path: KeyPath<Point, Double>) -> Double {
                    guard let controls else {
                        return here[keyPath: path] * (1 - t) + end[keyPath: path] * t
                    }
                    let rest = 1 - t
                    return here[keyPath: path] * rest * rest * rest
                        + controls.0[keyPath: path] * 3 * rest * rest * t
                        + controls.1[keyPath: path] * 3 * rest * t * t
                        + end[keyPath: path] * t * t * t
                }
                points.append(Point(x: mix(\.x), y: mix(\.y)))
            }
            here = end
        }
        return points
    }

    @Test("lines end at the slots that their boxes give them")
    func ends() throws {
        var random = RandomSource()
        let graph = Self.graph(boxes: 40, &random)
        let placement = graph.placed(shape: 1.5, leastWidth: 900)
        for (line, route) in zip(graph.lines, placement.routes) {
            let route = try #require(route)
            for (end, point, side) in [
                (line.from, route.start, route.startSide), (line.to, route.end, route.endSide),
            ] {
                let frame = placement.frames[end.box]
                let box = graph.boxes[end.box]
                let offset = end.slot.map {
                    box.slotTop + (Double(placement.slots[end.box][$0]) + 0.5) * box.slotHeight
                }
                #expect(abs(point.y - frame.y - (offset ?? box.head)) < 0.001)
                #expect(abs(point.x - (side > 0 ? frame.right : frame.x)) < 0.001)
            }
        }
    }

    @Test("the same graph is placed the same way each time")
    func determinism() {
        var random = RandomSource()
        let graph = Self.graph(boxes: 60, &random)
        let first = graph.placed(shape: 1.5, leastWidth: 900)
        let second = graph.placed(shape: 1.5, leastWidth: 900)
        #expect(first.frames == second.frames)
        #expect(first.routes == second.routes)
        #expect(first.slots == second.slots)
    }

    @Test("a tree is drawn without crossings")
    func tree() {
        // Three children for each of 13, in an order that crosses.
        var layers: [[Int]] = [[0]]
        var links: [(left: Int, right: Int)] = []
        var next = 1
        for _ in 0..<3 {
            var layer: [Int] = []
            for parent in layers[layers.count - 1] {
                for _ in 0..<3 {
                    links.append((parent, next))
                    layer.append(next)
                    next += 1
                }
            }
            layers.append(layer)
        }
        var random = RandomSource()
        layers = layers.map { $0.shuffled(using: &random) }
        var order = LayerOrder(layers, count: next, links: links, ties: [])
        let before = order.cost
        order.sort()
        #expect(before > 0)
        #expect(order.cost == 0)
    }

    @Test("the neighbours of a hub stand on both sides of it, in layers of some height")
    func hub() {
        let layers = LayerAssignment.layers(
            heights: [Double](repeating: 100, count: 41),
            lines: (1...40).map { (from: 0, to: $0, leadsRight: false) }, mostHeight: 1000)
        let counts = Dictionary(grouping: layers, by: { $0 }).mapValues(\.count)
        #expect(Set(layers) == Set(0...(layers.max() ?? 0)))
        #expect(counts.values.allSatisfy { $0 <= 12 }, "\(counts)")
        #expect(layers.dropFirst().contains { $0 < layers[0] })
        #expect(layers.dropFirst().contains { $0 > layers[0] })
    }

    @Test("items of a layer keep their gaps, and stand where their lines are level if they can")
    func heights() {
        var heights = LayerHeights([[0], [1, 2]], heights: [50, 20, 20]) { _, _ in 10 }
        heights.level(
            [
                .init(one: 0, oneOffset: 5, other: 1, otherOffset: 5, weight: 1),
                .init(one: 0, oneOffset: 45, other: 2, otherOffset: 15, weight: 1),
            ], rounds: 40)
        #expect(abs(heights.tops[1] - heights.tops[0]) < 0.5)
        #expect(abs(heights.tops[2] - heights.tops[0] - 30) < 0.5)
        #expect(heights.tops[2] >= heights.tops[1] + 30 - 1e-6)
    }

    @Test("rectangles are packed without overlaps")
    func packing() {
        var random = RandomSource()
        for _ in 0..<40 {
            let sizes = (0..<Int.random(in: 1...60, using: &random)).map { _ in
                (
                    width: Double.random(in: 20...700, using: &random),
                    height: Double.random(in: 20...400, using: &random)
                )
            }
            let places = BoxPacking.places(of: sizes, width: 600, gap: 10)
            let frames = zip(places, sizes).map {
                Frame(x: $0.x, y: $0.y, width: $1.width, height: $1.height)
            }
            for one in frames.indices {
                #expect(frames[one].right <= max(600, sizes[one].width) + 0.001)
                for other in frames.indices where one < other {
                    #expect(!frames[one].inset(-4.9).overlaps(frames[other].inset(-4.9)))
                }
            }
        }
    }
}
