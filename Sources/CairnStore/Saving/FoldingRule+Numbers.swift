// Combines several values with a rule that depends on nothing else.

package import CairnModel
import FoundationEssentials

extension FoldingRule {
    /// Combines values with `maximum`, `minimum` or `sum`.
    ///
    /// - Parameters:
    ///   - values: at least one value, none of them nil.
    ///   - base: the value that a sum contains twice and that is subtracted once; nil if there is none.
    /// - Returns: nil if the sum exceeds the range of the type.
    package func folded(_ values: [Value], lessOnce base: Value? = nil, as type: AttributeType)
        -> Value?
    {
        switch self {
        case .maximum: values.max { SortingOrder.compare($0, $1) < 0 }
        case .minimum: values.min { SortingOrder.compare($0, $1) < 0 }
        case .sum: Self.sum(values, lessOnce: base, as: type)
        case .keep, .fillNil, .newest, .union:
            preconditionFailure("the rule needs more than the values")
        }
    }

    private static func sum(_ values: [Value], lessOnce base: Value?, as type: AttributeType)
        -> Value?
    {
        // Wide enough for all there can be of them, so that the way to the sum is never too wide.
        var high = 0
        var low: UInt64 = 0
        func add(_ number: Int64, _ isNegative: Bool) {
            // Two's complement of 128 bits.
            var (part, upper) = (UInt64(bitPattern: number), number < 0 ? -1 : 0)
            if isNegative {
                part = ~part &+ 1
                upper = ~upper &+ (part == 0 ? 1 : 0)
            }
            let (sum, carry) = low.addingReportingOverflow(part)
            low = sum
            high += upper + (carry ? 1 : 0)
        }
        var decimal = Decimal(0)
        var double = 0.0
        func take(_ value: Value, isNegative: Bool) -> Bool {
            switch value {
            case .integer(let number): add(number, isNegative)
            case .decimal(let number): decimal += isNegative ? -number : number
            case .double(let number): double += isNegative ? -number : number
            case .float(let number): double += Double(isNegative ? -number : number)
            default: return false
            }
            return true
        }
        for value in values where !take(value, isNegative: false) { return nil }
        if let base, !take(base, isNegative: true) { return nil }
        switch type {
        case .integer16, .integer32, .integer64:
            let integer = Int64(bitPattern: low)
            guard high == (integer < 0 ? -1 : 0) else { return nil }
            return Value.integer(integer).converted(to: type)
        case .decimal: return decimal.isNaN ? nil : .decimal(decimal)
        case .float:
            let float = Float(double)
            return float.isInfinite && double.isFinite ? nil : .float(float)
        default: return .double(double)
        }
    }
}
