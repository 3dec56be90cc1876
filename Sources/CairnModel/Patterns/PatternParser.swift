// Parses a regular expression, in the syntax that ICU and Swift have in common.
//
//   1. A pattern is read by scalars. Literals that stand beside each other are put together before they are taken apart into
//      characters, so that a letter and its accent, or `\r\n`, are one.
//   2. What cannot be answered in a time that is bounded by the lengths of text and pattern is refused by name: references
//      to groups, recursion, and groups that give nothing back. Of the last, `[a-z]++` of a single set can.
//   3. Groups and brackets may be nested 200 deep, and there may be as many operators between sets: whoever reads a tree calls
//      itself for each level.
//   4. Sets are numbered, equal ones once: a part that is repeated often names them each time, and they may be long.
//
// Threads: one parser lives in one call.

/// Parses a regular expression.
struct PatternParser {
    /// How literals and signs are read.
    struct Flags: Equatable {
        /// `i`: without regard to case.
        var ignoresCase = false
        /// `s`: the dot takes line ends, too.
        var dotTakesNewlines = false
        /// `m`: `^` and `$` are of lines.
        var anchorsAreOfLines = false
        /// `x`: white space and what stands behind # is not part of the pattern.
        var ignoresSpace = false
    }

    /// What is read before its repetition is known.
    enum Atom {
        case literals([Unicode.Scalar])
        case node(PatternNode)
    }

    let scalars: [Unicode.Scalar]
    var place = 0
    var flags: Flags
    private var depth = 0
    /// The operators between sets so far.
    var setOperators = 0
    /// The sets by their numbers.
    private(set) var sets: [PatternSet] = []
    private var known: [PatternSet: Int] = [:]
    /// How often it is looked ahead or behind.
    private var looks = 0

    static let deepest = 200
    /// What is repeated more often has no end, as far as anybody can tell.
    static let most = 1_000_000

    /// The tree of a pattern, and the sets that it names.
    ///
    /// - Throws: `PatternError` with the place.
    static func parse(_ text: String, ignoresCase: Bool) throws(PatternError)
        -> (node: PatternNode, sets: [PatternSet])
    {
        var parser = PatternParser(
            scalars: Array(text.unicodeScalars), flags: Flags(ignoresCase: ignoresCase))
        let node = try parser.choice()
        if !parser.isAtEnd { throw parser.error("unmatched ')'") }
        return (node, parser.sets)
    }

    private init(scalars: [Unicode.Scalar], flags: Flags) {
        self.scalars = scalars
        self.flags = flags
    }

    // MARK: Parts with numbers

    /// One character of a set.
    mutating func node(of set: PatternSet) -> PatternNode {
        if let number = known[set] { return .set(number) }
        known[set] = sets.count
        sets.append(set)
        return .set(sets.count - 1)
    }

    private mutating func look(for node: PatternNode, ahead: Bool, holds: Bool) -> PatternNode {
        defer { looks += 1 }
        return .look(node, ahead: ahead, holds: holds, number: looks)
    }

    // MARK: Signs

    var isAtEnd: Bool { place == scalars.count }

    func peek(_ offset: Int = 0) -> Unicode.Scalar? {
        place + offset < scalars.count ? scalars[place + offset] : nil
    }

    mutating func take(_ text: String) -> Bool {
        let wanted = text.unicodeScalars
        guard scalars[place...].starts(with: wanted) else { return false }
        place += wanted.count
        return true
    }

    func error(_ message: String, at place: Int? = nil) -> PatternError {
        let before = String.UnicodeScalarView(scalars[..<min(place ?? self.place, scalars.count)])
        return PatternError(message: message, offset: String(before).count)
    }

    /// An error about what would take a time without bounds.
    func unbounded(_ what: String, _ instead: String, at place: Int) -> PatternError {
        error(
            "\(what) is not supported, because its running time has no bound: \(instead)", at: place
        )
    }

    // MARK: Structure

    private mutating func choice() throws(PatternError) -> PatternNode {
        var branches = [try sequence()]
        while take("|") { branches.append(try sequence()) }
        return branches.count == 1 ? branches[0] : .choice(branches)
    }

    private mutating func sequence() throws(PatternError) -> PatternNode {
        var parts: [PatternNode] = []
        var literals: [Unicode.Scalar] = []
        var literalFlags = flags
        func flush() {
            for character in String(String.UnicodeScalarView(literals)) {
                parts.append(
                    node(of: PatternSet(character, ignoresCase: literalFlags.ignoresCase)))
            }
            literals.removeAll()
        }
        while true {
            skipIgnored()
            guard let next = peek(), next != "|", next != ")" else { break }
            if flags != literalFlags {
                flush()
                literalFlags = flags
            }
            guard let atom = try atom() else { continue }
            switch atom {
            case .literals(let scalars): literals += scalars
            case .node(let node):
                flush()
                parts.append(node)
            }
            skipIgnored()
            let start = place
            guard let (least, most) = try repetition() else { continue }
            flush()
            guard let last = parts.popLast() else { throw error("nothing to repeat", at: start) }
            parts += try repeated(last, least, most, start)
            let again = place
            if try repetition() != nil {
                throw error("nested quantifier: put the inner one in (?:…)", at: again)
            }
        }
        flush()
        return .all(parts)
    }

    /// White space and comments, where they are no part of the pattern.
    private mutating func skipIgnored() {
        guard flags.ignoresSpace else { return }
        while let next = peek() {
            if next == "#" {
                while let next = peek(), next != "\n" { place += 1 }
            } else if next.properties.isWhitespace {
                place += 1
            } else {
                return
            }
        }
    }

    // MARK: Repetitions

