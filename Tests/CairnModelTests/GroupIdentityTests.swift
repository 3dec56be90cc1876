// Which numbers are one for groups: equal ones, whatever their types.

import CairnModel
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
}
