// A test of a stored string: on its bytes wherever that is equivalent to the evaluator.
//
//   1. Without options bytes are compared.
//   2. With [c] and [d] the constant is folded once. A pure ASCII string is folded byte by byte, any other
//      string by the evaluator's own folding; then bytes are compared.
//   3. LIKE matches ASCII by bytes: there, a byte is a character, except that CR LF is one character.
//   4. The evaluator executes MATCHES and [l].
//
// Threads: immutable, so any.

import CCairn
import CairnModel
import CairnStore

/// A condition on a string.
final class TextTest: Sendable {
    /// The test on the folded bytes.
    enum Question: Sendable {
        case compare(Filter.Order)
        case begins
        case ends
        case contains
        /// Whether the string is a substring of the constant.
        case isPart
        case oneOf(BytesSet)
        /// By the pattern as bytes for ASCII, and by the evaluator's pattern otherwise.
        case like([LikeByte], LikePattern)
        /// The evaluator decides.
        case evaluated(PredicateEvaluator)
    }

    /// A part of a pattern of LIKE.
    enum LikeByte: Sendable, Equatable {
        case run
        case one
        case byte(UInt8)
        /// A character that is not ASCII.
        case other
    }

    let question: Question
    /// The constant, folded.
    let constant: [UInt8]
    /// Whether strings are folded.
    let isFolded: Bool
    /// Whether folding converts to lowercase.
    let isCaseless: Bool
    private let values: ValueComparison

    /// Compares strings with a constant.
    ///
    /// - Throws: `PredicateFormatError` for an invalid regular expression.
    init(
        _ relation: PredicateNode.Comparison.Operator, _ text: String,
        _ options: PredicateNode.Comparison.Options
    ) throws(PredicateFormatError) {
        values = ValueComparison(operator: relation, options: options)
        isFolded = Self.folds(options)
        isCaseless = isFolded && options.contains(.caseInsensitive)
        let folded = values.folded(text)
        constant = Array(folded.utf8)
        if options.contains(.localeSensitive) || relation == .matches {
            question = .evaluated(
                try PredicateEvaluator(
                    .compare(
                        .evaluatedObject, relation, .constant(.string(text)), options: options)))
            return
        }
        question =
            switch relation {
            case .equal, .notEqual, .between, .matches: .compare(.equal)
            case .less: .compare(.less)
            case .lessOrEqual: .compare(.lessOrEqual)
            case .greater: .compare(.greater)
            case .greaterOrEqual: .compare(.greaterOrEqual)
            case .beginsWith: .begins
            case .endsWith: .ends
            case .contains: .contains
            case .in: .isPart
            case .like: .like(Self.parts(folded), LikePattern(folded))
            }
    }

    /// Tests whether a string is in a list.
    ///
    /// - Parameter seed: the hash seed of the state whose strings are tested.
    init(oneOf texts: [String], _ options: PredicateNode.Comparison.Options, seed: UInt64)
        throws(PredicateFormatError)
    {
        let values = ValueComparison(operator: .equal, options: options)
        self.values = values
        isFolded = Self.folds(options)
        isCaseless = isFolded && options.contains(.caseInsensitive)
        constant = []
        if options.contains(.localeSensitive) {
            question = .evaluated(
                try PredicateEvaluator(
                    .compare(
                        .evaluatedObject, .in, .list(texts.map { .string($0) }), options: options)))
        } else {
            question = .oneOf(BytesSet(texts.map { Array(values.folded($0).utf8) }, seed: seed))
        }
    }

    private static func folds(_ options: PredicateNode.Comparison.Options) -> Bool {
        !options.contains(.normalized)
            && !options.isDisjoint(with: [.caseInsensitive, .diacriticInsensitive])
    }

    /// Parses a pattern into the same parts as `LikePattern`.
    private static func parts(_ pattern: String) -> [LikeByte] {
        var parts: [LikeByte] = []
        var isEscaped = false
        func append(_ character: Character) {
            parts.append(
                character.utf8.count == 1 ? .byte(character.utf8.first ?? 0) : .other)
        }
        for character in pattern {
            switch character {
            case _ where isEscaped:
                append(character)
                isEscaped = false
            case "\\": isEscaped = true
            case "*": if parts.last != .run { parts.append(.run) }
            case "?": parts.append(.one)
            default: append(character)
            }
        }
        if isEscaped { append("\\") }
        return parts
    }

