import CairnFormat
import CairnTestSupport
import Testing

/// What a printer of chapter 80 appends.
func canonical(_ print: (inout ByteWriter) throws -> Void) rethrows -> String {
    var writer = ByteWriter()
    try print(&writer)
    return String(decoding: writer.bytes, as: UTF8.self)
}

@Suite("Numbers of the canonical export")
struct CanonicalNumberTests {
    static let doubleCases: [(Double, String)] = [
        (0, "0"), (-0.0, "-0"), (1, "1"), (-1, "-1"), (0.1, "0.1"), (-123.5, "-123.5"),
        (1.0 / 3, "0.3333333333333333"), (2.0 / 3, "0.6666666666666666"),
        (1e16, "10000000000000000"),
        (0x1p53, "9007199254740992"), (0x1p53 + 2, "9007199254740994"),
        (1e20, "100000000000000000000"),
        (1.2345678901234568e20, "123456789012345680000"), (1e21, "1e+21"), (1.5e21, "1.5e+21"),
        (1e22, "1e+22"), (1e23, "1e+23"), (1.23456789012345685803008e23, "1.2345678901234569e+23"),
        (0.000001, "0.000001"), (0.0000015, "0.0000015"), (1e-7, "1e-7"), (1.5e-7, "1.5e-7"),
        (0.1 + 0.2, "0.30000000000000004"), (.leastNonzeroMagnitude, "5e-324"),
        (.leastNormalMagnitude, "2.2250738585072014e-308"),
        (.greatestFiniteMagnitude, "1.7976931348623157e+308"), (0x1p-44, "5.684341886080802e-14"),
        (1e100, "1e+100"), (4.35, "4.35"), (-1e-10, "-1e-10"), (100, "100"),
        (9.5e15, "9500000000000000"),
        (.nan, "\"NaN\""), (-.nan, "\"NaN\""), (.signalingNaN, "\"NaN\""),
        (.infinity, "\"Infinity\""),
        (-.infinity, "\"-Infinity\""),
    ]

    @Test(
        "F-811, F-813: doubles with the fewest digits, laid out as ECMAScript does",
        arguments: doubleCases.indices)
    func doubles(_ index: Int) {
        let (value, text) = Self.doubleCases[index]
        #expect(canonical { CanonicalNumber.append(double: value, to: &$0) } == text)
    }

    static let floatCases: [(Float, String)] = [
        (0, "0"), (-0.0, "-0"), (0.1, "0.1"), (1.0 / 3, "0.33333334"), (16_777_216, "16777216"),
        (3.402_823_5e38, "3.4028235e+38"), (.leastNonzeroMagnitude, "1e-45"), (1e21, "1e+21"),
        (1e20, "100000000000000000000"), (0.000001, "0.000001"), (1e-7, "1e-7"),
        (0x1p-24, "5.9604645e-8"),
        (.nan, "\"NaN\""), (.infinity, "\"Infinity\""), (-.infinity, "\"-Infinity\""),
    ]

    @Test(
        "F-812: floats with the fewest digits that give the same float",
        arguments: floatCases.indices)
    func floats(_ index: Int) {
        let (value, text) = Self.floatCases[index]
        #expect(canonical { CanonicalNumber.append(float: value, to: &$0) } == text)
    }

    @Test("F-811, F-812: what is printed reads back as the same number")
    func readBack() {
        var random = RandomSource()
        for _ in 0..<3000 {
            let double = Double(bitPattern: random.next())
            if double.isFinite {
                let text = canonical { CanonicalNumber.append(double: double, to: &$0) }
                #expect(Double(text)?.bitPattern == double.bitPattern)
            }
            let float = Float(bitPattern: UInt32(truncatingIfNeeded: random.next()))
            if float.isFinite {
                let text = canonical { CanonicalNumber.append(float: float, to: &$0) }
                #expect(Float(text)?.bitPattern == float.bitPattern)
            }
        }
    }

    @Test("F-810: integers in full")
    func integers() {
        for (value, text) in [
            (Int64.min, "-9223372036854775808"), (.max, "9223372036854775807"), (0, "0"),
            (-7, "-7"),
        ] {
            #expect(canonical { CanonicalNumber.append(integer: value, to: &$0) } == text)
        }
    }

    static let decimalCases: [(DecimalBytes, String)] = [
        (.init(isNegative: false, exponent: 0, coefficient: 0), "0"),
        (.init(isNegative: true, exponent: 5, coefficient: 0), "0"),
        (.init(isNegative: false, exponent: 2, coefficient: 12), "1200"),
        (.init(isNegative: true, exponent: -3, coefficient: 5), "-0.005"),
        (.init(isNegative: true, exponent: -4, coefficient: 50), "-0.0050"),
        (.init(isNegative: false, exponent: -2, coefficient: 12345), "123.45"),
        (.init(isNegative: false, exponent: -5, coefficient: 12345), "0.12345"),
        (
            .init(isNegative: false, exponent: 0, coefficient: UInt128(UInt64.max) * 1_000_000_007),
            "18446744202836760130966861305"
        ),
    ]

    @Test("F-816: decimals in full, without exponent", arguments: decimalCases.indices)
    func decimals(_ index: Int) {
        let (value, text) = Self.decimalCases[index]
        #expect(canonical { CanonicalNumber.append(decimal: value, to: &$0) } == "\"\(text)\"")
    }
}
