// Splits a predicate format into tokens.
//
//   1. Blanks separate; a quotation mark takes everything up to the next one that is not escaped.
//   2. A minus sign belongs to a number where an operand may stand, else it is an operator.
//   3. Numbers without fraction are integers, the others decimals, so that no digit is lost; what no
//      decimal holds is a double.
//   4. `#` before a word, or before a text in quotation marks, makes it a key whatever it says.
//
// The text is cut at Unicode scalars: a combining mark after a quotation mark must not hide it. Errors
// count characters, as people do.

import FoundationEssentials

/// One token and its offset.
struct PredicateToken {
    enum Kind: Equatable {
        case word(String)
        /// A word after `#`: always a key, never a keyword.
        case escapedWord(String)
        case literal(Value)
        /// `%@`, `%K`, `%ld` and so on, without the percent sign.
        case placeholder(String)
        case symbol(String)
        case end
    }
    let kind: Kind
    /// In Unicode scalars from the beginning of the text.
    let offset: Int
    /// The text as it stands, for messages.
    let text: String
}

struct PredicateLexer {
    private let format: String
    private let characters: [Unicode.Scalar]
    private var position = 0
    private var tokens: [PredicateToken] = []

    /// Longer ones first: the first that fits is taken.
    private static let symbols = [
        "==", "!=", "<>", "<=", "=<", ">=", "=>", "&&", "||", "**", ":=", "<<", ">>", "=", "<", ">",
        "!", "(", ")", "{", "}", "[", "]", ",", ".", "+", "-", "*", "/", "$", "@", ":", "&", "|",
        "^", "~",
    ].map { Array($0.unicodeScalars) }

    /// The tokens of a text; the last one is the end.
    static func tokens(of format: String) throws(PredicateFormatError) -> [PredicateToken] {
        var lexer = PredicateLexer(format)
        return try lexer.run()
    }

    private init(_ format: String) {
        self.format = format
        characters = Array(format.unicodeScalars)
    }

    private mutating func run() throws(PredicateFormatError) -> [PredicateToken] {
        while true {
            while let character = peek(), character.properties.isWhitespace { position += 1 }
            let start = position
            guard let character = peek() else {
                add(.end, from: start)
                return tokens
            }
            if character == "'" || character == "\"" {
                let text = try quoted()
                add(.literal(.string(text)), from: start)
            } else if isDigit(character) || startsNumber(character) {
                let number = try number()
                add(.literal(number), from: start)
            } else if PredicateWords.isStart(character) {
                add(.word(word()), from: start)
            } else if character == "#" {
                let name = try escapedWord()
                add(.escapedWord(name), from: start)
            } else if character == "%" {
                position += 1
                if peek() == "%" {
                    throw error(
                        "%% is a percent sign, which is not an operator: write modulus:by:(a, b)",
                        at: start)
                }
                let name = placeholder()
                guard !name.isEmpty else {
                    throw error("a placeholder such as %@ is incomplete", at: start)
                }
                add(.placeholder(name), from: start)
            } else if let symbol = Self.symbols.first(where: {
                characters[start...].starts(with: $0)
            }) {
                position += symbol.count
                add(.symbol(text(symbol[...])), from: start)
            } else {
                throw error("unexpected character \(character)", at: start)
            }
        }
    }

    private mutating func add(_ kind: PredicateToken.Kind, from start: Int) {
        let text = text(characters[start..<position])
        tokens.append(PredicateToken(kind: kind, offset: start, text: text))
    }

    private func text(_ scalars: ArraySlice<Unicode.Scalar>) -> String {
        String(String.UnicodeScalarView(scalars))
    }

    private func peek(_ distance: Int = 0) -> Unicode.Scalar? {
        let index = position + distance
        return index < characters.count ? characters[index] : nil
    }

    private func error(_ message: String, at offset: Int) -> PredicateFormatError {
        PredicateFormatError(message, scalarOffset: offset, format: format)
    }

    // MARK: Words

    private func isDigit(_ character: Unicode.Scalar) -> Bool {
        ("0"..."9").contains(character)
    }

    private func hexDigit(_ character: Unicode.Scalar?) -> Int? {
        guard let character, character.isASCII else { return nil }
        return Character(character).hexDigitValue
    }

    private mutating func word() -> String {
        let start = position
        while let character = peek(), PredicateWords.isPart(character) { position += 1 }
        return text(characters[start..<position])
    }

    private mutating func escapedWord() throws(PredicateFormatError) -> String {
        let start = position
        position += 1
        if let character = peek(), character == "'" || character == "\"" { return try quoted() }
        let name = word()
        guard !name.isEmpty else { throw error("no key follows the #", at: start) }
        return name
    }

