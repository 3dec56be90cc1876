// Parses bracket expressions in a regular expression: characters, ranges, other sets, and set operations.

extension PatternParser {
    /// The set, parsed from after its opening bracket.
    mutating func set(_ start: Int, depth: Int = 0) throws(PatternError) -> PatternSet {
        if depth > Self.deepest {
            throw error("brackets are nested more than \(Self.deepest) deep", at: start)
        }
        if peek() == ":", let known = try namedSet(start) { return known }
        let isInverse = take("^")
        var set = try members(start, depth, isFirst: true)
        while true {
            let place = self.place
            if take("&&") {
                set = .intersection(set, try members(start, depth))
            } else if take("--") {
                set = .difference(set, try members(start, depth))
            } else if take("~~") {
                set = .symmetricDifference(set, try members(start, depth))
            } else {
                break
            }
            // Each is a level of the tree of the set.
            setOperators += 1
            if setOperators > Self.deepest {
                throw error("there are more than \(Self.deepest) operators in brackets", at: place)
            }
        }
        if !take("]") { throw error("expected ']'") }
        return isInverse ? .inverse(set) : set
    }

    /// `[:alpha:]` in brackets.
    private mutating func namedSet(_ start: Int) throws(PatternError) -> PatternSet? {
        let before = place
        while let next = peek(), next != "]" { place += 1 }
        guard scalars[before + 1..<place].last == ":", place - before > 2, take("]") else {
            place = before
            return nil
        }
        return try property(from: start, "[\(text(from: start))]")
    }

    /// What stands beside each other.
    private mutating func members(_ start: Int, _ depth: Int, isFirst: Bool = false)
        throws(PatternError) -> PatternSet
    {
        var sets: [PatternSet] = []
        var literals: [Unicode.Scalar] = []
        var isFirst = isFirst
        while let next = peek() {
            if next == "]", !isFirst { break }
            if isOperator, !isFirst { break }
            isFirst = false
            let place = self.place
            if next == "[" {
                self.place += 1
                sets.append(try set(place, depth: depth + 1))
                continue
            }
            if next == "\\" {
                self.place += 1
                if let set = try setEscape(place) {
                    sets.append(set)
                    continue
                }
                self.place -= 1
            }
            if flags.ignoresSpace, next.properties.isWhitespace {
                self.place += 1
                continue
            }
            let least = try literal()
            guard peek() == "-", let end = peek(1), end != "]", end != "-", end != "[" else {
                literals.append(least)
                continue
            }
            self.place += 1
            let most = try literal()
            guard least.value <= most.value else {
                throw error("the range \(least)-\(most) is empty", at: place)
            }
            sets.append(.range(least.value, most.value, ignoresCase: flags.ignoresCase))
        }
        sets += String(String.UnicodeScalarView(literals)).map {
            PatternSet($0, ignoresCase: flags.ignoresCase)
        }
        if sets.isEmpty { throw error("the set is empty", at: start) }
        return sets.count == 1 ? sets[0] : .union(sets)
    }

    private var isOperator: Bool {
        guard let one = peek(), one == peek(1) else { return false }
        return one == "&" || one == "-" || one == "~"
    }

    private mutating func literal() throws(PatternError) -> Unicode.Scalar {
        let start = place
        guard let scalar = peek() else { throw error("expected ']'") }
        place += 1
        guard scalar == "\\" else { return scalar }
        // Between words there is nothing to be in a set: it is the sign that takes one back.
        if take("b") { return "\u{8}" }
        return try scalarEscape(start)
    }
}
