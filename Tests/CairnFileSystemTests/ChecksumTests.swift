import CCairn
import CairnTestSupport
import Testing

@Suite("The CRC-32C checksum")
struct ChecksumTests {
    /// One bit at a time, straight from the polynomial: the definition that the fast forms must meet.
    static func bitwise(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        var crc: UInt32 = ~0
        for byte in bytes {
            crc ^= UInt32(byte)
            for _ in 0..<8 { crc = crc & 1 == 1 ? crc >> 1 ^ 0x82f6_3b78 : crc >> 1 }
        }
        return ~crc
    }

    typealias Function = @Sendable (UInt32, UnsafeRawPointer?, Int) -> UInt32
    struct Form: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let function: Function
    }
    static let forms = [
        Form(testDescription: "chosen at run time") { cairn_crc32c($0, $1, $2) },
        Form(testDescription: "by tables") { cairn_crc32c_portable($0, $1, $2) },
    ]

    @Test("the check value of the standard", arguments: forms)
    func checkValue(_ form: Form) {
        #expect(form.function(0, Array("123456789".utf8), 9) == 0xe306_9283)
    }

    /// RFC 3720, B.4, as numbers (the RFC prints the bytes, lowest first).
    static let examples: [([UInt8], UInt32)] = [
        ([UInt8](repeating: 0, count: 32), 0x8a91_36aa),
        ([UInt8](repeating: 0xff, count: 32), 0x62a8_ab43),
        ([UInt8](0..<32), 0x46dd_794e),
        ([UInt8]((0..<32).reversed()), 0x113f_db5c),
        (
            [0x01, 0xc0, 0, 0] + [UInt8](repeating: 0, count: 12)
                + [0x14, 0, 0, 0, 0, 0, 4, 0, 0, 0, 0, 0x14, 0, 0, 0, 0x18, 0x28]
                + [UInt8](repeating: 0, count: 7) + [2] + [UInt8](repeating: 0, count: 7),
            0xd996_3a56
        ),
    ]

    @Test("the examples of RFC 3720", arguments: forms)
    func rfcExamples(_ form: Form) {
        for (bytes, expected) in Self.examples {
            #expect(form.function(0, bytes, bytes.count) == expected, "\(bytes)")
        }
    }

    @Test("nothing at all is 0 and changes nothing", arguments: forms)
    func nothing(_ form: Form) {
        #expect(form.function(0, nil, 0) == 0)
        #expect(form.function(0x1234_5678, nil, 0) == 0x1234_5678)
    }

    @Test("every length up to 1024, at every alignment, as the definition says", arguments: forms)
    func everyLength(_ form: Form) {
        var random = RandomSource()
        let bytes = random.bytes(1024 + 8)
        for length in 0...1024 {
            let start = length % 8
            let expected = Self.bitwise(bytes[start..<start + length])
            let found = bytes.withUnsafeBytes { form.function(0, $0.baseAddress! + start, length) }
            #expect(found == expected, "length \(length) from \(start)")
        }
    }

    @Test("lengths of several lanes and some more, as the definition says", arguments: forms)
    func lanes(_ form: Form) {
        var random = RandomSource()
        let bytes = random.bytes(3 * 1536 + 64)
        for lanes in [1, 2, 3] {
            for more in [-9, -8, -1, 0, 1, 7, 8, 9, 40] {
                let (start, length) = (lanes, lanes * 1536 + more)
                let expected = Self.bitwise(bytes[start..<start + length])
                let found = bytes.withUnsafeBytes {
                    form.function(0, $0.baseAddress! + start, length)
                }
                #expect(found == expected, "length \(length) from \(start)")
            }
        }
    }

    @Test("cutting the bytes anywhere and going on gives the same", arguments: forms)
    func chaining(_ form: Form) {
        var random = RandomSource()
        let bytes = random.bytes(257)
        let whole = form.function(0, bytes, bytes.count)
        for cut in 0...bytes.count {
            bytes.withUnsafeBytes { bytes in
                let first = form.function(0, bytes.baseAddress, cut)
                let both = form.function(first, bytes.baseAddress! + cut, bytes.count - cut)
                #expect(both == whole, "cut at \(cut)")
            }
        }
    }

    @Test("one flipped bit is always seen")
    func flippedBit() {
        var bytes = [UInt8](repeating: 0x5a, count: 64)
        let whole = cairn_crc32c(0, bytes, bytes.count)
        for bit in 0..<512 {
            bytes[bit / 8] ^= 1 << (bit % 8)
            #expect(cairn_crc32c(0, bytes, bytes.count) != whole, "bit \(bit)")
            bytes[bit / 8] ^= 1 << (bit % 8)
        }
    }
}