    private mutating func placeholder() -> String {
        let start = position
        if peek() == "@" || peek() == "K" {
            position += 1
            return text(characters[start..<position])
        }
        // Flags, width and precision of C formats mean nothing for a value that is never printed.
        while let character = peek(), isDigit(character) || character == "." { position += 1 }
        let letters = position
        while let character = peek(), "lhqztjL".unicodeScalars.contains(character) { position += 1 }
        guard let character = peek(), "diuxXofFgGeEaAsScC".unicodeScalars.contains(character) else {
            return ""
        }
        position += 1
        return text(characters[letters..<position])
    }

    // MARK: Literals

    private mutating func quoted() throws(PredicateFormatError) -> String {
        let start = position
        let mark = characters[position]
        position += 1
        var text = ""
        while let character = peek() {
            position += 1
            if character == mark { return text }
            guard character == "\\" else {
                text.unicodeScalars.append(character)
                continue
            }
            text += try escape()
        }
        throw error("the string is not closed by \(mark)", at: start)
    }

    /// What follows a backslash.
    private mutating func escape() throws(PredicateFormatError) -> String {
        let start = position - 1
        guard let character = peek() else {
            throw error("nothing follows the backslash", at: start)
        }
        position += 1
        switch character {
        case "\\", "'", "\"": return String(Character(character))
        case "n": return "\n"
        case "t": return "\t"
        case "r": return "\r"
        case "b": return "\u{8}"
        case "f": return "\u{c}"
        case "0": return "\0"
        case "u":
            var code: UInt32 = 0
            for _ in 0..<4 {
                guard let digit = hexDigit(peek()) else {
                    throw error("\\u is not followed by four hexadecimal digits", at: start)
                }
                position += 1
                code = code << 4 | UInt32(digit)
            }
            guard let scalar = Unicode.Scalar(code) else {
                throw error("\\u does not name a character", at: start)
            }
            return String(Character(scalar))
        default:
            throw error("unknown escape \\\(character): write \\\\ for a backslash", at: start)
        }
    }

    /// Whether a minus sign or point begins a number here.
    private func startsNumber(_ character: Unicode.Scalar) -> Bool {
        guard character == "-" || character == ".", !isAfterOperand else { return false }
        if let next = peek(1), isDigit(next) { return true }
        return character == "-" && peek(1) == "." && (peek(2).map(isDigit) ?? false)
    }

    private var isAfterOperand: Bool {
        switch tokens.last?.kind {
        case .literal, .escapedWord, .placeholder: true
        case .word(let word): !PredicateWords.operators.contains(word.uppercased())
        case .symbol(let symbol): symbol == ")" || symbol == "]" || symbol == "}"
        case .end, nil: false
        }
    }

    private mutating func number() throws(PredicateFormatError) -> Value {
        let start = position
        if peek() == "-" { position += 1 }
        if peek() == "0", let base = radix(peek(1)) { return try whole(from: start, base: base) }
        skipDigits()
        if peek() == ".", let next = peek(1), isDigit(next) {
            position += 1
            skipDigits()
        }
        if peek() == "e" || peek() == "E" {
            let sign = peek(1) == "-" || peek(1) == "+" ? 1 : 0
            if let digit = peek(1 + sign), isDigit(digit) {
                position += 1 + sign
                skipDigits()
            }
        }
        try endNumber(from: start)
        let text = text(characters[start..<position])
        if let value = Int64(text), text != "-0" { return .integer(value) }
        if let parts = DecimalText(text), parts.digits.isEmpty, parts.isNegative {
            // A decimal has no negative zero.
            return .double(-0.0)
        }
        if let value = Decimal(exactText: text) { return .decimal(value) }
        guard let value = Double(text), value.isFinite else {
            throw error("the number \(text) is out of the range of every numeric type", at: start)
        }
        // Rounded it may be a number that a decimal holds, and as which its own text would be read again.
        return value == 0 && value.sign == .minus ? .double(value) : Value.double(value).asNumber
    }

    private func radix(_ character: Unicode.Scalar?) -> Int? {
        switch character {
        case "x", "X": 16
        case "o", "O": 8
        case "b", "B": 2
        default: nil
        }
    }

    private mutating func whole(from start: Int, base: Int) throws(PredicateFormatError) -> Value {
        position += 2
        let digits = position
        while let digit = hexDigit(peek()), digit < base { position += 1 }
        try endNumber(from: start)
        let sign = characters[start] == "-" ? "-" : ""
        guard let value = Int64(sign + text(characters[digits..<position]), radix: base) else {
            throw error(
                "the number \(text(characters[start..<position])) is not a 64-bit integer",
                at: start)
        }
        return .integer(value)
    }

    private mutating func skipDigits() {
        while let character = peek(), isDigit(character) { position += 1 }
    }

    private func endNumber(from start: Int) throws(PredicateFormatError) {
        if let next = peek(), PredicateWords.isPart(next) {
            throw error("a number cannot be followed directly by \(next)", at: start)
        }
    }
}
