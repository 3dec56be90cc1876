// Arithmetic that neither overflows nor traps; see `Number`.

import FoundationEssentials

#if canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#elseif canImport(Darwin)
    import Darwin
#endif

extension Number {
    static func + (left: Number, right: Number) -> Number {
        combine(left, right, { $0.addingReportingOverflow($1) }, +, +)
    }

    static func - (left: Number, right: Number) -> Number {
        combine(left, right, { $0.subtractingReportingOverflow($1) }, -, -)
    }

    static func * (left: Number, right: Number) -> Number {
        combine(left, right, { $0.multipliedReportingOverflow(by: $1) }, *, *)
    }

    /// The quotient, truncated for two integers; nil for division by zero.
    static func / (left: Number, right: Number) -> Number? {
        if right.double == 0 { return nil }
        return combine(left, right, { $0.dividedReportingOverflow(by: $1) }, /, /)
    }

    /// The rest of the division, with the sign of the left side; nil if it is divided by zero.
    static func % (left: Number, right: Number) -> Number? {
        if right.double == 0 { return nil }
        if case .integer(let a) = left, case .integer(let b) = right {
            // The one quotient that overflows leaves nothing.
            return .integer(a.remainderReportingOverflow(dividingBy: b).partialValue)
        }
        return .double(left.double.truncatingRemainder(dividingBy: right.double))
    }

    /// The power.
    func raised(to power: Number) -> Number {
        if case .integer(let base) = self, case .integer(let exponent) = power, exponent >= 0 {
            if let result = Self.power(base, exponent) { return .integer(result) }
        }
        return .double(pow(double, power.double))
    }

    private static func power(_ base: Int64, _ exponent: Int64) -> Int64? {
        var result: Int64 = 1
        var square = base
        var rest = exponent
        while rest > 0 {
            if rest & 1 == 1 {
                let (product, overflows) = result.multipliedReportingOverflow(by: square)
                if overflows { return nil }
                result = product
            }
            rest >>= 1
            if rest > 0 {
                let (product, overflows) = square.multipliedReportingOverflow(by: square)
                if overflows { return nil }
                square = product
            }
        }
        return result
    }

    /// A function of one number that gives one.
    func applying(_ function: ExpressionNode.Function) -> Number? {
        switch function {
        case .squareRoot: .double(double.squareRoot())
        case .logarithm: .double(log10(double))
        case .naturalLogarithm: .double(log(double))
        case .exponential: .double(exp(double))
        case .floor: rounded(.down)
        case .ceiling: rounded(.up)
        case .truncate: rounded(.towardZero)
        case .absolute: order(below: 0) ? .integer(0) - self : self
        default: nil
        }
    }

    private func order(below zero: Int64) -> Bool {
        Self.order(self, .integer(zero)).map { $0 < 0 } ?? false
    }

    private func rounded(_ rule: FloatingPointRoundingRule) -> Number {
        switch self {
        case .integer: return self
        case .double(let number): return .double(number.rounded(rule))
        case .decimal(let number):
            let text = "\(number)"
            guard let point = text.firstIndex(of: "."),
                let whole = Decimal(exactText: text[..<point])
            else { return self }
            let isNegative = text.hasPrefix("-")
            switch rule {
            case .down where isNegative: return .decimal(whole) - .integer(1)
            case .up where !isNegative: return .decimal(whole) + .integer(1)
            default: return .decimal(whole)
            }
        }
    }

    /// In integers, then in decimals, then in doubles: whatever is the first that holds the result.
    private static func combine(
        _ left: Number, _ right: Number,
        _ integers: (Int64, Int64) -> (partialValue: Int64, overflow: Bool),
        _ decimals: (Decimal, Decimal) -> Decimal, _ doubles: (Double, Double) -> Double
    ) -> Number {
        let one: Decimal
        let other: Decimal
        switch (left, right) {
        case (.integer(let a), .integer(let b)):
            let (result, overflows) = integers(a, b)
            if !overflows { return .integer(result) }
            (one, other) = (Decimal(a), Decimal(b))
        case (.integer(let a), .decimal(let b)): (one, other) = (Decimal(a), b)
        case (.decimal(let a), .integer(let b)): (one, other) = (a, Decimal(b))
        case (.decimal(let a), .decimal(let b)): (one, other) = (a, b)
        default: return .double(doubles(left.double, right.double))
        }
        // Foundation's arithmetic stops the program where an exponent leaves its range: it must not come near.
        guard abs(one.exponent) <= 40, abs(other.exponent) <= 40, !one.isNaN, !other.isNaN else {
            return .double(doubles(left.double, right.double))
        }
        let result = decimals(one, other)
        if result.isNaN { return .double(doubles(left.double, right.double)) }
        return .decimal(result)
    }
}
