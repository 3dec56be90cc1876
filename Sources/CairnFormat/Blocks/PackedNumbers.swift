// Numbers packed with as many bits as they require: each is readable without the ones before.    Format 50.13
//
//   number i = base + i × step + (its bits << shift)
//
// The creator checks lengths and places; arithmetic wraps, so that any bits decode to a number.
//
// Invariants: eight bytes can be loaded wherever a number begins, and nine if it has more than 57 bits: zeros
// follow the last number.
// Threads: a view: good as long as the memory.

/// Packed numbers in memory.
@usableFromInline
struct PackedNumbers: BitwiseCopyable {
    @usableFromInline let words: UnsafeRawPointer
    @usableFromInline let base: Int64
    @usableFromInline let step: Int64
    @usableFromInline let mask: UInt64
    @usableFromInline let width: UInt8
    @usableFromInline let shift: UInt8

    /// The size of the zeros after the last number, in bytes.
    @usableFromInline static let slack = 8

    @inlinable
    init(
        _ words: UnsafeRawPointer, width: Int, base: Int64 = 0, step: Int64 = 0, shift: UInt8 = 0
    ) {
        self.words = words
        self.base = base
        self.step = step
        self.width = UInt8(truncatingIfNeeded: width)
        self.shift = shift
        mask = Self.mask(width)
    }

    /// Returns a mask of `width` ones.
    @inlinable
    static func mask(_ width: Int) -> UInt64 {
        width == 0 ? 0 : .max &>> UInt64(truncatingIfNeeded: 64 &- width)
    }

    /// Returns the bits that a number requires.
    @inlinable
    static func width(of number: UInt64) -> Int { 64 - number.leadingZeroBitCount }

    /// Returns the bytes that `count` numbers require, with the zeros after them.
    @inlinable
    static func size(_ count: Int, width: Int) -> Int { (count * width + 7) / 8 + slack }

    /// Returns the bits of a number.
    @inlinable @inline(__always)
    func bits(_ index: Int) -> UInt64 {
        let bit = index &* Int(width)
        let start = words + bit &>> 3
        let low = UInt64(littleEndian: start.loadUnaligned(as: UInt64.self)) &>> UInt64(bit & 7)
        if width <= 57 { return low & mask }
        // The ninth byte; it contributes nothing to a number that begins at a byte boundary.
        let high = UInt64(start.load(fromByteOffset: 8, as: UInt8.self))
        return (low | (high &<< 1) &<< UInt64(63 &- (bit & 7))) & mask
    }

    /// The number at an index.
    @inlinable @inline(__always)
    subscript(index: Int) -> Int64 {
        base &+ Int64(truncatingIfNeeded: index) &* step
            &+ Int64(truncatingIfNeeded: bits(index) &<< UInt64(shift))
    }

    /// Returns the address of the byte where a number begins.
    @inlinable @inline(__always)
    func address(_ index: Int) -> UnsafeRawPointer { words + (index &* Int(width)) &>> 3 }

    /// Packs numbers in sequence, and appends zeros.
    ///
    /// - Parameters:
    ///   - target: has room for `size(count, width:)` bytes.
    ///   - number: returns each number, which has at most `width` bits.
    @inline(__always)
    static func pack(
        _ count: Int, width: Int, into target: UnsafeMutableRawPointer,
        _ number: (Int) -> UInt64
    ) {
        var (word, filled, end) = (UInt64(0), 0, target)
        if width > 0 {
            for index in 0..<count {
                let next = number(index)
                word |= next &<< UInt64(filled)
                filled &+= width
                guard filled >= 64 else { continue }
                end.storeBytes(of: word.littleEndian, as: UInt64.self)
                end += 8
                filled &-= 64
                word = filled == 0 ? 0 : next &>> UInt64(width &- filled)
            }
        }
        end.storeBytes(of: word.littleEndian, as: UInt64.self)
        let rest = target + size(count, width: width) - (end + 8)
        (end + 8).initializeMemory(as: UInt8.self, repeating: 0, count: rest)
    }

    /// Unpacks the bits of the first numbers into whole integers.
    @inline(__always)
    func unpack<T: FixedWidthInteger & UnsignedInteger>(
        _ count: Int, into target: UnsafeMutableRawPointer, as type: T.Type
    ) {
        if Int(width) == T.bitWidth {
            target.copyMemory(from: words, byteCount: count * MemoryLayout<T>.size)
            return
        }
        for index in 0..<count {
            target.storeBytes(
                of: T(truncatingIfNeeded: bits(index)),
                toByteOffset: index &* MemoryLayout<T>.size, as: T.self)
        }
    }
}
