// The patterns of LIKE: `*` matches any characters, `?` matches one, and a backslash escapes a character.
//
//   1. Both texts are walked together; a star is noted with where it stands.
//   2. Where they differ, the last star takes one character more. Stars before it need no second thought, so
//      the work is at most the product of both lengths.
//
// Threads: a value.

/// A pattern of LIKE.
package struct LikePattern: Sendable, Hashable {
    private enum Part: Hashable, Sendable {
        case run
        case one
        case character(Character)
    }

    private var parts: [Part] = []

    /// Reads a pattern. A backslash at the end is itself.
    package init(_ text: String) {
        var isEscaped = false
        for character in text {
            if isEscaped {
                parts.append(.character(character))
                isEscaped = false
                continue
            }
            switch character {
            case "\\": isEscaped = true
            case "*": if parts.last != .run { parts.append(.run) }
            case "?": parts.append(.one)
            default: parts.append(.character(character))
            }
        }
        if isEscaped { parts.append(.character("\\")) }
    }

    /// Whether a whole text is like it.
    package func matches(_ text: String) -> Bool {
        let characters = Array(text)
        var place = 0
        var part = 0
        var star: (part: Int, place: Int)?
        while place < characters.count {
            if part < parts.count, parts[part] == .run {
                star = (part, place)
                part += 1
            } else if part < parts.count, accepts(parts[part], characters[place]) {
                part += 1
                place += 1
            } else if let last = star {
                star = (last.part, last.place + 1)
                part = last.part + 1
                place = last.place + 1
            } else {
                return false
            }
        }
        while part < parts.count, parts[part] == .run { part += 1 }
        return part == parts.count
    }

    private func accepts(_ part: Part, _ character: Character) -> Bool {
        switch part {
        case .run: false
        case .one: true
        case .character(let wanted): wanted.utf8.elementsEqual(character.utf8)
        }
    }
}
