// The only place that defines how strings are ordered by each comparison: as bytes with the order of the strings.
//
//   binary                    the text
//   caseInsensitive           the text without case
//   localized                 letters without case and accents · 0 · the text, composed
//   localizedCaseInsensitive  letters without case and accents · 0 · the text without case
//   localizedStandard         letters and numbers · 0 · the text, composed
//
// A number is `0`, how many digits it has without zeros at its front, and these. The byte for how many is 255 where eight
// more say it. Two texts that differ only in how letters with accents are written are equal but in `binary`.

import FoundationEssentials

extension SortKey.Comparison {
    /// The value to sort by with `SortingOrder`: for strings that are not compared by their bytes, a sort key that is.
    /// Compute it once per row.
    package func ordered(_ value: Value) -> Value {
        guard self != .binary, case .string(let text) = value else { return value }
        return .binary(Data(bytes(of: text)))
    }

    /// The bytes by which a text is sorted.
    package func bytes(of text: String) -> [UInt8] {
        switch self {
        case .binary: return Array(text.utf8)
        case .caseInsensitive: return Array(text.folded(case: true, diacritics: false).utf8)
        case .localized:
            return Self.join(
                Array(text.folded(case: true, diacritics: true).utf8),
                text.folded(case: false, diacritics: false))
        case .localizedCaseInsensitive:
            return Self.join(
                Array(text.folded(case: true, diacritics: true).utf8),
                text.folded(case: true, diacritics: false))
        case .localizedStandard:
            return Self.join(
                Self.numbered(text.folded(case: true, diacritics: true)),
                text.folded(case: false, diacritics: false))
        }
    }

    private static func join(_ letters: [UInt8], _ text: String) -> [UInt8] {
        var bytes = letters
        bytes.reserveCapacity(letters.count + 1 + text.utf8.count)
        bytes.append(0)
        bytes.append(contentsOf: text.utf8)
        return bytes
    }

    /// A text with its numbers as bytes that are ordered by size.
    private static func numbered(_ text: String) -> [UInt8] {
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(source.count + 8)
        var index = 0
        while index < source.count {
            guard isDigit(source[index]) else {
                bytes.append(source[index])
                index += 1
                continue
            }
            var end = index
            while end < source.count, isDigit(source[end]) { end += 1 }
            let digits = source[index..<end].drop { $0 == zero }
            bytes.append(zero)
            if digits.count < 255 {
                bytes.append(UInt8(digits.count))
            } else {
                bytes.append(255)
                withUnsafeBytes(of: UInt64(digits.count).bigEndian) { bytes.append(contentsOf: $0) }
            }
            bytes.append(contentsOf: digits)
            index = end
        }
        return bytes
    }

    private static let zero = UInt8(ascii: "0")

    private static func isDigit(_ byte: UInt8) -> Bool { byte &- zero < 10 }
}
