// The contract and the format write a decimal number as the same bytes.

import CairnFormat
import CairnStore
import CairnTestSupport
import Foundation
import Testing

@Suite("Decimal numbers in the contract and in the format")
struct DecimalAgreementTests {
    private func check(_ number: Decimal) throws {
        let bytes = DecimalCoding.encode(number)
        let decoded = try bytes.withUnsafeBytes { bytes throws in
            try DecimalBytes(decoding: bytes)
        }
        var writer = ByteWriter()
        let isWritten = decoded.encode(to: &writer)
        #expect(isWritten)
        #expect(Array(writer.bytes) == bytes, "\(number)")
    }

    @Test("Both have one form for each value (F-550)")
    func agree() throws {
        var random = RandomSource()
        for text in [
            "0", "1", "-1", "0.1", "100", "12345678901234567890123456789012345678", "-1e-120",
        ] {
            try check(try #require(Decimal(string: text)))
        }
        for _ in 0..<500 {
            let digits = (0..<(1 + random.next() % 37)).map { _ in String(random.next() % 10) }
            let text =
                "\(random.oneIn(2) ? "-" : "")\(digits.joined())e\(Int(random.next() % 80) - 40)"
            try check(try #require(Decimal(string: text)))
        }
    }
}
