// Rectangles side by side on a sheet of a given width, as high up as they go.
//
//   Each is put where its upper side is highest, as far left as that allows, on the skyline of those before it.
//
// Invariants: no two overlap, and between two is the gap or more.

/// Packs rectangles.
enum BoxPacking {
    private struct Step {
        var x: Double
        var width: Double
        var y: Double
    }

    /// The places of rectangles of these sizes, in their order. One that is wider than the sheet stands at its left side.
    static func places(of sizes: [(width: Double, height: Double)], width: Double, gap: Double)
        -> [Point]
    {
        // Each takes a gap along at its right and lower side, and so does the sheet.
        var skyline = [Step(x: 0, width: width + gap, y: 0)]
        return sizes.map { size in
            let wide = size.width + gap
            if wide > width + gap {
                let y = skyline.map(\.y).max() ?? 0
                skyline = [Step(x: 0, width: width + gap, y: y + size.height + gap)]
                return Point(x: 0, y: y)
            }
            var best = Point(x: 0, y: .infinity)
            for step in skyline where step.x + wide <= width + gap + 1e-6 {
                let y = height(of: skyline, from: step.x, to: step.x + wide)
                if y < best.y - 1e-6 { best = Point(x: step.x, y: y) }
            }
            cover(&skyline, from: best.x, to: best.x + wide, y: best.y + size.height + gap)
            return best
        }
    }

    private static func height(of skyline: [Step], from left: Double, to right: Double) -> Double {
        skyline.reduce(0) { height, step in
            step.x < right - 1e-6 && step.x + step.width > left + 1e-6
                ? max(height, step.y) : height
        }
    }

    private static func cover(
        _ skyline: inout [Step], from left: Double, to right: Double, y: Double
    ) {
        var steps: [Step] = []
        for step in skyline {
            let end = step.x + step.width
            if end <= left + 1e-6 || step.x >= right - 1e-6 {
                steps.append(step)
                continue
            }
            if step.x < left - 1e-6 {
                steps.append(Step(x: step.x, width: left - step.x, y: step.y))
            }
            if end > right + 1e-6 {
                steps.append(Step(x: right, width: end - right, y: step.y))
            }
        }
        steps.append(Step(x: left, width: right - left, y: y))
        skyline = steps.sorted { $0.x < $1.x }
    }
}
