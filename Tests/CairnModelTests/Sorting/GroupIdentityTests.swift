// Which numbers are one for groups: equal ones, whatever their types.

import CairnModel
import CairnTestSupport
import Foundation
import Testing

@Suite("Numbers of groups")
struct GroupIdentityTests {
    private static func decimal(_ text: String) -> Value {
        Decimal(string: text).map { .decimal($0) } ?? .null
    }

    @Test(
        "Equal numbers of different types are one",
        arguments: [
            [.integer(1), .double(1), .float(1), decimal("1"), decimal("1.000")],
            [.integer(0), .double(-0.0), .float(-0.0), decimal("0")],
            [.integer(-7), .double(-7), .float(-7), decimal("-7")],
            [.double(0.5), .float(0.5), decimal("0.5"), decimal("0.50")],
            [.double(0.1), .float(0.1), decimal("0.1")],
            [.double(.nan), .float(.nan), .decimal(.nan), .double(-.nan)],
            [.double(.infinity), .float(.infinity)],
            [.integer(9_007_199_254_740_993), decimal("9007199254740993")],
            [.integer(1 << 62), .double(0x1p62), .float(0x1p62), decimal("4611686018427387904")],
            [.integer(.min), .double(-0x1p63), decimal("-9223372036854775808")],
            [.double(0x1p63), .float(0x1p63), decimal("9223372036854775808")],
            [.double(1e60), decimal("1e60")], [.double(1e-40), decimal("1e-40")],
            // Beyond 17 digits: what a double is, not what its text says.
            [.double(0x1p60), .float(0x1p60), decimal("1152921504606846976")],
            [
                .double(0x1p127), .float(0x1p127),
                decimal("170141183460469231731687303715884105728"),
            ],
        ] as [[Value]])
    func equal(_ values: [Value]) {
        for value in values {
            #expect(value.groupIdentity == values[0].groupIdentity, "\(value) is \(values[0])")
        }
    }

    @Test(
        "Numbers that are nearly equal, and what only looks like a number, are others",
        arguments: [
            (.integer(9_007_199_254_740_993), .double(9_007_199_254_740_992)),
            (decimal("1152921504606847000"), .double(0x1p60)),
            (decimal("9223372036854776000"), .double(0x1p63)),
            (decimal("9223372036854776000"), .float(0x1p63)),
            (decimal("170141183460469230000000000000000000000"), .double(0x1p127)),
            (.integer(.max), .double(0x1p63)), (.integer(.max), .float(0x1p63)),
            (decimal("9223372036854775807"), .double(0x1p63)),
            (decimal("0.1"), decimal("0.1000000000000000055511151231257827")),
            (decimal("0.1000000000000000055511151231257827"), .double(0.1)),
            (.double(0.1), .double(0.1.nextUp)), (.double(.infinity), .double(-.infinity)),
            (.double(.infinity), .double(.nan)), (.integer(1), .boolean(true)),
            (.integer(1), .string("1")), (.double(0), .null),
            (.double(0), .date(Date(timeIntervalSinceReferenceDate: 0))),
        ] as [(Value, Value)])
    func different(_ one: Value, _ other: Value) {
        #expect(one.groupIdentity != other.groupIdentity)
    }

    // MARK: Beside comparisons

    /// Numbers of all types, many of them near each other, and random ones.
    private static func numbers() -> [Value] {
        var random = RandomSource()
        var numbers: [Value] = [
            .double(.infinity), .double(-.infinity), .float(.infinity), .double(-0.0),
            .double(.greatestFiniteMagnitude), .double(.leastNonzeroMagnitude), .double(2e165),
            .double(1.5e-128), .double(1.234_567_890_123_456_7e-113), decimal("1e-128"),
            decimal("-1e-128"), decimal("3e-128"), decimal("1234567890123456e-128"),
            decimal("2e164"), decimal("1e127"), decimal("340282366920938463463374607431768211455"),
            decimal("9223372036854776000"), decimal("1152921504606847000"),
            decimal("0.1000000000000000055511151231257827"),
            .double(Double(Float(0.1))), .float(0.1), .double(0.1), decimal("0.1"),
        ]
        var whole: [Double] = [0, 1, -1, 3, 1e17, 1e22, 1e23, 1e60]
        for power in [24, 31, 53, 54, 60, 62, 63, 64, 90, 126, 127, 128, 200] {
            whole.append(Double(sign: .plus, exponent: power, significand: 1))
        }
        for number in whole + whole.map({ -$0 }) {
            for near in [number, number.nextUp, number.nextDown, number + 0.5] {
                numbers.append(.double(near))
                if near.magnitude < 3e38 { numbers.append(.float(Float(near))) }
                if let integer = Int64(exactly: near) {
                    numbers += [integer &- 1, integer, integer &+ 1].map { .integer($0) }
                }
                numbers.append(decimal("\(near)"))
                if let exact = Int128(exactly: near) { numbers.append(decimal("\(exact)")) }
            }
        }
        for _ in 0..<60 {
            let double = Double.random(in: -1000...1000, using: &random)
            numbers += [.double(double), decimal("\(double)"), .float(Float(double))]
        }
        return numbers.filter { $0 != .null }.shuffled(using: &random)
    }

