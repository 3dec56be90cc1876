// The tree of a regular expression: what a text must be.
//
// Nothing is captured and nothing is searched for: a text matches as a whole or not. So it makes no difference how greedy a
// repetition is, and the tree does not say it.
//
// Threads: a value.

/// A part of a regular expression.
indirect enum PatternNode: Sendable {
    /// Nothing at all.
    case empty
    /// One character of a set, by its number in the pattern.
    case set(Int)
    /// One after the other.
    case sequence([PatternNode])
    /// One of them.
    case choice([PatternNode])
    /// Several times; without end if there is no most.
    case repeated(PatternNode, least: Int, most: Int?)
    /// A condition on the place, which takes no character.
    case anchor(PatternAnchor, holds: Bool)
    /// What must follow here, or stand before, or must not. It is looked for once, however often the part around it is repeated:
    /// its number says which one it is.
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
    /// Behind the last character.
    case end
    /// There, or before the line end that is the last character.
    case lastLineEnd
    /// At the start, or behind a line end.
    case lineStart
    /// At the end, or before a line end.
    case lineEnd
    /// Between a character of a word and what is none.
    case wordBoundary

    /// The bit in the mask of a place.
    var bit: UInt8 { rawValue }
    /// Bits from here on are those of what is looked for ahead and behind.
    static let count: UInt8 = 6
}
