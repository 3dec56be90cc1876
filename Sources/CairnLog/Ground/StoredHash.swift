// The hash of a key, half of which is stored in indexes.
//
// The seed is drawn once for a state and kept in its checkpoint, as index pages hold hashes. A hash never decides: two keys may
// share it, and in a large store some do. So that this is common in tests, a seed below 32 is no seed but how many
// bits are left of every hash (see `StoreSizes.hashBits`): whoever opens the checkpoint then leaves the same bits. Zero,
// which what is stored nowhere may use, leaves all.
//
// Tables in memory hash without a seed. What is left of their hashes is a mask, all bits but for such seeds: those by which
// places are found stay, or a table would be one long row, and few of those that are compared.

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

    /// The upper bits of the half that is stored, which are those that partitions and slots are told apart by.
    @inline(never)
    private static func few(_ hash: UInt64, bits: UInt64) -> UInt64 {
        hash & 0xFFFF_FFFF & ~0 << (32 &- bits)
    }

    /// What a table keeps of hashes whose upper bits find the place and whose lower half is compared.
    static func lowerMask(_ seed: UInt64) -> UInt64 {
        seed &- 1 < 31 ? ~0 << 32 | (1 << seed &- 1) : ~0
    }

    /// What a table keeps of hashes whose lower bits find the place and which are compared as a whole.
    static func wholeMask(_ seed: UInt64) -> UInt64 { seed &- 1 < 31 ? 1 << (seed &+ 6) &- 1 : ~0 }

    /// A seed for a new state.
    static func newSeed(bits: Int) -> UInt64 {
        bits < 32 ? UInt64(max(1, bits)) : .random(in: 32 ... .max)
    }
}
