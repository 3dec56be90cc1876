import CairnModel
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("The bytes of a decimal number")
struct DecimalCodingTests {
    private func decode(_ bytes: [UInt8]) -> Decimal? {
        bytes.withUnsafeBytes { DecimalCoding.decode($0) }
    }

    @Test(
        "are these for these numbers",
        arguments: [
            ("0", [0]), ("-0", [0]), ("0.000", [0]), ("1", [1, 0, 1]), ("-1", [2, 0, 1]),
            ("1.00", [1, 0, 1]), ("100", [1, 2, 1]), ("9.99", [1, 0xFE, 0xE7, 3]),
            ("1e127", [1, 127, 1]), ("1e-128", [1, 128, 1]),
            (
                "-340282366920938463463374607431768211455",
                [2, 0] + [UInt8](repeating: 255, count: 16)
            ),
        ] as [(String, [UInt8])])
    func examples(text: String, bytes: [UInt8]) throws {
        let number = try #require(Decimal(string: text))
        #expect(DecimalCoding.encode(number) == bytes)
        #expect(decode(bytes) == number)
    }

    @Test("give the number back, digit by digit, and equal numbers have equal bytes")
    func roundTrip() throws {
        var random = RandomSource()
        for _ in 0..<3000 {
            let number = Samples.decimal(using: &random)
            let bytes = DecimalCoding.encode(number)
            let again = try #require(decode(bytes), "\(number), seed \(random.seed)")
            #expect(again == number, "seed \(random.seed)")
            #expect("\(again)" == "\(number)", "seed \(random.seed)")
            #expect(DecimalCoding.encode(again) == bytes, "seed \(random.seed)")
            #expect(bytes.count <= DecimalCoding.longest)
        }
    }

    @Test("are the same for equal numbers, however they were made")
    func equality() throws {
        var random = RandomSource()
        for _ in 0..<1000 {
            let digits = Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
            let exponent = Int.random(in: -20...20, using: &random)
            let zeros = Int.random(in: 0...9, using: &random)
            let plain = try #require(Decimal(string: "\(digits)e\(exponent)"))
            let padded = "\(digits)" + String(repeating: "0", count: zeros) + "e\(exponent - zeros)"
            var sum = Decimal()
            for _ in 0..<8 { sum += plain / 8 }
            for other in [
                try #require(Decimal(string: padded)), sum, plain * 1000 / 1000, -(-plain),
            ] {
                #expect(other == plain, "seed \(random.seed)")
                #expect(
                    DecimalCoding.encode(other) == DecimalCoding.encode(plain),
                    "seed \(random.seed)")
            }
        }
    }

    @Test("hold the greatest and the least numbers")
    func limits() {
        for number in [
            Decimal.greatestFiniteMagnitude, -Decimal.greatestFiniteMagnitude,
            Decimal.leastNonzeroMagnitude, Decimal.leastNormalMagnitude,
        ] {
            #expect(decode(DecimalCoding.encode(number)) == number)
        }
    }

    @Test("are the same where digits are taken from text")
    func text() throws {
        var random = RandomSource()
        for _ in 0..<1000 {
            let number = Samples.decimal(using: &random)
            let bytes = DecimalCoding.encode(number)
            guard bytes.count > 1 else { continue }
            var coefficient: UInt128 = 0
            for byte in bytes[2...].reversed() { coefficient = coefficient << 8 | UInt128(byte) }
            // The significand may have trailing zeros that the bytes do not have.
            var digits = DecimalCoding.coefficientFromText(number)
            while digits != coefficient, digits.isMultiple(of: 10) { digits /= 10 }
            #expect(digits == coefficient, "\(number) seed \(random.seed)")
            let again = DecimalCoding.numberFromText(
                negative: bytes[0] == 2, exponent: Int(Int8(bitPattern: bytes[1])),
                coefficient: coefficient)
            #expect(again == number, "seed \(random.seed)")
        }
        #expect(DecimalCoding.coefficientFromText(.greatestFiniteMagnitude) == .max)
        #expect(DecimalCoding.coefficientFromText(-.greatestFiniteMagnitude) == .max)
    }

    @Test("are digits that arithmetic can go on with")
    func arithmetic() throws {
        let price = try #require(decode(DecimalCoding.encode(Decimal(string: "19.99")!)))
        #expect(price * 3 == Decimal(string: "59.97"))
        #expect(price - Decimal(string: "19.99")! == 0)
        #expect(-price < price)
        #expect("\(price)" == "19.99")
        #expect(price.hashValue == Decimal(string: "19.99")!.hashValue)
    }

    @Test(
        "are refused if they are not in the one form",
        arguments: [
            [], [0, 0], [1], [1, 0], [3, 0, 1], [1, 0, 0], [1, 0, 1, 0], [1, 0, 10], [2, 5, 100],
            [1, 0] + [UInt8](repeating: 1, count: 17),
        ] as [[UInt8]])
    func refused(bytes: [UInt8]) {
        #expect(decode(bytes) == nil)
    }

    @Test("random bytes are refused or are the form of what they give")
    func randomBytes() {
        var random = RandomSource()
        for _ in 0..<20_000 {
            let bytes = (0..<Int.random(in: 0...20, using: &random)).map { index in
                index == 0
                    ? UInt8.random(in: 0...3, using: &random)
                    : UInt8.random(in: 0...255, using: &random)
            }
            if let number = decode(bytes) {
                #expect(DecimalCoding.encode(number) == bytes, "\(bytes) seed \(random.seed)")
            }
        }
    }

    @Test("NaN is refused, with its place")
    func notANumber() throws {
        let entity = try Samples.entity([.init("exact", .decimal)])
        let column = try entity.column("exact", as: Decimal.self)
        let given = Given(1)
        let error = #expect(throws: StoreError.self) {
            try fill(
                BatchInsertRequest(entity: entity) { row in
                    row[column] = .nan
                    return given.isOver()
                }, entity)
        }
        #expect(error?.code.rawValue == 1650)
        #expect(error?.context.key == "exact")
    }

    @Test(
        "whole numbers are found",
        arguments: [
            ("5", 5), ("5.00", 5), ("1e3", 1000), ("-9223372036854775808", .min),
            ("9223372036854775807", .max), ("9223372036854775808", nil), ("0.5", nil),
            ("-9223372036854775809", nil), ("1e19", nil), ("1e40", nil), ("0", 0),
        ] as [(String, Int64?)])
    func integers(text: String, integer: Int64?) throws {
        #expect(DecimalCoding.integer(try #require(Decimal(string: text))) == integer)
    }
}
