// Parses escape sequences in a regular expression.

extension PatternParser {
    /// The meaning of an escape sequence outside brackets; nil if it matches nothing.
    mutating func escape(_ start: Int) throws(PatternError) -> Atom? {
        guard let scalar = peek() else { throw error("expected a character after '\\'") }
        switch scalar {
        case "A": return anchor(.start)
        case "z": return anchor(.end)
        case "Z": return anchor(.lastLineEnd)
        case "b": return anchor(.wordBoundary)
        case "B": return anchor(.wordBoundary, holds: false)
        case "X":
            place += 1
            return .node(node(of: .any))
        case "Q":
            place += 1
            return .literals(quoted())
        case "E":
            place += 1
            return nil
        case "1"..."9", "k", "g":
            throw unbounded(
                "the back-reference \\\(scalar)", "repeat the group's pattern instead", at: start)
        default: break
        }
        if let set = try setEscape(start) { return .node(node(of: set)) }
        return .literals([try scalarEscape(start)])
    }

    private mutating func anchor(_ anchor: PatternAnchor, holds: Bool = true) -> Atom {
        place += 1
        return .node(.anchor(anchor, holds: holds))
    }

    private mutating func quoted() -> [Unicode.Scalar] {
        var quoted: [Unicode.Scalar] = []
        while let next = peek(), !take("\\E") {
            quoted.append(next)
            place += 1
        }
        return quoted
    }

    // MARK: Sets

    /// The set of characters that an escape stands for, in brackets and outside; nil if it stands for none.
    mutating func setEscape(_ start: Int) throws(PatternError) -> PatternSet? {
        guard let scalar = peek() else { return nil }
        let set: PatternSet
        switch scalar {
        case "d": set = .digit
        case "D": set = .inverse(.digit)
        case "w": set = .word
        case "W": set = .inverse(.word)
        case "s": set = .space
        case "S": set = .inverse(.space)
        case "h": set = .horizontalSpace
        case "H": set = .inverse(.horizontalSpace)
        case "v", "R": set = .newline
        case "V": set = .inverse(.newline)
        case "N" where peek(1) != "{": set = .inverse(.newline)
        case "p", "P":
            place += 1
            return try property(start)
        default: return nil
        }
        place += 1
        return set
    }

    /// `\p{…}`, `\P{…}` or `\pL`.
    private mutating func property(_ start: Int) throws(PatternError) -> PatternSet {
        if take("{") {
            while let next = peek(), next != "}" { place += 1 }
            if !take("}") { throw error("expected '}'") }
            return try property(from: start, text(from: start))
        }
        guard let letter = peek() else { throw error("expected '{'") }
        place += 1
        return try property(from: start, "\\\(scalars[start + 1]){\(letter)}")
    }

    /// A set that Swift knows by its name.
    func property(from start: Int, _ text: String) throws(PatternError) -> PatternSet {
        do {
            return .property(try PatternProperty(text, ignoresCase: flags.ignoresCase))
        } catch {
            throw self.error("\(text) is unknown: \(error)", at: start)
        }
    }

    func text(from start: Int) -> String {
        String(String.UnicodeScalarView(scalars[start..<place]))
    }

    // MARK: Scalars

    /// The scalar that an escape stands for.
    mutating func scalarEscape(_ start: Int) throws(PatternError) -> Unicode.Scalar {
        guard let scalar = peek() else { throw error("expected a character after '\\'") }
        place += 1
        switch scalar {
        case "t": return "\t"
        case "n": return "\n"
        case "r": return "\r"
        case "f": return "\u{C}"
        case "a": return "\u{7}"
        case "e": return "\u{1B}"
        case "0": return try number(start, digits: 0...3, radix: 8)
        case "c":
            guard let letter = peek(), letter.isASCII else { throw error("expected a letter") }
            place += 1
            return Unicode.Scalar(UInt8(letter.value & 0x1F))
        case "x", "u":
            if take("{") {
                let scalar = try number(start, digits: 1...8, radix: 16)
                if !take("}") { throw error("expected '}'") }
                return scalar
            }
            // As many as ICU wants; of `\x` one will do.
            return try number(start, digits: scalar == "x" ? 1...2 : 4...4, radix: 16)
        case "U": return try number(start, digits: 8...8, radix: 16)
        case _ where scalar.isASCII && scalar.properties.isAlphabetic:
            throw error("unknown escape \\\(scalar)", at: start)
        default: return scalar
        }
    }

    private mutating func number(_ start: Int, digits: ClosedRange<Int>, radix: Int)
        throws(PatternError) -> Unicode.Scalar
    {
        var number: UInt32 = 0
        var count = 0
        while count < digits.upperBound, let next = peek(), next.isASCII,
            let digit = Character(next).hexDigitValue, digit < radix
        {
            number = number &* UInt32(radix) &+ UInt32(digit)
            count += 1
            place += 1
        }
        guard count >= digits.lowerBound, let scalar = Unicode.Scalar(number) else {
            throw error("\(text(from: start)) is not a character", at: start)
        }
        return scalar
    }
}
