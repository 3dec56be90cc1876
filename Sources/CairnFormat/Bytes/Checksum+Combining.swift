// Checksums of concatenated bytes, without the bytes.                                  Format 10, F-102
//
// A CRC is a remainder of polynomials over two elements: appended bytes multiply the remainder of the bytes
// before them by a power of x. In the reversed bit order of CRC-32C, the highest bit is x to the 0.

extension Checksum {
    /// The generating polynomial, in reverse.
    private static let polynomial: UInt32 = 0x82F6_3B78
    /// x to the 8th: one appended byte.
    private static let byte: UInt32 = 1 << 23

    /// Returns the checksum of two concatenated parts from their checksums.
    ///
    /// - Complexity: O(log count).
    package static func combined(_ first: UInt32, _ second: UInt32, count: Int) -> UInt32 {
        product(first, power(count)) ^ second
    }

    /// Returns the factor for a checksum when `count` bytes are appended.
    private static func power(_ count: Int) -> UInt32 {
        precondition(count >= 0, "a part has no negative length")
        var result: UInt32 = 1 << 31
        var factor = byte
        var rest = count
        while rest > 0 {
            if rest & 1 != 0 { result = product(result, factor) }
            factor = product(factor, factor)
            rest >>= 1
        }
        return result
    }

    /// Returns the product of two remainders.
    private static func product(_ left: UInt32, _ right: UInt32) -> UInt32 {
        var (left, right, result) = (left, right, UInt32(0))
        while left != 0 {
            if left & 1 << 31 != 0 { result ^= right }
            left <<= 1
            right = right & 1 == 0 ? right >> 1 : right >> 1 ^ polynomial
        }
        return result
    }
}