    /// How often the part before is repeated; nil if it is not.
    private mutating func repetition() throws(PatternError) -> (least: Int, most: Int?)? {
        let start = place
        if take("*") { return (0, nil) }
        if take("+") { return (1, nil) }
        if take("?") { return (0, 1) }
        guard take("{") else { return nil }
        let least = number()
        let hasComma = take(",")
        let most = hasComma ? number() : least
        guard least != nil || most != nil, take("}") else {
            // A brace that says nothing is itself.
            place = start
            return nil
        }
        if let least, let most, least > most {
            throw error(
                "the minimum of {\(least),\(most)} exceeds its maximum", at: start)
        }
        return (least ?? 0, most)
    }

    private mutating func number() -> Int? {
        var number: Int?
        while let digit = peek(), ("0"..."9").contains(digit) {
            number = min((number ?? 0) * 10 + Int(digit.value - 0x30), Self.most)
            place += 1
        }
        return number
    }

    /// A part with its repetition; what stands behind it says how greedy it is.
    private mutating func repeated(
        _ part: PatternNode, _ least: Int, _ most: Int?, _ start: Int
    ) throws(PatternError) -> [PatternNode] {
        // Whether few or many are tried first makes no difference.
        if take("?") { return [.repeated(part, least: least, most: most)] }
        guard take("+") else { return [.repeated(part, least: least, most: most)] }
        // As many as there are, none of them given back: of a set, none of it may follow unless there were all that may be.
        guard case .set = part else {
            throw unbounded(
                "a possessive quantifier", "remove the '+', or repeat a single set", at: start)
        }
        let none = look(for: part, ahead: true, holds: false)
        guard let most else { return [.repeated(part, least: least, most: nil), none] }
        let all = PatternNode.repeated(part, least: most, most: most)
        guard least < most else { return [all] }
        return [
            .choice([.sequence([.repeated(part, least: least, most: most - 1), none]), all])
        ]
    }

    // MARK: Atoms

    /// The next part; nil for what is none, as a comment or flags.
    private mutating func atom() throws(PatternError) -> Atom? {
        let start = place
        let scalar = scalars[place]
        place += 1
        switch scalar {
        case "(": return try group(start).map { .node($0) }
        case "[":
            let set = try set(start)
            return .node(node(of: set))
        case ".":
            return .node(node(of: flags.dotTakesNewlines ? .any : .inverse(.newline)))
        case "^":
            return .node(.anchor(flags.anchorsAreOfLines ? .lineStart : .start, holds: true))
        case "$":
            return .node(.anchor(flags.anchorsAreOfLines ? .lineEnd : .lastLineEnd, holds: true))
        case "\\": return try escape(start)
        case "*", "+", "?": throw error("nothing to repeat before '\(scalar)'", at: start)
        default: return .literals([scalar])
        }
    }

    private mutating func group(_ start: Int) throws(PatternError) -> PatternNode? {
        depth += 1
        defer { depth -= 1 }
        if depth > Self.deepest {
            throw error("groups are nested more than \(Self.deepest) deep", at: start)
        }
        let outer = flags
        if take("?") {
            if take("#") {
                while let next = peek(), next != ")" { place += 1 }
                if !take(")") { throw error("expected ')'") }
                return nil
            }
            if take("=") { return try look(ahead: true, holds: true, outer) }
            if take("!") { return try look(ahead: true, holds: false, outer) }
            if take("<=") { return try look(ahead: false, holds: true, outer) }
            if take("<!") { return try look(ahead: false, holds: false, outer) }
            if take(">") {
                throw unbounded("an atomic group (?>…)", "write (?:…)", at: start)
            }
            if take("P=") || take("P>") || take("&") || take("(") || take("R") {
                throw unbounded(
                    "a back-reference, or a condition on a group",
                    "repeat the group's pattern instead", at: start)
            }
            if take("<") || take("P<") {
                try name(until: ">")
            } else if take("'") {
                try name(until: "'")
            } else if !take(":"), !take("|") {
                guard try flagsOfGroup(start) else { return nil }
            }
        } else if peek() == "*" {
            throw error("(*…) is not supported: a repetition needs something before it", at: start)
        }
        let node = try choice()
        if !take(")") { throw error("expected ')'") }
        flags = outer
        return node
    }

    private mutating func look(ahead: Bool, holds: Bool, _ outer: Flags) throws(PatternError)
        -> PatternNode
    {
        let node = try choice()
        if !take(")") { throw error("expected ')'") }
        flags = outer
        return look(for: node, ahead: ahead, holds: holds)
    }

    private mutating func name(until end: String) throws(PatternError) {
        let start = place
        while let next = peek(), next.properties.isAlphabetic || next == "_" || isDigit(next) {
            place += 1
        }
        if place == start { throw error("expected the name of a group") }
        if !take(end) { throw error("expected '\(end)' after the name of a group") }
    }

    private func isDigit(_ scalar: Unicode.Scalar) -> Bool { ("0"..."9").contains(scalar) }

    /// Reads flags. Whether a group follows; without one they are for the rest of the group around.
    private mutating func flagsOfGroup(_ start: Int) throws(PatternError) -> Bool {
        var isOn = true
        while let next = peek() {
            place += 1
            switch next {
            case "-": isOn = false
            case "^": flags = Flags()
            case "i": flags.ignoresCase = isOn
            case "s": flags.dotTakesNewlines = isOn
            case "m": flags.anchorsAreOfLines = isOn
            case "x": flags.ignoresSpace = isOn
            // Nothing is captured in any case.
            case "n": break
            case ":": return true
            case ")": return false
            default: throw error("unknown flag '\(next)'", at: place - 1)
            }
        }
        throw error("expected ')'")
    }
}
