// Facts about the values of a field, and the narrowest type that represents them all exactly.
//
//   boolean     JSON's true and false; strings if each is true, false, yes or no, in any case, and they are
//               not all yes, or all no: a column of NO alone is likely to be about Norway
//   date        strings, if each is a day or a moment in ISO 8601, and a date represents each of its digits
//   integer64   whole numbers without point and exponent, within 64 bits
//   double      numbers that a double distinguishes: each is exactly one, or the shortest text of one
//   decimal     numbers that are too large or too long for these, with at most 38 digits; not -0
//   string      everything else; objects and arrays as JSON text
//
// In CSV a string is a number if it is written as one without leading zero, plus sign or space, and with an
// exponent only if that has a sign or there is a point: 1E5 is a code. In JSON a string is not a number.
//
// A key is also a string if two of its strings could become one value: in CSV if one of its numbers has an
// exponent or a fraction that ends with 0, since 1.1 and 1.10 are one number, and may be two versions;
// anywhere if its dates or its truth values are not all written in one form, since a day is its first moment,
// and yes is true.
//
// Threads: one reader.

import CairnModel
import FoundationEssentials

/// The kinds of values in a field.
struct FieldFacts {
    /// The number of values that are not null.
    private(set) var valueCount = 0
    private(set) var hasNested = false
    /// Whether true or false occurs, including as a word.
    private var hasTruth = false
    private var hasYes = false
    private var hasNo = false
    private var hasDate = false
    private var hasNumber = false
    /// Whether a string occurs that is none of these.
    private var hasText = false
    private var isInteger = true
    private var isDouble = true
    private var isDecimal = true
    /// Whether a value is written so that another string may have the same value.
    private var hasVariants = false
    /// The form in which dates or truth values are written; 0 before the first.
    private var form = 0

    mutating func note(_ cell: ListRecord.Cell, in record: ListRecord) {
        switch cell.kind {
        case .null: return
        case .nested: hasNested = true
        case .no, .yes:
            hasTruth = true
            note(form: 1)
        case .number, .text, .string:
            // Once there is a string, the type is string: no need to examine more.
            if !hasText {
                record.bytes.withUnsafeBufferPointer {
                    note(UnsafeBufferPointer(rebasing: $0[cell.range]), cell.kind)
                }
            }
        }
        valueCount += 1
    }

    private mutating func note(_ text: UnsafeBufferPointer<UInt8>, _ kind: ListRecord.Kind) {
        if kind != .string, let number = NumberText(text) {
            noteNumber(number, text, isCSV: kind == .text)
        } else if let word = Self.truth(text) {
            switch word {
            case .truth: hasTruth = true
            case .yes: hasYes = true
            case .no: hasNo = true
            }
            note(form: Self.form(ofWord: text, word))
        } else if Self.isDate(text) {
            hasDate = true
            note(form: Self.form(ofDate: text))
        } else {
            hasText = true
        }
    }

    private enum TruthWord {
        case truth, yes, no
    }

    private static func truth(_ text: UnsafeBufferPointer<UInt8>) -> TruthWord? {
        func isWord(_ word: StaticString) -> Bool {
            for index in 0..<text.count where text[index] | 0x20 != word.utf8Start[index] {
                return false
            }
            return true
        }
        switch text.count {
        case 2: return isWord("no") ? .no : nil
        case 3: return isWord("yes") ? .yes : nil
        case 4: return isWord("true") ? .truth : nil
        case 5: return isWord("false") ? .truth : nil
        default: return nil
        }
    }

    private static func isDate(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        // Most other strings fail this quick check.
        guard text.count >= 10, text[4] == UInt8(ascii: "-"), text[7] == UInt8(ascii: "-") else {
            return false
        }
        return Date.isTold(byText: String(decoding: text, as: UTF8.self))
    }

    /// Records the form of a date or truth value; nil: a form with several strings for one value.
    private mutating func note(form other: Int?) {
        if form != 0 && form != other || other == nil { hasVariants = true }
        form = other ?? form
    }

    /// Returns the form of a truth value: its words and the case of their letters.
    private static func form(ofWord text: UnsafeBufferPointer<UInt8>, _ word: TruthWord) -> Int? {
        let small = text.dropFirst().count(where: { $0 & 0x20 != 0 })
        guard small == 0 || small == text.count - 1 else { return nil }
        return 2 + (word == .truth ? 1 : 0) + (small == 0 ? 2 : 0)
            + (text[0] & 0x20 != 0 ? 4 : 0)
    }

    /// Returns the form of a date: two different strings of one form are two moments.
    private static func form(ofDate text: UnsafeBufferPointer<UInt8>) -> Int? {
        let time = text.dropFirst(10)
        guard let mark = time.first, let last = time.last else { return text.count }
        // Moments with their own time zones, and a comma instead of a point.
        let isPlain = !time.contains {
            $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") || $0 == UInt8(ascii: ",")
        }
        let isUTC = last | 0x20 == UInt8(ascii: "z")
        return isPlain ? text.count << 16 | Int(mark) << 8 | (isUTC ? Int(last) : 0) : nil
    }

    private mutating func noteNumber(
        _ number: NumberText, _ text: UnsafeBufferPointer<UInt8>, isCSV: Bool
    ) {
        guard !isCSV || !number.hasExponent || number.hasPoint || number.hasSignedExponent else {
            hasText = true
            return
        }
        hasNumber = true
        if isCSV, number.hasExponent || number.endsWithZero { hasVariants = true }
        if isInteger {
            if number.hasPoint || number.hasExponent {
                isInteger = false
            } else if case .value = number.whole {
                // "-0" is not an integer: 0 would be the same one.
                if number.isNegative, number.whole == .value(0) { isInteger = false }
            } else {
                isInteger = false
            }
        }
        if isDouble { isDouble = number.isTold(by: Double.self) }
        if isDecimal {
            if number.isNegativeZero {
                isDecimal = false
            } else if text.count > 38 || number.hasExponent {
                // A short number needs no check: every decimal has room for its digits.
                isDecimal = CellConversion.isDecimal(number)
            }
        }
    }

    /// Returns an attribute for these values, of the given type or of the inferred one.
    ///
    /// - Parameter isKey: whether it identifies objects, so that two strings must not become one value.
    func attribute(_ name: String, type said: AttributeType?, isKey: Bool = false)
        -> AttributeDescription
    {
        var attribute = AttributeDescription(
            name, said ?? (isKey && hasVariants ? .string : type))
        if hasNested, attribute.type == .string {
            attribute.userInfo[ModelInference.jsonMark] = "text"
        }
        return attribute
    }

    /// The narrowest type that represents all values exactly.
    private var type: AttributeType {
        if hasText || hasNested || valueCount == 0 { return .string }
        if hasTruth || hasYes || hasNo {
            if hasNumber || hasDate { return .string }
            return hasTruth || hasYes && hasNo ? .boolean : .string
        }
        if hasDate { return hasNumber ? .string : .date }
        if isInteger { return .integer64 }
        if isDouble { return .double }
        return isDecimal ? .decimal : .string
    }
}
