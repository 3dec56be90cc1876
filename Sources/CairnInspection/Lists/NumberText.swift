// A number as text, in the grammar of JSON, without loss.
//
//   "-"? ("0" | digit without 0, digits) ("." digits)? (("e" | "E") ("+" | "-")? digits)?
//
// A text with a leading zero, a plus sign or a space is not a number: such texts are codes.

import CairnModel

/// The checked text of a number.
struct NumberText {
    private let text: UnsafeBufferPointer<UInt8>
    private let digitsStart: Int
    /// The end of the digits before the point.
    private let wholeEnd: Int
    /// The end of the digits after the point; `wholeEnd` without a point.
    private let fractionEnd: Int

    var hasPoint: Bool { fractionEnd > wholeEnd }
    var hasExponent: Bool { fractionEnd < text.count }
    /// Whether its fraction ends with a zero, so that a shorter text has the same value.
    var endsWithZero: Bool { hasPoint && text[fractionEnd - 1] == 0x30 }
    /// Whether an exponent has a sign.
    let hasSignedExponent: Bool
    var isNegative: Bool { digitsStart == 1 }
    /// Whether it is "-0", however it is written: only floating-point numbers distinguish it from 0.
    var isNegativeZero: Bool { isNegative && significantDigitCount == 0 }

    /// Checks a text; returns nil if it is not a number. The text must remain valid as long as this value.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        func digits(_ start: Int) -> Int {
            var end = start
            while end < text.count, 0x30...0x39 ~= text[end] { end += 1 }
            return end
        }
        guard let first = text.first else { return nil }
        let start = first == UInt8(ascii: "-") ? 1 : 0
        let whole = digits(start)
        guard whole > start, whole == start + 1 || text[start] != 0x30 else { return nil }
        var end = whole
        if end < text.count, text[end] == UInt8(ascii: ".") {
            end = digits(whole + 1)
            guard end > whole + 1 else { return nil }
        }
        self.text = text
        digitsStart = start
        wholeEnd = whole
        fractionEnd = end
        guard end < text.count else {
            hasSignedExponent = false
            return
        }
        guard text[end] | 0x20 == UInt8(ascii: "e") else { return nil }
        var exponent = end + 1
        let sign = exponent < text.count ? text[exponent] : 0
        hasSignedExponent = sign == UInt8(ascii: "+") || sign == UInt8(ascii: "-")
        if hasSignedExponent { exponent += 1 }
        guard exponent < text.count, digits(exponent) == text.count else { return nil }
    }

    /// The number as an integer.
    enum Whole: Equatable {
        case value(Int64)
        case fraction
        case tooLarge
    }

    /// The number as an integer, if it is one.
    var whole: Whole {
        guard hasPoint || hasExponent else { return Self.whole(text[digitsStart...], isNegative) }
        // Most numbers with a point end like this, and require no copy of their digits.
        if !hasExponent, !endsWithZero { return .fraction }
        var digits = Array(text[digitsStart..<wholeEnd])
        var exponent = 0
        if hasPoint {
            digits += text[(wholeEnd + 1)..<fractionEnd]
            exponent -= fractionEnd - wholeEnd - 1
        }
        while digits.count > 1, digits.last == 0x30 {
            digits.removeLast()
            exponent += 1
        }
        if digits == [0x30] { return .value(0) }
        if hasExponent {
            // Nine digits: the sum below cannot overflow.
            let written = String(decoding: text[(fractionEnd + 1)...], as: UTF8.self)
            guard let value = Int(written), value.magnitude < 1_000_000_000 else {
                return written.first == "-" ? .fraction : .tooLarge
            }
            exponent += value
        }
        guard exponent >= 0 else { return .fraction }
        guard exponent <= 18 else { return .tooLarge }
        digits += Array(repeating: 0x30, count: exponent)
        return digits.withUnsafeBufferPointer { Self.whole($0[...], isNegative) }
    }

    private static func whole(_ digits: Slice<UnsafeBufferPointer<UInt8>>, _ isNegative: Bool)
        -> Whole
    {
        var value: Int64 = 0
        for byte in digits {
            let (product, overflow) = value.multipliedReportingOverflow(by: 10)
            let digit = Int64(byte - 0x30)
            let (sum, carry) =
                isNegative
                ? product.subtractingReportingOverflow(digit)
                : product.addingReportingOverflow(digit)
            guard !overflow, !carry else { return .tooLarge }
            value = sum
        }
        return .value(value)
    }

    /// Returns the number as a double or float: a whole number only if it is exact, any other as the nearest,
    /// which its writer meant; nil if the nearest would be infinite, or zero for a number that is not zero.
    func floating<Number: BinaryFloatingPoint & LosslessStringConvertible>(_ type: Number.Type)
        -> Number?
    {
        switch whole {
        case .value(0): return isNegative ? -0.0 : 0
        case .value(let integer): return Number(exactly: integer)
        case .tooLarge where !hasPoint && !hasExponent:
            return Number(string).flatMap { Self.prints($0, string) ? $0 : nil }
        case .tooLarge, .fraction:
            guard let value = Number(string), value.isFinite, value != 0 else { return nil }
            return value
        }
    }

    /// Returns whether a double or float distinguishes this number from every other one: an exactly
    /// represented whole number, or any other with the same digits as the shortest text of its value. For
    /// such a number ``floating(_:)`` returns the value.
    func isTold<Number: BinaryFloatingPoint & LosslessStringConvertible>(by type: Number.Type)
        -> Bool
    {
        // Numbers this short and near to 1 are all distinguished.
        let digits = Number.significandBitCount < 52 ? 6 : 15
        if !hasExponent, wholeEnd - digitsStart <= digits, text.count <= 32,
            significantDigitCount <= digits
        {
            return true
        }
        switch whole {
        case .value(let integer): return Number(exactly: integer) != nil
        case .tooLarge where !hasPoint && !hasExponent: return floating(type) != nil
        case .tooLarge, .fraction:
            guard let value = Number(string), value.isFinite, value != 0 else { return false }
            return DecimalText(string) == DecimalText(value.description)
        }
    }

    /// The number of digits from the first to the last that is not 0.
    private var significantDigitCount: Int {
        var count = 0
        var zeros = 0
        // The point, if there is one, is where the whole digits end.
        for index in digitsStart..<fractionEnd where index != wholeEnd {
            if text[index] == 0x30 {
                if count > 0 { zeros += 1 }
            } else {
                count += zeros + 1
                zeros = 0
            }
        }
        return count
    }

    /// Returns whether a number beyond 64 bits has exactly these digits.
    private static func prints(_ value: some BinaryFloatingPoint, _ digits: String) -> Bool {
        guard value.isFinite, let whole = Int128(exactly: value) else { return false }
        return "\(whole)" == digits
    }

    /// The number's text.
    var string: String { String(decoding: text, as: UTF8.self) }
}
