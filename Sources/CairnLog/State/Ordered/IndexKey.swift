// The bytes of a key in an ordered index: comparing the bytes gives the order of the values.
//
//   nil        00
//   integers   80 + n for n bytes that follow, big-endian, without leading zeros; negative ones 7F − n and
//              the last n bytes of two's complement: small numbers are short. So are booleans and references.
//   doubles    80, then 8 bytes: the bits with the sign inverted, all inverted if negative; −0 as 0, NaN all
//              ones
//   floats     the same with 4 bytes
//   text       80, then its bytes, 00 as 01 01 and 01 as 01 02, then 00
//   UUIDs      80, then 16 bytes
//   decimals   negative 7E, zero 7F, positive 80; then the exponent, two digits a byte, and 00, all inverted if
//              negative
//
// The bytes of a descending part are inverted. Nil is indexed like any value, so that the index can execute
// `x == nil`; it comes first in ascending order, as in sorting. NaN is one value above all others, as in
// sorting, too; comparisons are never true for it, so ranges end before it.
//
// A key of 64 bytes or more is truncated there: the rest is compared in the rows.
//
// Invariants: no complete encoding is a prefix of another one.
// Threads: owned by one commit or one fetch.

import CairnFormat
import CairnModel
import CairnStore
import FoundationEssentials

/// A reusable buffer for the bytes of one key.
struct IndexKey: ~Copyable {
    /// The maximum length of a key; a key of this length is treated as truncated.
    static let longest = 64

    private let base: UnsafeMutableRawPointer
    private(set) var count = 0
    /// The start of the part being written.
    private var start = 0

    init() { base = .allocate(byteCount: Self.longest, alignment: 8) }

    deinit { base.deallocate() }

    /// The key's bytes; valid until the buffer is used again.
    var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: base, count: count) }

    /// Whether part of the key may be missing.
    var isCut: Bool { count == Self.longest }

    @inline(__always) mutating func clear() { count = 0 }

    /// Truncates the key to the first bytes.
    @inline(__always) mutating func cut(to length: Int) {
        count = length
        start = length
    }

    /// Becomes a copy of another key.
    @inline(__always) mutating func copy(_ other: borrowing IndexKey) {
        base.copyMemory(from: other.base, byteCount: other.count)
        cut(to: other.count)
    }

    /// Becomes the smallest key above all keys that begin with it; false, and empty, if there is none.
    @inline(__always) mutating func raise() -> Bool {
        count = Self.raise(UnsafeMutableRawBufferPointer(start: base, count: count))
        return count > 0
    }

    @inline(__always) private mutating func put(_ byte: UInt8) {
        if count < Self.longest {
            base.storeBytes(of: byte, toByteOffset: count, as: UInt8.self)
            count &+= 1
        }
    }

    /// Writes the last bytes of a number, big-endian.
    @inline(__always) private mutating func put(_ word: UInt64, bytes: Int) {
        if count &+ bytes <= Self.longest {
            var shift = bytes &* 8
            for index in 0..<bytes {
                shift &-= 8
                base.storeBytes(
                    of: UInt8(truncatingIfNeeded: word &>> UInt64(shift)),
                    toByteOffset: count &+ index, as: UInt8.self)
            }
            count &+= bytes
        } else {
            for index in (0..<bytes).reversed() {
                put(UInt8(truncatingIfNeeded: word &>> UInt64(index &* 8)))
            }
        }
    }

    /// Ends a part.
    @inline(__always) mutating func end(isAscending: Bool) {
        if !isAscending { turn(from: start) }
        start = count
    }

    /// Begins a part.
    @inline(__always) mutating func begin() { start = count }

    private mutating func turn(from: Int) {
        for offset in from..<count {
            base.storeBytes(
                of: ~base.load(fromByteOffset: offset, as: UInt8.self), toByteOffset: offset,
                as: UInt8.self)
        }
    }

    // MARK: Values

    @inline(__always) mutating func putNil() { put(0) }

    @inline(__always) mutating func put(integer value: Int64) {
        if value >= 0 {
            let length = (71 &- value.leadingZeroBitCount) &>> 3
            put(UInt8(truncatingIfNeeded: 0x80 &+ length))
            put(UInt64(bitPattern: value), bytes: length)
        } else {
            let length = (71 &- (~value).leadingZeroBitCount) &>> 3
            put(UInt8(truncatingIfNeeded: 0x7F &- length))
            put(UInt64(bitPattern: value), bytes: length)
        }
    }

    @inline(__always) mutating func put(double value: Double) {
        put(0x80)
        put(OrderedWord.of(value), bytes: 8)
    }

    @inline(__always) mutating func put(float value: Float) {
        put(0x80)
        put(UInt64(OrderedWord.of(value)), bytes: 4)
    }

    mutating func put(text: UnsafeRawBufferPointer) {
        put(prefix: text)
        put(0)
    }

    /// Writes a prefix of strings: like a string, without the terminator.
    mutating func put(prefix: UnsafeRawBufferPointer) {
        put(0x80)
        for byte in prefix {
            if byte > 1 {
                put(byte)
            } else {
                put(1)
                put(byte &+ 1)
            }
            if count == Self.longest { return }
        }
    }

    mutating func put(fixed16 bytes: UnsafeRawBufferPointer) {
        put(0x80)
        for byte in bytes { put(byte) }
    }

    /// Writes a decimal from its stored bytes; invalid bytes become nil.
    mutating func put(decimal stored: UnsafeRawBufferPointer) {
        guard let value = DecimalCoding.decode(stored) else { return putNil() }
        put(decimal: value)
    }

    mutating func put(decimal value: Decimal) {
        if value.isZero || value.isNaN { return put(0x7F) }
        let isNegative = value < 0
        let encoded = DecimalCoding.encode(value)
        var coefficient: UInt128 = 0
        for byte in encoded[2...].reversed() { coefficient = coefficient << 8 | UInt128(byte) }
        // The digits, the last one first.
        var digits: [UInt8] = []
        while coefficient > 0 {
            digits.append(UInt8(truncatingIfNeeded: coefficient % 10))
            coefficient /= 10
        }
        let exponent = Int(Int8(bitPattern: encoded[1])) + digits.count
        put(isNegative ? 0x7E : 0x80)
        let first = count
        put(UInt64(exponent + 0x8000), bytes: 2)
        while digits.first == 0 { digits.removeFirst() }
        digits.reverse()
        for index in stride(from: 0, to: digits.count, by: 2) {
            let low = index + 1 < digits.count ? digits[index + 1] : 0
            put(digits[index] * 10 + low + 1)
        }
        put(0)
        if isNegative { turn(from: first) }
    }

    // MARK: Bounds

    /// Changes bytes to the smallest ones above all that begin with them; returns their length, 0 if there
    /// are none.
    static func raise(_ bytes: UnsafeMutableRawBufferPointer) -> Int {
        var length = bytes.count
        while length > 0, bytes[length - 1] == 0xFF { length -= 1 }
        if length > 0 { bytes[length - 1] += 1 }
        return length
    }
}
