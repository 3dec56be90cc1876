// The decimals that are equal to binary numbers.
//
//   1. A whole number is exactly the decimal of the same value, up to what 128 bits hold.
//   2. A fraction, and what is larger, is the number that its shortest text means: 0.1 is one number as a decimal, a double
//      and a float, although no binary number is exactly a tenth.
//
// Both keep the order of the type: a number's text lies nearer to it than to any other number of its type.

import FoundationEssentials

extension Decimal {
    /// The decimal equal to a double; nil if no decimal is equal to it.
    init?(equalTo number: Double) {
        if let whole = Int64(exactly: number) {
            self.init(whole)
        } else if let whole = UInt128(exactly: abs(number)),
            let size = Decimal(string: whole.description)
        {
            self = number < 0 ? -size : size
        } else {
            self.init(exactText: number.description)
        }
    }

    /// The decimal that a float is; nil if no decimal is that number.
    init?(equalTo number: Float) {
        if number.rounded() == number {
            self.init(equalTo: Double(number))
        } else {
            self.init(exactText: number.description)
        }
    }
}

extension DecimalText {
    /// Negative, zero or positive: the order of the numbers that two texts mean.
    static func order(_ left: DecimalText, _ right: DecimalText) -> Int {
        let (one, other) = (left.sign, right.sign)
        guard one == other else { return one < other ? -1 : 1 }
        if one == 0 { return 0 }
        let (size, otherSize) = (left.size, right.size)
        if size != otherSize { return size < otherSize ? -one : one }
        // No zeros at the end: the one that begins the other is the smaller one.
        return one * ValueComparison.bytes(left.digits, right.digits)
    }

    private var sign: Int { digits.isEmpty ? 0 : isNegative ? -1 : 1 }
    /// Where the first digit stands.
    private var size: Int { exponent + digits.count }
}
