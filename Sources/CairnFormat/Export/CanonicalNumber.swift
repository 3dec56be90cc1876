// Numbers in the canonical export.                                      Format 80, F-810 to F-816
//
//   1. The standard library finds the shortest digits that parse as the same number, and of those the
//      nearest.
//   2. The layout is that of ECMAScript: plain from 1e-6 to below 1e21, otherwise with an exponent.
//
// Pure functions on bytes, no locale, no Foundation.

package enum CanonicalNumber {
    package static func append(integer value: Int64, to writer: inout ByteWriter) {
        writer.append(utf8: String(value))
    }

    /// Appends a double; NaN and the infinities are JSON strings.
    package static func append(double value: Double, to writer: inout ByteWriter) {
        if value.isFinite {
            appendFinite(value.description, to: &writer)
        } else {
            appendSpecial(isNaN: value.isNaN, isNegative: value < 0, to: &writer)
        }
    }

    /// Appends a float, with the fewest digits that parse as the same 32-bit number.
    package static func append(float value: Float, to writer: inout ByteWriter) {
        if value.isFinite {
            appendFinite(value.description, to: &writer)
        } else {
            appendSpecial(isNaN: value.isNaN, isNegative: value < 0, to: &writer)
        }
    }

    /// Appends a JSON string with all digits and no exponent.
    package static func append(decimal value: DecimalBytes, to writer: inout ByteWriter) {
        writer.append(utf8: value.isNegative && value.coefficient != 0 ? "\"-" : "\"")
        let digits = Array(String(value.coefficient).utf8)
        if value.coefficient == 0 {
            writer.append(UInt8(ascii: "0"))
        } else {
            appendPlain(digits, point: digits.count + value.exponent, to: &writer)
        }
        writer.append(UInt8(ascii: "\""))
    }

    private static func appendSpecial(isNaN: Bool, isNegative: Bool, to writer: inout ByteWriter) {
        writer.append(utf8: isNaN ? "\"NaN\"" : isNegative ? "\"-Infinity\"" : "\"Infinity\"")
    }

    /// Appends the digits of a shortest description: sign, digits, a point and an exponent in any form.
    private static func appendFinite(_ description: String, to writer: inout ByteWriter) {
        var digits: [UInt8] = []
        digits.reserveCapacity(20)
        // The number is 0.digits × 10^point.
        var point = 0
        var seenPoint = false
        var exponent = 0
        var isNegativeExponent = false
        var inExponent = false
        for byte in description.utf8 {
            switch byte {
            case UInt8(ascii: "-"):
                if inExponent {
                    isNegativeExponent = true
                } else {
                    writer.append(byte)
                }
            case UInt8(ascii: "."): seenPoint = true
            case UInt8(ascii: "e"): inExponent = true
            case 48...57:
                if inExponent {
                    exponent = exponent * 10 + Int(byte - 48)
                } else if digits.isEmpty && byte == 48 {
                    if seenPoint { point -= 1 }
                } else {
                    digits.append(byte)
                    if !seenPoint { point += 1 }
                }
            default: break
            }
        }
        while digits.last == 48 { digits.removeLast() }
        guard !digits.isEmpty else {
            writer.append(UInt8(ascii: "0"))
            return
        }
        point += isNegativeExponent ? -exponent : exponent
        if point > 21 || point < -5 {
            appendScientific(digits, exponent: point - 1, to: &writer)
        } else {
            appendPlain(digits, point: point, to: &writer)
        }
    }

    private static func appendPlain(_ digits: [UInt8], point: Int, to writer: inout ByteWriter) {
        if point <= 0 {
            writer.append(utf8: "0.")
            writer.append(utf8: String(repeating: "0", count: -point))
            append(digits[...], to: &writer)
        } else if point >= digits.count {
            append(digits[...], to: &writer)
            writer.append(utf8: String(repeating: "0", count: point - digits.count))
        } else {
            append(digits[..<point], to: &writer)
            writer.append(UInt8(ascii: "."))
            append(digits[point...], to: &writer)
        }
    }

    private static func appendScientific(
        _ digits: [UInt8], exponent: Int, to writer: inout ByteWriter
    ) {
        append(digits[..<1], to: &writer)
        if digits.count > 1 {
            writer.append(UInt8(ascii: "."))
            append(digits[1...], to: &writer)
        }
        writer.append(utf8: exponent < 0 ? "e-" : "e+")
        writer.append(utf8: String(abs(exponent)))
    }

    private static func append(_ digits: ArraySlice<UInt8>, to writer: inout ByteWriter) {
        digits.withUnsafeBytes { writer.append($0) }
    }
}
