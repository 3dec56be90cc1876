// The set of characters that match at one position of a regular expression.
//
//   1. A place takes one character as people count them, as `?` of LIKE does: CR LF is one, and a letter with its accents.
//   2. A character is compared by its scalars, as texts are. Without regard to case it is folded as [c] folds texts.
//   3. A range has characters of one scalar.
//   4. What Unicode says of characters (`\p{…}`, `[:…:]`) is asked of Swift's own matcher, one character at a time.
//
// Threads: immutable, so any.

import Synchronization

/// A set of characters.
indirect enum PatternSet: Sendable, Hashable {
    /// Every character.
    case any
    /// One character.
    case character(String)
    /// One character, ignoring case; folded.
    case caseless(String)
    /// Characters of one scalar in a range.
    case range(UInt32, UInt32, ignoresCase: Bool)
    /// `\w`: letters, digits, marks and connecting punctuation.
    case word
    /// `\d`: decimal digits.
    case digit
    /// `\s`: white space and line ends.
    case space
    /// `\h`: horizontal white space.
    case horizontalSpace
    /// `\R` and `\v`: line ends.
    case newline
    /// A Unicode property.
    case property(PatternProperty)
    /// The union of sets.
    case union([PatternSet])
    /// The intersection of two sets.
    case intersection(PatternSet, PatternSet)
    /// The first set without the second.
    case difference(PatternSet, PatternSet)
    /// The symmetric difference of two sets.
    case symmetricDifference(PatternSet, PatternSet)
    /// The complement of a set.
    case inverse(PatternSet)

    /// One character of a pattern.
    init(_ character: Character, ignoresCase: Bool) {
        let text = String(character)
        self = ignoresCase ? .caseless(Self.folded(text)) : .character(text)
    }

    private static func folded(_ text: String) -> String {
        text.folded(case: true, diacritics: false)
    }

    /// Whether a character is in it.
    func contains(_ character: Character) -> Bool {
        switch self {
        case .any: true
        case .character(let text): text.utf8.elementsEqual(character.utf8)
        case .caseless(let text): text.utf8.elementsEqual(Self.folded(String(character)).utf8)
        case .range(let least, let most, let ignoresCase):
            Self.isIn(character, least...most, ignoresCase)
        case .word: Self.isOfWord(character)
        case .digit: Self.category(of: character) == .decimalNumber
        case .space: character.isWhitespace
        case .horizontalSpace: character.isWhitespace && !character.isNewline
        case .newline: character.isNewline
        case .property(let property): property.holds(character)
        case .union(let sets): sets.contains { $0.contains(character) }
        case .intersection(let one, let other):
            one.contains(character) && other.contains(character)
        case .difference(let one, let other):
            one.contains(character) && !other.contains(character)
        case .symmetricDifference(let one, let other):
            one.contains(character) != other.contains(character)
        case .inverse(let set): !set.contains(character)
        }
    }

    private static func isIn(
        _ character: Character, _ range: ClosedRange<UInt32>, _ ignoresCase: Bool
    ) -> Bool {
        guard let scalar = character.onlyScalar else { return false }
        if range.contains(scalar.value) { return true }
        guard ignoresCase else { return false }
        return [scalar.properties.lowercaseMapping, scalar.properties.uppercaseMapping].contains {
            let scalars = $0.unicodeScalars
            return scalars.count == 1 && scalars.allSatisfy { range.contains($0.value) }
        }
    }

    private static func isOfWord(_ character: Character) -> Bool {
        guard let properties = character.unicodeScalars.first?.properties else { return false }
        if properties.isAlphabetic || properties.isJoinControl { return true }
        return switch properties.generalCategory {
        case .decimalNumber, .connectorPunctuation, .nonspacingMark, .spacingMark, .enclosingMark:
            true
        default: false
        }
    }

    private static func category(of character: Character) -> Unicode.GeneralCategory? {
        character.unicodeScalars.first?.properties.generalCategory
    }
}

extension Character {
    /// Its scalar, if there is one alone.
    fileprivate var onlyScalar: Unicode.Scalar? {
        let scalars = unicodeScalars
        guard let first = scalars.first, scalars.count == 1 else { return nil }
        return first
    }
}

/// Something that Unicode says of characters, by its name.
final class PatternProperty: Sendable, Hashable {
    /// As it stands in a pattern.
    let text: String
    private let regex: Mutex<Regex<AnyRegexOutput>>

    /// Finds a property.
    ///
    /// - Throws: What Swift's parser says of a name that it does not know.
    init(_ text: String, ignoresCase: Bool) throws {
        self.text = ignoresCase ? "(?i)\(text)" : text
        regex = Mutex(try Regex(self.text))
    }

    /// Whether it is so of a character: one character alone cannot be much work.
    func holds(_ character: Character) -> Bool {
        regex.withLock { (try? $0.wholeMatch(in: String(character))) != nil }
    }

    static func == (one: PatternProperty, other: PatternProperty) -> Bool { one.text == other.text }

    func hash(into hasher: inout Hasher) { hasher.combine(text) }
}
