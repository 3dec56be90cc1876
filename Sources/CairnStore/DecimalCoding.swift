// A decimal number as bytes, in one form for each value.                              Format 50
//
//   byte 0      0 for zero (and nothing follows), 1 for a positive, 2 for a negative number
//   byte 1      the exponent of ten, as a signed byte
//   then        the coefficient without trailing decimal zeros, little-endian, without leading zero bytes
//
// Equal numbers have equal bytes, so that they can be keys. The order of the bytes means nothing.

package import FoundationEssentials

package enum DecimalCoding {
    /// The bytes of a decimal number. NaN has none and is written as nil by whoever asks.
    package static func encode(_ value: Decimal) -> [UInt8] {
        let (negative, exponent, coefficient) = parts(value)
        if coefficient == 0 { return [0] }
        var bytes: [UInt8] = [negative ? 2 : 1, UInt8(bitPattern: Int8(clamping: exponent))]
        var rest = coefficient
        while rest != 0 {
            bytes.append(UInt8(truncatingIfNeeded: rest))
            rest >>= 8
        }
        return bytes
    }

    /// The decimal number that bytes stand for; nil if they are not of the form above.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        guard let sign = bytes.first, sign <= 2 else { return nil }
        if sign == 0 { return bytes.count == 1 ? Decimal(0) : nil }
        guard bytes.count >= 3, bytes.count <= 18, bytes[bytes.count - 1] != 0 else { return nil }
        var coefficient: UInt128 = 0
        for byte in bytes[2...].reversed() { coefficient = coefficient << 8 | UInt128(byte) }
        guard coefficient % 10 != 0 else { return nil }
        let exponent = Int(Int8(bitPattern: bytes[1]))
        let text = (sign == 2 ? "-" : "") + "\(coefficient)e\(exponent)"
        return Decimal(string: text)
    }

    /// Sign, exponent and coefficient, normalised so that the coefficient has no trailing zero.
    static func parts(_ value: Decimal) -> (negative: Bool, exponent: Int, coefficient: UInt128) {
        guard !value.isNaN, !value.isZero else { return (false, 0, 0) }
        var exponent = value.exponent
        var coefficient: UInt128 = 0
        // The digits are read off the text: the layout of Decimal is not public on every platform.
        var digits = value.significand
        if digits < 0 { digits.negate() }
        for character in "\(digits)".utf8 where character >= 48 && character <= 57 {
            coefficient = coefficient * 10 + UInt128(character - 48)
        }
        while coefficient != 0, coefficient % 10 == 0 {
            coefficient /= 10
            exponent += 1
        }
        return (value.isSignMinus, exponent, coefficient)
    }
}
