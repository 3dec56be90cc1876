// A decimal number as bytes, in one form for each value.                              Format 50
//
//   byte 0      0 for zero (and nothing follows), 1 for a positive, 2 for a negative number
//   byte 1      the exponent of ten, as a signed byte
//   then        the coefficient, little-endian, without leading zero bytes
//
// The coefficient has no trailing decimal zero, unless the exponent is 127 and cannot be raised further:
// so every number has one form, and all numbers that `Decimal` can hold have one. Equal numbers have equal
// bytes and can be keys. The order of the bytes means nothing.
//
// The digits are read from `Decimal`'s 20 bytes. Their layout is not public: it is checked once against
// numbers made from text, and where it is another one, digits are taken from text instead.

package import FoundationEssentials

package enum DecimalCoding {
    /// The bytes of a decimal number. NaN has none; callers write it as nil.
    package static func encode(_ value: Decimal) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: longest) { buffer, count in
            count = encode(value, into: UnsafeMutableRawBufferPointer(buffer))
        }
    }

    /// The most bytes a number takes.
    package static let longest = 18

    /// Writes the bytes of a decimal number into a buffer with room for `longest`; returns their number.
    package static func encode(_ value: Decimal, into buffer: UnsafeMutableRawBufferPointer) -> Int
    {
        let (negative, exponent, coefficient) = parts(value)
        return write(negative, exponent, coefficient, into: buffer)
    }

    /// Writes the bytes of the number that a coefficient and a power of ten make; returns their number, or nil if no decimal
    /// number has such an exponent.
    package static func encode(
        negative: Bool, exponent: Int, coefficient: UInt128,
        into buffer: UnsafeMutableRawBufferPointer
    ) -> Int? {
        let (exponent, coefficient) = normalized(exponent, coefficient)
        guard coefficient == 0 || Int8(exactly: exponent) != nil else { return nil }
        return write(negative, exponent, coefficient, into: buffer)
    }

    private static func write(
        _ negative: Bool, _ exponent: Int, _ coefficient: UInt128,
        into buffer: UnsafeMutableRawBufferPointer
    ) -> Int {
        if coefficient == 0 {
            buffer[0] = 0
            return 1
        }
        buffer[0] = negative ? 2 : 1
        buffer[1] = UInt8(bitPattern: Int8(exponent))
        var rest = coefficient
        var count = 2
        while rest != 0 {
            buffer[count] = UInt8(truncatingIfNeeded: rest)
            rest >>= 8
            count += 1
        }
        return count
    }

    /// The decimal number that bytes stand for; nil if they are not of the form above.
    package static func decode(_ bytes: UnsafeRawBufferPointer) -> Decimal? {
        guard let sign = bytes.first, sign <= 2 else { return nil }
        if sign == 0 { return bytes.count == 1 ? Decimal(0) : nil }
        guard bytes.count >= 3, bytes.count <= longest, bytes[bytes.count - 1] != 0 else {
            return nil
        }
        var coefficient: UInt128 = 0
        for byte in bytes[2...].reversed() { coefficient = coefficient << 8 | UInt128(byte) }
        let exponent = Int(Int8(bitPattern: bytes[1]))
        guard exponent == 127 || !coefficient.isMultipleOfTen else { return nil }
        return number(negative: sign == 2, exponent: exponent, coefficient: coefficient)
    }

    /// The whole number that a decimal number is; nil if it has a fraction or is too large.
    package static func integer(_ value: Decimal) -> Int64? {
        if value.isNaN { return nil }
        var (negative, exponent, coefficient) = parts(value)
        guard exponent >= 0, exponent <= 19 else { return coefficient == 0 ? 0 : nil }
        while exponent > 0 {
            let (product, overflow) = coefficient.multipliedReportingOverflow(by: 10)
            if overflow { return nil }
            coefficient = product
            exponent -= 1
        }
        guard let magnitude = UInt64(exactly: coefficient) else { return nil }
        if negative {
            return magnitude <= 1 << 63 ? Int64(truncatingIfNeeded: 0 &- magnitude) : nil
        }
        return Int64(exactly: magnitude)
    }

    /// Sign, exponent and coefficient in their one form; all zero for zero and NaN.
    static func parts(_ value: Decimal) -> (negative: Bool, exponent: Int, coefficient: UInt128) {
        guard !value.isNaN, !value.isZero else { return (false, 0, 0) }
        let whole = hasKnownLayout ? Layout(value).coefficient : coefficientFromText(value)
        let (exponent, coefficient) = normalized(value.exponent, whole)
        return (value.isSignMinus, exponent, coefficient)
    }

    /// The same number without zeros at the end of its coefficient, as far as the exponent can be raised.
    private static func normalized(_ exponent: Int, _ coefficient: UInt128) -> (Int, UInt128) {
        if coefficient == 0 { return (0, 0) }
        var (exponent, coefficient) = (exponent, coefficient)
        if UInt64(truncatingIfNeeded: coefficient >> 64) == 0 {
            // Nearly all numbers: division of one word is an order of magnitude faster.
            var word = UInt64(truncatingIfNeeded: coefficient)
            while exponent < 127, word % 10 == 0 {
                word /= 10
                exponent += 1
            }
            coefficient = UInt128(word)
        } else {
            while exponent < 127, coefficient.isMultipleOfTen {
                coefficient /= 10
                exponent += 1
            }
        }
        return (exponent, coefficient)
    }

    private static func number(negative: Bool, exponent: Int, coefficient: UInt128) -> Decimal? {
        if hasKnownLayout {
            return Layout(negative: negative, exponent: exponent, coefficient: coefficient).decimal
        }
        return numberFromText(negative: negative, exponent: exponent, coefficient: coefficient)
    }

    // MARK: By text

    /// The digits as a whole number; how they are found where the layout is not known.
    package static func coefficientFromText(_ value: Decimal) -> UInt128 {
        var digits = value.significand
        if digits.isSignMinus { digits.negate() }
        var coefficient: UInt128 = 0
        for character in "\(digits)".utf8 where character >= 48 && character <= 57 {
            coefficient = coefficient &* 10 &+ UInt128(character - 48)
        }
        return coefficient
    }

    /// The number of these parts; how it is made where the layout is not known.
    package static func numberFromText(negative: Bool, exponent: Int, coefficient: UInt128)
        -> Decimal?
    {
        Decimal(string: "\(negative ? "-" : "")\(coefficient)e\(exponent)")
    }

    // MARK: By layout

    /// Whether `Decimal` lies in memory as `Layout` says.
    private static let hasKnownLayout: Bool = {
        guard MemoryLayout<Decimal>.size == MemoryLayout<Layout>.size else { return false }
        let probes: [(Bool, Int, UInt128)] = [
            (false, 0, 1), (true, 0, 7), (false, -3, 0x1_0203), (true, 19, 98_765_432_109_876_543),
            (false, -128, 12_345_678_901_234_567_890_123),
            (true, 100, 0x0102_0304_0506_0708_090A_0B0D),
        ]
        return probes.allSatisfy { negative, exponent, coefficient in
            guard
                let text = numberFromText(
                    negative: negative, exponent: exponent, coefficient: coefficient)
            else { return false }
            let made = Layout(negative: negative, exponent: exponent, coefficient: coefficient)
                .decimal
            return Layout(text).coefficient == coefficient && made == text && "\(made)" == "\(text)"
                && made.exponent == exponent && made.isSignMinus == negative
        }
    }()

    /// The 20 bytes of a `Decimal`.
    private struct Layout {
        var exponent: Int8
        /// From the top: length in words of 16 bits (4 bits), sign, "has no trailing zeros", 2 unused.
        var flags: UInt8
        var reserved: UInt16 = 0
        var low: (UInt32, UInt32)
        var high: (UInt32, UInt32)

        init(_ value: Decimal) {
            self = unsafeBitCast(value, to: Layout.self)
        }

        init(negative: Bool, exponent: Int, coefficient: UInt128) {
            let words = (128 - coefficient.leadingZeroBitCount + 15) / 16
            self.exponent = Int8(exponent)
            flags = UInt8(words) << 4 | (negative ? 8 : 0) | (coefficient.isMultipleOfTen ? 0 : 4)
            low = (
                UInt32(truncatingIfNeeded: coefficient),
                UInt32(truncatingIfNeeded: coefficient >> 32)
            )
            high = (
                UInt32(truncatingIfNeeded: coefficient >> 64),
                UInt32(truncatingIfNeeded: coefficient >> 96)
            )
        }

        /// Only the words that the length counts: what lies behind them is not cleared by everybody.
        var coefficient: UInt128 {
            let words = Int(flags >> 4)
            let all =
                UInt128(low.0) | UInt128(low.1) << 32 | UInt128(high.0) << 64 | UInt128(high.1)
                << 96
            return words >= 8 ? all : all & (1 << UInt128(words * 16) - 1)
        }

        var decimal: Decimal { unsafeBitCast(self, to: Decimal.self) }
    }
}

extension UInt128 {
    /// Whether ten divides it, without a division of 128 bits: 2^64 leaves 6 of ten.
    fileprivate var isMultipleOfTen: Bool {
        let high = UInt64(truncatingIfNeeded: self >> 64)
        let low = UInt64(truncatingIfNeeded: self)
        return (high % 10 * 6 + low % 10) % 10 == 0
    }
}
