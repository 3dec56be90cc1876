import CairnFormat
import CairnTestSupport
import Testing

@Suite("Decimal numbers as bytes")
struct DecimalBytesTests {
    static func bytes(_ value: DecimalBytes) -> [UInt8]? {
        var writer = ByteWriter()
        return value.encode(to: &writer) ? Array(writer.bytes) : nil
    }

    static func decode(_ bytes: [UInt8]) throws -> DecimalBytes {
        try bytes.withUnsafeBytes { try DecimalBytes(decoding: $0) }
    }

    @Test("F-550: equal numbers have equal bytes")
    func oneForm() throws {
        #expect(Self.bytes(.init(isNegative: false, exponent: 0, coefficient: 0)) == [0])
        #expect(Self.bytes(.init(isNegative: true, exponent: 9, coefficient: 0)) == [0])
        #expect(Self.bytes(.init(isNegative: false, exponent: 0, coefficient: 1200)) == [1, 2, 12])
        #expect(Self.bytes(.init(isNegative: false, exponent: 1, coefficient: 120)) == [1, 2, 12])
        #expect(
            Self.bytes(.init(isNegative: true, exponent: -2, coefficient: 12345)) == [
                2, 0xfe, 0x39, 0x30,
            ])
    }

    @Test("Numbers come back, and the exponent stays in its byte")
    func roundTrip() throws {
        var random = RandomSource()
        for _ in 0..<500 {
            let coefficient = UInt128(random.next()) << 64 | UInt128(random.next())
            let value = DecimalBytes(
                isNegative: random.oneIn(2), exponent: random.number(-128...127),
                coefficient: coefficient >> UInt128(random.number(0...127)))
            let back = try Self.decode(try #require(Self.bytes(value)))
            #expect(Self.bytes(back) == Self.bytes(value))
            if value.coefficient != 0 {
                #expect(back.isNegative == value.isNegative)
                let shift = back.exponent - value.exponent
                #expect(shift >= 0)
                #expect(
                    (0..<shift).reduce(back.coefficient) { sum, _ in sum * 10 } == value.coefficient
                )
            }
        }
        #expect(
            Self.bytes(.init(isNegative: false, exponent: 127, coefficient: 100)) == [1, 127, 100])
        #expect(
            Self.bytes(.init(isNegative: false, exponent: 129, coefficient: 1)) == [1, 127, 100])
        #expect(Self.bytes(.init(isNegative: false, exponent: 170, coefficient: 1)) == nil)
        #expect(Self.bytes(.init(isNegative: false, exponent: -129, coefficient: 1)) == nil)
        #expect(
            Self.bytes(.init(isNegative: false, exponent: -129, coefficient: 10)) == [1, 0x80, 1])
    }

    static let wrong: [[UInt8]] = [
        [], [1], [1, 0], [0, 0], [3, 0, 1], [1, 0, 0], [1, 0, 1, 0], [1, 0, 10], [2, 5, 100],
        [1, 0] + Array(repeating: 1, count: 17),
    ]

    @Test("F-550: any other form is refused", arguments: wrong.indices)
    func otherForms(_ index: Int) {
        #expect(throws: FormatError.self) { try Self.decode(Self.wrong[index]) }
    }
}
