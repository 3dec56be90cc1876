// Checksums of bytes put together, without the bytes.                                  Format 10, F-102
//
// A CRC is a remainder of polynomials over two elements: bytes behind others multiply the remainder of these by a power
// of x. With the bits of a checksum in reverse, as CRC-32C has them, the highest bit is x to the 0.

extension Checksum {
    /// The generating polynomial, in reverse.
    private static let polynomial: UInt32 = 0x82F6_3B78
    /// x to the 8th, that is: a byte behind.
    private static let byte: UInt32 = 1 << 23

    /// The checksum of bytes put together of two parts, of each of which it is known.
    ///
    /// - Complexity: O(log count).
    package static func combined(_ first: UInt32, _ second: UInt32, count: Int) -> UInt32 {
        product(first, power(count)) ^ second
    }

    /// What a checksum is multiplied by when so many bytes come behind it.
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

    /// The product of two remainders.
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
