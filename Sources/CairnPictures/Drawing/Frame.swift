// A rectangle of a picture.

/// A rectangle by its upper left corner and its size.
package struct Frame: Equatable, Sendable {
    package var x: Double
    package var y: Double
    package var width: Double
    package var height: Double

    /// The right side.
    var right: Double { x + width }
    /// The lower side.
    var bottom: Double { y + height }

    /// The same with so much less on all four sides.
    func inset(_ margin: Double) -> Frame {
        Frame(
            x: x + margin, y: y + margin, width: max(0, width - 2 * margin),
            height: max(0, height - 2 * margin))
    }

    /// Whether two have more than a side in common.
    func overlaps(_ other: Frame) -> Bool {
        x < other.right && other.x < right && y < other.bottom && other.y < bottom
    }
}
