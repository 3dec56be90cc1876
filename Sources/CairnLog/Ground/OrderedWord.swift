// Unsigned words with the same order as the values they represent, so that comparing two values takes one instruction.
//
// Numbers are converted to words and back. The sign bit of doubles and floats is flipped, and all bits of
// negative ones; both zeros are equal, and NaN is above everything. Of bytes, eight are used: values with the
// same word may still differ.

/// Converts values to words with the same order.
enum OrderedWord {
    @inline(__always)
    static func of(_ value: Int64) -> UInt64 { UInt64(bitPattern: value) ^ (1 << 63) }

    @inline(__always)
    static func of(_ value: Double) -> UInt64 {
        if value.isNaN { return .max }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 63 == 0 ? bits | 1 << 63 : ~bits
    }

    @inline(__always)
    static func of(_ value: Float) -> UInt32 {
        if value.isNaN { return .max }
        let bits = (value == 0 ? 0 : value).bitPattern
        return bits >> 31 == 0 ? bits | 1 << 31 : ~bits
    }

    /// Returns the word of the 8 bytes after a prefix of the given length; missing bytes count as zeros.
    @inline(__always)
    static func of(_ bytes: UnsafeRawBufferPointer, behind prefix: Int = 0) -> UInt64 {
        let count = bytes.count &- prefix
        if count >= 8 {
            return UInt64(bigEndian: bytes.loadUnaligned(fromByteOffset: prefix, as: UInt64.self))
        }
        var word: UInt64 = 0
        for place in 0..<count {
            word |= UInt64(bytes[prefix &+ place]) &<< UInt64(56 &- 8 &* place)
        }
        return word
    }

    // MARK: Back

    static func integer(_ word: UInt64) -> Int64 { Int64(bitPattern: word ^ (1 << 63)) }

    static func double(_ word: UInt64) -> Double {
        if word == .max { return .nan }
        return Double(bitPattern: word >> 63 == 0 ? ~word : word & ~(1 << 63))
    }

    static func float(_ word: UInt32) -> Float {
        if word == .max { return .nan }
        return Float(bitPattern: word >> 31 == 0 ? ~word : word & ~(1 << 31))
    }
}
