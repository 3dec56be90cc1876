// Divides a rectangle among weights, so that the parts are as near to squares as may be.
//
//   Bruls, Huizing, van Wijk, "Squarified Treemaps" (2000): the largest weights first, in rows along the shorter side; a row
//   takes another weight as long as that makes its worst part no worse.
//
// Invariants: the parts cover the rectangle, and no two have more than a side in common.

/// Divides a rectangle.
enum Squares {
    /// The part of each weight, in the order in which they are given; weights of 0 have no area.
    static func divide(_ frame: Frame, among weights: [Double]) -> [Frame] {
        var parts = [Frame](
            repeating: Frame(x: frame.x, y: frame.y, width: 0, height: 0), count: weights.count)
        let order = weights.indices.filter { weights[$0] > 0 }
            .sorted { (weights[$1], $0) < (weights[$0], $1) }
        var left = frame
        var total = order.reduce(0) { $0 + weights[$1] }
        var next = 0
        while next < order.count {
            let area = left.width * left.height
            let side = min(left.width, left.height)
            guard area > 0, total > 0, side > 0 else { break }
            let scale = area / total
            var count = 1
            var sum = weights[order[next]]
            var worst = Self.worst(weights, order[next..<next + 1], sum, scale, side)
            while next + count < order.count {
                let more = sum + weights[order[next + count]]
                let worse = Self.worst(weights, order[next...next + count], more, scale, side)
                if worse > worst { break }
                (worst, sum, count) = (worse, more, count + 1)
            }
            let isLast = next + count == order.count
            place(
                order[next..<next + count], of: weights, sum, in: &left, share: sum / total,
                isLast: isLast, &parts)
            total -= sum
            next += count
        }
        return parts
    }

    /// How far the part that is least like a square is from one.
    private static func worst(
        _ weights: [Double], _ row: ArraySlice<Int>, _ sum: Double, _ scale: Double, _ side: Double
    ) -> Double {
        let depth = sum * scale / side
        return row.reduce(0) { worst, index in
            let length = weights[index] * scale / depth
            return max(worst, max(length / depth, depth / length))
        }
    }

    private static func place(
        _ row: ArraySlice<Int>, of weights: [Double], _ sum: Double, in left: inout Frame,
        share: Double, isLast: Bool, _ parts: inout [Frame]
    ) {
        let isWide = left.width >= left.height
        let depth = (isWide ? left.width : left.height) * (isLast ? 1 : share)
        var offset = 0.0
        for index in row {
            let length = (isWide ? left.height : left.width) * weights[index] / sum
            parts[index] =
                isWide
                ? Frame(x: left.x, y: left.y + offset, width: depth, height: length)
                : Frame(x: left.x + offset, y: left.y, width: length, height: depth)
            offset += length
        }
        if isWide {
            left.x += depth
            left.width -= depth
        } else {
            left.y += depth
            left.height -= depth
        }
    }
}