    // MARK: Asking

    /// Whether a string matches.
    func holds(_ text: UnsafeRawBufferPointer) -> Bool {
        if case .evaluated(let evaluator) = question {
            return evaluator.matches(.value(.string(String(decoding: text, as: UTF8.self))))
        }
        if case .like(_, let pattern) = question, !Self.isPlain(text) {
            return pattern.matches(values.folded(String(decoding: text, as: UTF8.self)))
        }
        guard isFolded else { return ask(text) }
        guard Self.isASCII(text) else {
            var folded = values.folded(String(decoding: text, as: UTF8.self))
            return folded.withUTF8 { ask(UnsafeRawBufferPointer($0)) }
        }
        guard isCaseless else { return ask(text) }
        return withUnsafeTemporaryAllocation(byteCount: text.count, alignment: 8) { small in
            Self.lower(text, into: small)
            return ask(UnsafeRawBufferPointer(rebasing: small[..<text.count]))
        }
    }

    /// Tests bytes that need no folding, or are folded.
    private func ask(_ text: UnsafeRawBufferPointer) -> Bool {
        if case .oneOf(let set) = question { return set.contains(text) }
        return constant.withUnsafeBytes { constant in
            switch question {
            case .compare(let order): return order.holds(compareCells(text, constant))
            case .begins:
                return text.count >= constant.count
                    && compareCells(
                        UnsafeRawBufferPointer(rebasing: text[..<constant.count]), constant) == 0
            case .ends:
                return text.count >= constant.count
                    && compareCells(
                        UnsafeRawBufferPointer(rebasing: text[(text.count - constant.count)...]),
                        constant) == 0
            case .contains:
                return cairn_find(
                    text.baseAddress, text.count, constant.baseAddress, constant.count) >= 0
            case .isPart:
                return cairn_find(
                    constant.baseAddress, constant.count, text.baseAddress, text.count) >= 0
            case .like(let parts, _): return Self.isLike(text, parts)
            case .oneOf, .evaluated: return false
            }
        }
    }

    /// Matches like `LikePattern.matches`, for ASCII without CR.
    private static func isLike(_ text: UnsafeRawBufferPointer, _ parts: [LikeByte]) -> Bool {
        var (place, part) = (0, 0)
        var star: (part: Int, place: Int)?
        while place < text.count {
            if part < parts.count {
                switch parts[part] {
                case .run:
                    star = (part, place)
                    part += 1
                    continue
                case .one:
                    part += 1
                    place += 1
                    continue
                case .byte(let byte) where byte == text[place]:
                    part += 1
                    place += 1
                    continue
                case .byte, .other: break
                }
            }
            guard let last = star else { return false }
            star = (last.part, last.place + 1)
            part = last.part + 1
            place = last.place + 1
        }
        while part < parts.count, parts[part] == .run { part += 1 }
        return part == parts.count
    }

    // MARK: ASCII

    /// Whether bytes are ASCII.
    @inline(__always)
    static func isASCII(_ text: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        var seen: UInt64 = 0
        while index &+ 8 <= text.count {
            seen |= text.loadUnaligned(fromByteOffset: index, as: UInt64.self)
            index &+= 8
        }
        while index < text.count {
            seen |= UInt64(text[index])
            index &+= 1
        }
        return seen & 0x8080_8080_8080_8080 == 0
    }

    /// Whether each byte is a character by itself.
    private static func isPlain(_ text: UnsafeRawBufferPointer) -> Bool {
        isASCII(text) && !text.contains(0x0D)
    }

    /// Copies ASCII converted to lowercase.
    @inline(__always)
    static func lower(
        _ text: UnsafeRawBufferPointer, into small: UnsafeMutableRawBufferPointer
    ) {
        guard let from = text.baseAddress, let to = small.baseAddress else { return }
        for index in 0..<text.count {
            let byte = from.load(fromByteOffset: index, as: UInt8.self)
            let isCapital = byte &- 0x41 < 26
            to.storeBytes(of: isCapital ? byte | 0x20 : byte, toByteOffset: index, as: UInt8.self)
        }
    }
}
