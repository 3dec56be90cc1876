// The functions of expressions. A nil argument gives nil, except in statistical functions, which ignore nil.

import FoundationEssentials

extension PredicateEvaluator {
    func call(_ function: ExpressionNode.Function, _ arguments: [EvaluatedValue]) -> EvaluatedValue
    {
        switch function {
        case .sum, .count, .minimum, .maximum, .average, .median, .mode, .standardDeviation:
            return Self.statistics(function, EvaluatedValue.flat(arguments).members)
        case .noindex: return arguments.first ?? .null
        case .now: return .value(.date(moment))
        case .random: return .value(.double(Double.random(in: 0..<1)))
        default:
            let values = arguments.map(\.plain)
            switch values.count {
            case 1: return .value(unary(function, values[0]))
            case 2: return .value(binary(function, values[0], values[1]))
            default: return .null
            }
        }
    }

    private func unary(_ function: ExpressionNode.Function, _ value: Value) -> Value {
        if case .string(let text) = value {
            switch function {
            case .uppercase: return .string(text.uppercased())
            case .lowercase: return .string(text.lowercased())
            case .canonical: return .string(text.folded(case: true, diacritics: true))
            case .length: return .integer(Int64(text.count))
            default: return .null
            }
        }
        guard let number = Number(value) else { return .null }
        switch function {
        case .onesComplement: return number.wholeNumber.map { .integer(~$0) } ?? .null
        case .randomBelow:
            guard let limit = number.wholeNumber, limit > 0 else { return .null }
            return .integer(Int64.random(in: 0..<limit))
        default: return number.applying(function)?.value ?? .null
        }
    }

    private func binary(_ function: ExpressionNode.Function, _ left: Value, _ right: Value) -> Value
    {
        switch (function, left, right) {
        case (.subtract, .date(let a), .date(let b)):
            return .double(a.timeIntervalSinceReferenceDate - b.timeIntervalSinceReferenceDate)
        case (.add, .date(let date), _), (.subtract, .date(let date), _):
            guard let seconds = Number(right)?.double else { return .null }
            return .date(
                Date(
                    timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate
                        + (function == .add ? seconds : -seconds)))
        case (.add, _, .date): return binary(.add, right, left)
        default: break
        }
        guard let a = Number(left), let b = Number(right) else { return .null }
        switch function {
        case .add: return (a + b).value
        case .subtract: return (a - b).value
        case .multiply: return (a * b).value
        case .divide: return (a / b)?.value ?? .null
        case .modulus: return (a % b)?.value ?? .null
        case .raise: return a.raised(to: b).value
        default: return Self.bits(function, a, b)
        }
    }

    private static func bits(_ function: ExpressionNode.Function, _ left: Number, _ right: Number)
        -> Value
    {
        guard let a = left.wholeNumber, let b = right.wholeNumber else { return .null }
        return switch function {
        case .bitwiseAnd: .integer(a & b)
        case .bitwiseOr: .integer(a | b)
        case .bitwiseXor: .integer(a ^ b)
        case .shiftLeft: .integer(a << b)
        case .shiftRight: .integer(a >> b)
        default: .null
        }
    }

    // MARK: Statistics

    static func statistics(_ function: ExpressionNode.Function, _ members: [EvaluatedValue])
        -> EvaluatedValue
    {
        switch function {
        case .count: return .value(.integer(Int64(members.count)))
        case .sum: return .value(Self.sum(members))
        case .average: return .value(Self.average(members))
        case .minimum: return Self.extreme(members, isLeast: true)
        case .maximum: return Self.extreme(members, isLeast: false)
        default: break
        }
        let numbers = members.compactMap { Number($0.plain) }
            .filter { Number.order($0, $0) != nil }
            .sorted { (Number.order($0, $1) ?? 0) < 0 }
        guard !numbers.isEmpty else { return function == .mode ? .collection([]) : .null }
        switch function {
        case .median:
            let middle = numbers.count / 2
            if numbers.count % 2 == 1 { return .value(numbers[middle].value) }
            return .value(Self.average([middle - 1, middle].map { .value(numbers[$0].value) }))
        case .mode: return .collection(Self.commonest(numbers).map { .value($0.value) })
        default:
            let doubles = numbers.map(\.double)
            let mean = doubles.reduce(0, +) / Double(doubles.count)
            let squares = doubles.reduce(0) { $0 + ($1 - mean) * ($1 - mean) }
            return .value(.double((squares / Double(doubles.count)).squareRoot()))
        }
    }

    /// The most frequent numbers of a sorted list.
    private static func commonest(_ numbers: [Number]) -> [Number] {
        var runs: [(number: Number, count: Int)] = []
        for number in numbers {
            if let last = runs.last, Number.order(last.number, number) == 0 {
                runs[runs.count - 1].count += 1
            } else {
                runs.append((number, 1))
            }
        }
        let most = runs.map(\.count).max() ?? 0
        return runs.filter { $0.count == most }.map(\.number)
    }
}
