// Converts decimal numbers between text and PostgreSQL's binary form.
//
// The binary form: four 16-bit numbers (how many digits; the weight of the first; the sign; how many decimal places
// are shown) and the digits, which count from 0 to 9999: digit i stands for digit * 10000^(weight - i). Zeros at
// both ends are not sent.
//
// Threads: any; functions.

enum NumericForm {
    private static let positive: UInt16 = 0x0000
    private static let negative: UInt16 = 0x4000
    private static let notANumber: UInt16 = 0xC000
    private static let infinity: UInt16 = 0xD000
    private static let negativeInfinity: UInt16 = 0xF000
    /// The maximum number of decimal places that the server supports.
    private static let mostPlaces = 16_383
    /// What the server takes before the point, at most.
    private static let mostWhole = 131_072

    /// Appends the binary form; false if the text is not a number or one that the server cannot keep.
    static func append(_ text: String, to buffer: inout FieldBuffer) -> Bool {
        switch text {
        case "NaN": return appendSpecial(notANumber, to: &buffer)
        case "Infinity": return appendSpecial(infinity, to: &buffer)
        case "-Infinity": return appendSpecial(negativeInfinity, to: &buffer)
        default: break
        }
        guard let number = DecimalText(text) else { return false }
        // The point has to stand between two digits of four decimals.
        let whole = number.digits.count + number.exponent
        let places = max(0, -number.exponent)
        guard places <= mostPlaces, whole <= mostWhole else { return false }
        var first = number.digits.startIndex
        while first < number.digits.endIndex, number.digits[first] == 0 { first += 1 }
        guard first < number.digits.endIndex else {
            buffer.put(UInt16(0))
            buffer.put(Int16(0))
            buffer.put(positive)
            buffer.put(UInt16(places))
            return true
        }
        // How many decimals stand before the point once zeros at the front are gone; may be negative.
        let before = whole - first
        let weight = (before + 3).flooredQuotient(by: 4) - 1
        var groups: [UInt16] = []
        var position = first - (4 * (weight + 1) - before)
        while position < number.digits.endIndex {
            var group: UInt16 = 0
            for index in position..<position + 4 {
                let digit = index >= first && index < number.digits.endIndex
                group = group * 10 + (digit ? UInt16(number.digits[index]) : 0)
            }
            groups.append(group)
            position += 4
        }
        while groups.last == 0 { groups.removeLast() }
        guard groups.count <= Int(Int16.max) else { return false }
        buffer.put(UInt16(groups.count))
        buffer.put(Int16(weight))
        buffer.put(number.isNegative ? negative : positive)
        buffer.put(UInt16(places))
        for group in groups { buffer.put(group) }
        return true
    }

    private static func appendSpecial(_ sign: UInt16, to buffer: inout FieldBuffer) -> Bool {
        for word in [0, 0, sign, 0] as [UInt16] { buffer.put(word) }
        return true
    }

    /// The coefficient and the power of ten of a binary form; nil if it is no number, or one whose digits 128 bits do not hold.
    static func parts(_ raw: UnsafeRawBufferPointer) -> (
        isNegative: Bool, exponent: Int, coefficient: UInt128
    )? {
        guard raw.count >= 8, raw.count % 2 == 0 else { return nil }
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: raw.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        let (count, sign) = (Int(word(0)), word(2))
        guard raw.count == 8 + 2 * count, sign == positive || sign == negative else { return nil }
        var coefficient: UInt128 = 0
        for index in 0..<count {
            let group = word(4 + index)
            let (product, isTooLarge) = coefficient.multipliedReportingOverflow(by: 10_000)
            let (sum, overflows) = product.addingReportingOverflow(UInt128(group))
            guard group < 10_000, !isTooLarge, !overflows else { return nil }
            coefficient = sum
        }
        return (sign == negative, 4 * (Int(Int16(bitPattern: word(1))) + 1 - count), coefficient)
    }

    /// The text of a binary form, with as many decimal places as the server shows; nil if it is none.
    static func text(_ raw: UnsafeRawBufferPointer) -> String? {
        guard raw.count >= 8, raw.count % 2 == 0 else { return nil }
        func word(_ index: Int) -> UInt16 {
            UInt16(bigEndian: raw.loadUnaligned(fromByteOffset: 2 * index, as: UInt16.self))
        }
        let count = Int(word(0))
        let weight = Int(Int16(bitPattern: word(1)))
        let places = Int(word(3))
        guard raw.count == 8 + 2 * count else { return nil }
        switch word(2) {
        case notANumber: return "NaN"
        case infinity: return "Infinity"
        case negativeInfinity: return "-Infinity"
        case positive, negative: break
        default: return nil
        }
        var utf8: [UInt8] = []
        if word(2) == negative { utf8.append(UInt8(ascii: "-")) }
        func appendGroup(_ index: Int, digits: Int = 4, skipsZeros: Bool = false) -> Bool {
            let group = index >= 0 && index < count ? Int(word(4 + index)) : 0
            guard group < 10_000 else { return false }
            let decimals = [group / 1000, group / 100 % 10, group / 10 % 10, group % 10]
            let first = skipsZeros ? decimals.firstIndex { $0 != 0 } ?? 3 : 0
            for decimal in decimals[first...].prefix(digits) {
                utf8.append(UInt8(ascii: "0") + UInt8(decimal))
            }
            return true
        }
        if weight < 0 { utf8.append(UInt8(ascii: "0")) }
        for index in 0..<max(0, weight + 1) {
            guard appendGroup(index, skipsZeros: index == 0) else { return nil }
        }
        if places > 0 { utf8.append(UInt8(ascii: ".")) }
        var left = places
        var index = weight + 1
        while left > 0 {
            guard appendGroup(index, digits: min(4, left)) else { return nil }
            left -= 4
            index += 1
        }
        return String(decoding: utf8, as: UTF8.self)
    }
}

/// "-12.5e3": its digits and where the point stands.
private struct DecimalText {
    var isNegative = false
    /// All decimals, the whole ones first.
    var digits: [UInt8] = []
    /// The power of ten of the last digit.
    var exponent = 0

    init?(_ text: String) {
        var rest = Substring(text).utf8
        if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") {
            isNegative = sign == UInt8(ascii: "-")
            rest = rest.dropFirst()
        }
        var hasPoint = false
        while let character = rest.first {
            if character == UInt8(ascii: "."), !hasPoint {
                hasPoint = true
            } else if character >= UInt8(ascii: "0"), character <= UInt8(ascii: "9") {
                digits.append(character - UInt8(ascii: "0"))
                if hasPoint { exponent -= 1 }
            } else {
                break
            }
            rest = rest.dropFirst()
        }
        guard !digits.isEmpty else { return nil }
        guard let mark = rest.first else { return }
        guard mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E"),
            let power = Int(Substring(rest.dropFirst())), abs(power) < 1_000_000
        else { return nil }
        exponent += power
    }
}

extension Int {
    fileprivate func flooredQuotient(by divisor: Int) -> Int {
        self >= 0 ? self / divisor : -((-self + divisor - 1) / divisor)
    }
}
