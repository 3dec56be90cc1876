// Numbers of every type as operands of arithmetic and comparisons.
//
//   1. Integers and truth values are calculated as 64-bit integers, with decimals as decimals, and with
//      doubles and floats as doubles.
//   2. What no 64-bit integer holds goes on as a decimal, and what no decimal holds as a double: nothing
//      overflows, and nothing traps.
//   3. Comparisons are exact: no operand is rounded to compare it. Whole numbers are compared as what they are in every type,
//      and so is a float beside a double.
//   4. Beside a decimal, a fraction of a double or a float is the number that its shortest text means (see `Decimal+Double`):
//      a tenth as a decimal equals 0.1 of either type. These two do not equal each other, being different numbers; that is the
//      only way in which a equals b and b equals c but a does not equal c.
//
// Threads: a value.

import FoundationEssentials

/// A number of one of three types.
enum Number: Sendable {
    case integer(Int64)
    case decimal(Decimal)
    case double(Double)

    /// The number that a value is; nil if it is none.
    init?(_ value: Value) {
        switch value {
        case .integer(let number): self = .integer(number)
        case .boolean(let truth): self = .integer(truth ? 1 : 0)
        case .decimal(let number): self = number.isNaN ? .double(.nan) : .decimal(number)
        case .double(let number): self = .double(number)
        case .float(let number): self = .double(Double(number))
        default: return nil
        }
    }

    /// The number as a value.
    var value: Value {
        switch self {
        case .integer(let number): .integer(number)
        case .decimal(let number): .decimal(number)
        case .double(let number): .double(number)
        }
    }

    /// The nearest double.
    var double: Double {
        switch self {
        case .integer(let number): Double(number)
        case .decimal(let number): Double("\(number)") ?? .nan
        case .double(let number): number
        }
    }

    /// The whole number that this is, if it is one that 64 bits hold.
    var wholeNumber: Int64? {
        switch self {
        case .integer(let number): number
        case .decimal(let number): Int64("\(number)")
        case .double(let number): Int64(exactly: number)
        }
    }

    // MARK: Comparing

    /// Negative, zero or positive for two numbers or two moments; nil for all else, and for what is no number.
    static func order(_ left: Value, _ right: Value) -> Int? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): return sign(a, b)
        case (.date(let a), .date(let b)):
            return order(
                Number.double(a.timeIntervalSinceReferenceDate),
                Number.double(b.timeIntervalSinceReferenceDate))
        case (.float(let number), .decimal(let other)):
            if other.isNaN { return nil }
            guard let same = Decimal(equalTo: number) else {
                return order(Number.double(Double(number)), Number.decimal(other))
            }
            return sign(same, other)
        case (.decimal, .float): return order(right, left).map { -$0 }
        default:
            guard let a = Number(left), let b = Number(right) else { return nil }
            return order(a, b)
        }
    }

    static func order(_ left: Number, _ right: Number) -> Int? {
        switch (left, right) {
        case (.integer(let a), .integer(let b)): return sign(a, b)
        case (.double(let a), .double(let b)):
            return a.isNaN || b.isNaN ? nil : sign(a, b)
        case (.decimal(let a), .decimal(let b)): return sign(a, b)
        case (.integer(let a), .decimal(let b)): return sign(Decimal(a), b)
        case (.decimal(let a), .integer(let b)): return sign(a, Decimal(b))
        case (.integer(let a), .double(let b)): return order(whole: a, b)
        case (.double(let a), .integer(let b)): return order(whole: b, a).map { -$0 }
        case (.decimal(let a), .double(let b)):
            guard !b.isNaN else { return nil }
            if let same = Decimal(equalTo: b) { return sign(a, same) }
            // Larger or smaller than a decimal can be; but for the infinities it has a text.
            guard let one = DecimalText("\(a)"), let other = DecimalText(b.description) else {
                return b < 0 ? 1 : -1
            }
            return DecimalText.order(one, other)
        case (.double, .decimal): return order(right, left).map { -$0 }
        }
    }

    private static func order(whole a: Int64, _ b: Double) -> Int? {
        if b.isNaN { return nil }
        if b >= 0x1p63 { return -1 }
        if b < -0x1p63 { return 1 }
        // The whole part is an integer of 64 bits now; the fraction decides between equal ones.
        let whole = b.rounded(.towardZero)
        guard let integer = Int64(exactly: whole) else { return nil }
        return a == integer ? sign(0, b - whole) : sign(a, integer)
    }

    private static func sign<T: Comparable>(_ a: T, _ b: T) -> Int { a < b ? -1 : a == b ? 0 : 1 }
}
