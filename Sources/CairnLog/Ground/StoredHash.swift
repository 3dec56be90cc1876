// The hash of a key, half of which is stored in indexes.
//
// The seed is drawn once for a state and kept in its checkpoint, as index pages contain hashes. A hash never
// decides: two keys may share it, and in a large store some do. To make this common in tests, a seed below 32
// is not a seed but the number of bits that are kept of every hash (see `StoreSizes.hashBits`): a process
// that opens the checkpoint then keeps the same bits. Zero, which may be used for hashes that are not stored,
// keeps all.
//
// Tables in memory hash without a seed. They mask their hashes, with all bits set except for such seeds: the
// mask then keeps the bits that find places, or a table would be one long row, and few of those that are
// compared.

import CCairn

/// Hashes of keys as unique and fetch indexes store them.
enum StoredHash {
    /// The hash of a key's bytes.
    @inline(__always)
    static func of(_ key: UnsafeRawBufferPointer, seed: UInt64) -> UInt64 {
        cut(cairn_hash64(key.baseAddress, key.count, seed), seed)
    }

    /// The hash of a key of one number.
    @inline(__always)
    static func of(word: UInt64, seed: UInt64) -> UInt64 {
        cut(cairn_hash64_words(word, 0, 8, seed), seed)
    }

    @inline(__always)
    private static func cut(_ hash: UInt64, _ seed: UInt64) -> UInt64 {
        seed &- 1 < 31 ? few(hash, bits: seed) : hash
    }

    /// The upper bits of the stored half, which distinguish partitions and slots.
    @inline(never)
    private static func few(_ hash: UInt64, bits: UInt64) -> UInt64 {
        hash & 0xFFFF_FFFF & ~0 << (32 &- bits)
    }

    /// Returns the mask for tables in which the upper bits of a hash find the place and the lower half is
    /// compared.
    static func lowerMask(_ seed: UInt64) -> UInt64 {
        seed &- 1 < 31 ? ~0 << 32 | (1 << seed &- 1) : ~0
    }

    /// Returns the mask for tables in which the lower bits of a hash find the place and the whole hash is
    /// compared.
    static func wholeMask(_ seed: UInt64) -> UInt64 { seed &- 1 < 31 ? 1 << (seed &+ 6) &- 1 : ~0 }

    /// A seed for a new state.
    static func newSeed(bits: Int) -> UInt64 {
        bits < 32 ? UInt64(max(1, bits)) : .random(in: 32 ... .max)
    }
}