    private static func isFraction(_ value: Value) -> Bool {
        switch value {
        case .float(let number): number.rounded() != number
        case .double(let number): number.rounded() != number
        default: false
        }
    }

    /// Whether two values are compared as the fractions that they are in binary.
    private static func areBinary(_ one: Value, _ other: Value) -> Bool {
        switch (one, other) {
        case (.float, .double), (.double, .float): isFraction(one) && isFraction(other)
        default: false
        }
    }

    @Test("Numbers are one if they are equal, but for fractions of floats beside doubles")
    func equality() {
        let numbers = Self.numbers()
        let comparison = ValueComparison(operator: .equal)
        var random = RandomSource()
        var wrong: [String] = []
        for one in Campaign.sample(numbers, oneIn: 4, using: &random) {
            for other in numbers where !Self.areBinary(one, other) {
                if comparison.equals(one, other) != (one.groupIdentity == other.groupIdentity) {
                    wrong.append("\(one) and \(other)")
                }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
        // The two ways.
        #expect(!comparison.equals(.float(0.1), .double(0.1)))
        #expect(comparison.equals(.float(0.1), .double(Double(Float(0.1)))))
        #expect(comparison.equals(.float(0.1), Self.decimal("0.1")))
    }

    @Test("Numbers of all types have one order, for comparisons as for sorting")
    func order() {
        let numbers = Self.numbers().sorted { SortingOrder.compare($0, $1) < 0 }
        let comparison = ValueComparison(operator: .equal)
        var wrong: [String] = []
        var random = RandomSource()
        for place in Campaign.sample(Array(numbers.indices), oneIn: 4, using: &random) {
            let one = numbers[place]
            for other in numbers[place...] {
                let sorted = SortingOrder.compare(one, other)
                var isRight = sorted <= 0 && SortingOrder.compare(other, one) == -sorted
                if !Self.areBinary(one, other) {
                    isRight =
                        isRight && comparison.order(one, other) == sorted
                        && comparison.order(other, one) == -sorted
                }
                if !isRight { wrong.append("\(one) and \(other)") }
            }
        }
        #expect(wrong.isEmpty, "\(wrong.prefix(5))")
    }

    @Test("Numbers of different types are sorted by size, what is no number last")
    func sorting() {
        let sorted: [Value] = [
            .null, .float(-2), .integer(-1), Self.decimal("0.5"), .integer(1), .float(1.5),
            .double(2), .integer(3), .double(.infinity), .double(.nan), .string(""),
            .boolean(false),
        ]
        for _ in 0..<20 {
            #expect(sorted.shuffled().sorted { SortingOrder.compare($0, $1) < 0 } == sorted)
        }
        #expect(SortingOrder.compare(.integer(1), .double(1)) == 0)
        #expect(SortingOrder.compare(.decimal(.nan), .double(.nan)) == 0)
        #expect(SortingOrder.compare(.decimal(.nan), Self.decimal("1")) == 1)
        #expect(SortingOrder.compare(.decimal(.nan), .double(.infinity)) == 1)
    }

    @Test("Doubles and decimals become each other exactly where they are whole, and are written so")
    func exactWholes() throws {
        for number in [0x1p60, -0x1p60, 0x1p63, 0x1p100, 0x1p127, 9.007_199_254_740_994e15] {
            let comparison = ValueComparison(operator: .equal)
            let decimal = try #require(Value.double(number).literal(of: .decimal))
            #expect(comparison.equals(decimal, .double(number)), "\(number)")
            let float = try #require(Value.float(Float(number)).literal(of: .decimal))
            #expect(comparison.equals(float, .float(Float(number))), "\(number)")
            for value: Value in [.double(number), .float(Float(number)), decimal] {
                guard case .constant(let read) = try ExpressionNode(format: value.predicateFormat)
                else {
                    Issue.record("\(value.predicateFormat) is no constant")
                    continue
                }
                #expect(comparison.equals(read, value), "\(value.predicateFormat)")
                if case .integer = read { Issue.record("\(read) is an integer") }
            }
        }
    }
}
