// The syntax tree of a regular expression.
//
// Nothing is captured and nothing is searched for: a text matches as a whole or not. So it makes no difference how greedy a
// repetition is, and the tree does not say it.
//
// Threads: a value.

/// A part of a regular expression.
indirect enum PatternNode: Sendable {
    /// The empty expression.
    case empty
    /// One character of a set, which is referred to by its index in the pattern.
    case set(Int)
    /// One after the other.
    case sequence([PatternNode])
    /// One of several alternatives.
    case choice([PatternNode])
    /// A repetition; unlimited if there is no maximum.
    case repeated(PatternNode, least: Int, most: Int?)
    /// A condition on the position, which consumes no character.
    case anchor(PatternAnchor, holds: Bool)
    /// A lookahead or lookbehind, positive or negative. It is evaluated once, however often the expression around it is
    /// repeated: its number identifies it.
    case look(PatternNode, ahead: Bool, holds: Bool, number: Int)

    /// Several parts, one after the other.
    static func all(_ parts: [PatternNode]) -> PatternNode {
        switch parts.count {
        case 0: .empty
        case 1: parts[0]
        default: .sequence(parts)
        }
    }
}

/// A place in a text.
enum PatternAnchor: UInt8, CaseIterable, Sendable {
    /// Before the first character.
    case start
    /// After the last character.
    case end
    /// At the end, or before a final line end.
    case lastLineEnd
    /// At the start, or after a line end.
    case lineStart
    /// At the end, or before a line end.
    case lineEnd
    /// Between a word character and a character that is none.
    case wordBoundary

    /// The bit in the mask of a place.
    var bit: UInt8 { rawValue }
    /// Bits from here on are those of what is looked for ahead and behind.
    static let count: UInt8 = 6
}
