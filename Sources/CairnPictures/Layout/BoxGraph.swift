// Boxes and the lines between them, to be placed.
//
// Threads: values.

/// Boxes with lines between them.
struct BoxGraph {
    /// A box. Lines end at its head, or at one of its slots: rows of one height, whose order is the layout's to choose.
    struct Box {
        var width: Double
        let height: Double
        /// How far below its upper side lines to its head end.
        let head: Double
        /// How far below its upper side the first slot begins.
        var slotTop = 0.0
        var slotHeight = 0.0
        var slots = 0
    }

    /// Where a line ends.
    struct End: Hashable {
        let box: Int
        /// Nil: at the head.
        let slot: Int?
    }

    /// A line.
    struct Line {
        let from: End
        let to: End
        /// Whether it should lead from the left to the right.
        var leadsRight = false
    }

    var boxes: [Box]
    var lines: [Line]

    /// The boxes that lines hold together, each part in order, in the order of their first boxes.
    var parts: [[Int]] {
        var part = [Int?](repeating: nil, count: boxes.count)
        var neighbours = [[Int]](repeating: [], count: boxes.count)
        for line in lines {
            neighbours[line.from.box].append(line.to.box)
            neighbours[line.to.box].append(line.from.box)
        }
        var parts: [[Int]] = []
        for first in boxes.indices where part[first] == nil {
            part[first] = parts.count
            var members = [first]
            var next = 0
            while next < members.count {
                for other in neighbours[members[next]] where part[other] == nil {
                    part[other] = parts.count
                    members.append(other)
                }
                next += 1
            }
            parts.append(members.sorted())
        }
        return parts
    }
}

/// A point of a picture.
struct Point: Equatable {
    var x: Double
    var y: Double
}

/// Where a line runs.
struct Route: Equatable {
    /// A piece of a line, from where the one before it ends.
    enum Leg: Equatable {
        case straight(Point)
        /// A curve that is level at both ends.
        case curve(Point)
        /// An arc to the right that comes back to the same side, and how far it reaches.
        case arc(Point, reach: Double)
    }

    var start: Point
    /// 1: it leaves to the right; -1: to the left.
    var startSide: Double
    var legs: [Leg]
    var end: Point
    /// 1: it arrives at a right side; -1: at a left one.
    var endSide: Double

    /// The same elsewhere.
    func moved(_ x: Double, _ y: Double) -> Route {
        func moved(_ point: Point) -> Point { Point(x: point.x + x, y: point.y + y) }
        var route = self
        route.start = moved(start)
        route.end = moved(end)
        route.legs = legs.map {
            switch $0 {
            case .straight(let point): .straight(moved(point))
            case .curve(let point): .curve(moved(point))
            case .arc(let point, let reach): .arc(moved(point), reach: reach)
            }
        }
        return route
    }
}

/// Where boxes and lines are.
struct BoxPlacement {
    /// Of each box.
    var frames: [Frame]
    /// Of each box: which place each of its slots has.
    var slots: [[Int]]
    /// Of each line.
    var routes: [Route?]
    var width: Double
    var height: Double
}
