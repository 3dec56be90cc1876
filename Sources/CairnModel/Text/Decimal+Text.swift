// Decimal numbers from text, exactly or not at all.
//
//   1. Sign, digits, point, digits, exponent are read; anything else is not a number.
//   2. Zeros at both ends of the digits are dropped, and the exponent of ten follows.
//   3. More than 38 digits, or an exponent that no decimal has, is refused: a decimal would round.

package import FoundationEssentials

extension Decimal {
    /// The number that a string of digits represents; nil if it is not a number, or has more digits than a decimal.
    package init?(exactText text: some StringProtocol) {
        guard let parts = DecimalText(text) else { return nil }
        guard !parts.digits.isEmpty else {
            self = 0
            return
        }
        // The exponent may lie above the range if there is room to write the zeros out.
        var digits = parts.digits
        var exponent = parts.exponent
        while exponent > 127, digits.count < 38 {
            digits.append(UInt8(ascii: "0"))
            exponent -= 1
        }
        // Of those with 39 digits some can be held.
        guard digits.count <= 39, (-128...127).contains(exponent) else { return nil }
        let plain = (parts.isNegative ? "-" : "") + String(decoding: digits, as: UTF8.self)
        guard let value = Decimal(string: "\(plain)e\(exponent)"),
            digits.count < 39 || DecimalText("\(value)") == parts
        else { return nil }
        self = value
    }
}

/// A number's text taken apart.
package struct DecimalText: Equatable {
    let isNegative: Bool
    /// The digits as ASCII, without zeros at either end; empty for zero.
    let digits: [UInt8]
    /// The power of ten that the digits are multiplied by.
    let exponent: Int

    package init?(_ text: some StringProtocol) {
        var rest = Array(text.utf8)[...]
        var isNegative = false
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            rest = rest.dropFirst()
        }
        let whole = rest.prefix(while: Self.isDigit)
        rest = rest.dropFirst(whole.count)
        var fraction = ArraySlice<UInt8>()
        if rest.first == UInt8(ascii: ".") {
            rest = rest.dropFirst()
            fraction = rest.prefix(while: Self.isDigit)
            rest = rest.dropFirst(fraction.count)
        }
        guard !whole.isEmpty || !fraction.isEmpty else { return nil }
        var exponent = 0
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            let number = String(decoding: rest.dropFirst(), as: UTF8.self)
            // Nine digits: the sums below cannot overflow, and no decimal comes near.
            guard number.utf8.count <= 9, let value = Int(number) else { return nil }
            exponent = value
            rest = []
        }
        guard rest.isEmpty else { return nil }
        exponent -= fraction.count
        var digits = Array(whole + fraction)
        while digits.last == UInt8(ascii: "0") {
            digits.removeLast()
            exponent += 1
        }
        self.digits = Array(digits.drop { $0 == UInt8(ascii: "0") })
        self.isNegative = isNegative
        self.exponent = self.digits.isEmpty ? 0 : exponent
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        byte >= UInt8(ascii: "0") && byte <= UInt8(ascii: "9")
    }
}
