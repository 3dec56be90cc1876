import CairnModel
import CairnStore
import CairnTestSupport
import FoundationEssentials
import Testing

@testable import CairnPostgres

@Suite("Decimal cells")
struct DecimalCellTests {
    /// The bytes that a row has of a number that comes as the server sends it.
    private func carried(_ text: String) throws -> [UInt8]? {
        var buffer = FieldBuffer()
        try buffer.append(numeric: text)
        return buffer.bytes.dropFirst(4).withUnsafeBytes { cell in
            NumericForm.parts(cell).flatMap { number in
                var count: Int?
                let bytes = [UInt8](unsafeUninitializedCapacity: DecimalCoding.longest) {
                    count = DecimalCoding.encode(
                        negative: number.isNegative, exponent: number.exponent,
                        coefficient: number.coefficient, into: UnsafeMutableRawBufferPointer($0))
                    $1 = count ?? 0
                }
                return count == nil ? nil : bytes
            }
        }
    }

    @Test(
        "Numbers at the edges have the bytes that any row has of them",
        arguments: [
            "0", "0.000", "-0", "1", "-1", "10", "100000", "0.1", "0.10", "-0.0001", "12345.6789",
            "99999999999999999999999999999999999999", "-1e100", "1e-100", "1e127", "1e-128",
        ])
    func edges(_ text: String) throws {
        let number = try #require(Decimal(exactText: text))
        // What fills its first and last four digits may be too much: then the text is read.
        if let bytes = try carried(text) { #expect(bytes == DecimalCoding.encode(number)) }
    }

    @Test("Random numbers do")
    func random() throws {
        var random = RandomSource("decimal cells")
        for _ in 0..<2000 {
            let digits = (0..<Int.random(in: 1...34, using: &random)).map { _ in
                "\(Int.random(in: 0...9, using: &random))"
            }.joined()
            let text =
                "\(random.oneIn(2) ? "-" : "")\(digits)e\(Int.random(in: -40...40, using: &random))"
            let number = try #require(Decimal(exactText: text))
            #expect(try carried(text) == DecimalCoding.encode(number), "\(text)")
        }
    }

    @Test("What is no number has no parts", arguments: ["NaN", "Infinity", "1e60"])
    func none(_ text: String) throws {
        var buffer = FieldBuffer()
        try buffer.append(numeric: text)
        let number = buffer.bytes.dropFirst(4).withUnsafeBytes { NumericForm.parts($0) }
        // The zeros of a power of ten are not sent.
        #expect((number == nil) == (text != "1e60"))
    }
}
