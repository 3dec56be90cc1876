// An exact decimal number as bytes, in one form for each value.                Format 50, F-550
//
//   byte 0      0 for zero (and nothing follows), 1 for a positive, 2 for a negative number
//   byte 1      the exponent of ten, as a signed byte
//   then        the coefficient, little-endian, without leading zero bytes, 1 to 16 of them
//
// The coefficient has no trailing decimal zeros, unless the exponent is 127 and cannot be increased. So equal
// numbers have equal bytes, and can be keys. The order of the bytes has no meaning.

/// Sign, exponent and coefficient of a decimal number.
package struct DecimalBytes: Sendable, Hashable {
    package var isNegative: Bool
    /// The power of ten that the coefficient is multiplied by.
    package var exponent: Int
    package var coefficient: UInt128

    package init(isNegative: Bool, exponent: Int, coefficient: UInt128) {
        self.isNegative = isNegative
        self.exponent = exponent
        self.coefficient = coefficient
    }

    /// Appends the canonical bytes.
    ///
    /// - Returns: false if no exponent from −128 to 127 can express the number; then it appends nothing.
    package func encode(to writer: inout ByteWriter) -> Bool {
        guard coefficient != 0 else {
            writer.append(UInt8(0))
            return true
        }
        var exponent = exponent
        var coefficient = coefficient
        while exponent < 127 {
            let (tenth, digit) = coefficient.quotientAndRemainder(dividingBy: 10)
            guard digit == 0 else { break }
            coefficient = tenth
            exponent += 1
        }
        while exponent > 127 {
            let (more, overflow) = coefficient.multipliedReportingOverflow(by: 10)
            if overflow { return false }
            coefficient = more
            exponent -= 1
        }
        guard let byte = Int8(exactly: exponent) else { return false }
        writer.append(UInt8(isNegative ? 2 : 1))
        writer.append(UInt8(bitPattern: byte))
        while coefficient != 0 {
            writer.append(UInt8(truncatingIfNeeded: coefficient))
            coefficient >>= 8
        }
        return true
    }

    package init(decoding bytes: UnsafeRawBufferPointer) throws(FormatError) {
        var reader = ByteReader(bytes)
        let sign = try reader.integer(UInt8.self)
        if sign == 0 {
            guard reader.remaining == 0 else { throw Self.wrong(1) }
            self.init(isNegative: false, exponent: 0, coefficient: 0)
            return
        }
        let exponent = Int(try reader.integer(Int8.self))
        let digits = try reader.take(reader.remaining)
        guard sign <= 2, digits.count >= 1, digits.count <= 16, digits[digits.count - 1] != 0 else {
            throw Self.wrong(0)
        }
        var coefficient: UInt128 = 0
        for byte in digits.reversed() { coefficient = coefficient << 8 | UInt128(byte) }
        guard coefficient % 10 != 0 || exponent == 127 else { throw Self.wrong(2) }
        self.init(isNegative: sign == 2, exponent: exponent, coefficient: coefficient)
    }

    private static func wrong(_ offset: Int) -> FormatError {
        FormatError(
            .malformed, "F-550", "a decimal number is not in its canonical form", at: offset)
    }
}
