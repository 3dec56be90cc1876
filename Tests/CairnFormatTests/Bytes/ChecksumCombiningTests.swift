// Checksums of parts put together.

import CairnTestSupport
import Testing

@testable import CairnFormat

@Suite("Checksums put together")
struct ChecksumCombiningTests {
    @Test("The checksum of two parts is that of all of it, wherever it is cut")
    func combined() {
        var random = RandomSource()
        for count in [0, 1, 2, 7, 8, 63, 64, 1000, 70_000] {
            let bytes = (0..<count).map { _ in UInt8.random(in: 0...255, using: &random) }
            let whole = bytes.withUnsafeBytes { Checksum.crc32c($0) }
            for cut in Set([0, 1, count / 3, count / 2, count - 1, count]) where 0...count ~= cut {
                let first = bytes[..<cut].withUnsafeBytes { Checksum.crc32c($0) }
                let second = bytes[cut...].withUnsafeBytes { Checksum.crc32c($0) }
                #expect(
                    Checksum.combined(first, second, count: count - cut) == whole,
                    "\(count) bytes cut at \(cut), seed \(random.seed)")
            }
        }
    }
}
