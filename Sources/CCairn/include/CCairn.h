// What the engine needs and Swift cannot say: a checksum instruction, a prefetch, a barrier for
// benchmarks, 128-bit products without calls, and the variadic system calls.
//
// Byte order: words are loaded as the machine stores them. All of it is meant for little-endian
// machines, the only ones Swift runs on; hashes and checksums do not depend on alignment.
#ifndef CCAIRN_H
#define CCAIRN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "Cairn's formats and hashes are little-endian"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// MARK: Checksum

/// CRC-32C (Castagnoli, reflected). Start with 0; pass a result on to continue it over the next bytes:
/// `crc(crc(0, a), b)` is the checksum of a and b together. `data` may be null where `length` is 0.
uint32_t cairn_crc32c(uint32_t crc, const void *_Nullable data, size_t length);

/// The same by tables, for machines without the instruction; visible so that tests reach it everywhere.
uint32_t cairn_crc32c_portable(uint32_t crc, const void *_Nullable data, size_t length);

// MARK: Hash

/// A key of at most 16 bytes in two words, padded with zero bytes.
typedef struct {
    uint64_t low;
    uint64_t high;
} cairn_words;

// Fractional parts of the square roots of 2, 3, 5, 7: numbers nobody chose.
#define CAIRN_HASH_A 0x6a09e667f3bcc909ULL
#define CAIRN_HASH_B 0xbb67ae8584caa73bULL
#define CAIRN_HASH_C 0x3c6ef372fe94f82bULL
#define CAIRN_HASH_D 0xa54ff53a5f1d36f1ULL

static inline uint64_t cairn_load64(const void *_Nonnull at) {
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word;
}

/// The 128-bit product of both, its halves folded into one word.
static inline uint64_t cairn_fold(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return (uint64_t)product ^ (uint64_t)(product >> 64);
}

/// The last mixing: one product keeps its factors (so that no zero factor can erase the other), one spreads.
static inline uint64_t cairn_hash_finish(uint64_t a, uint64_t b) {
    __uint128_t product = (__uint128_t)a * b;
    return cairn_fold(a ^ (uint64_t)product ^ CAIRN_HASH_B, b ^ (uint64_t)(product >> 64) ^ CAIRN_HASH_D);
}

/// Bytes 0 ..< `length` (at most 8) as one word with zero bytes above. No byte past the key is read, and
/// every load lies inside the one 8-byte word, so that a key just spilled by a store is forwarded.
static inline uint64_t cairn_load_partial(const uint8_t *_Nonnull at, size_t length) {
    if (length >= 8) return cairn_load64(at);
    if (length >= 4) {
        uint32_t first, last;
        memcpy(&first, at, 4);
        memcpy(&last, at + length - 4, 4);
        return (uint64_t)first | (uint64_t)last << (8 * (length - 4));
    }
    if (length == 0) return 0;
    // 1, 2 or 3 bytes: first, middle, last; those that coincide are equal.
    return (uint64_t)at[0] | (uint64_t)at[length >> 1] << (8 * (length >> 1))
        | (uint64_t)at[length - 1] << (8 * (length - 1));
}

/// The words of a key of at most 16 bytes: load once, then hash and compare from registers.
static inline cairn_words cairn_load_words(const void *_Nullable key, size_t length) {
    const uint8_t *bytes = (const uint8_t *)key;
    cairn_words words = {0, 0};
    if (length == 0) return words;
    if (length <= 8) {
        words.low = cairn_load_partial(bytes, length);
    } else {
        words.low = cairn_load64(bytes);
        words.high = cairn_load_partial(bytes + 8, length - 8);
    }
    return words;
}

/// `cairn_hash64` of a key of at most 16 bytes whose words are at hand: numbers, UUIDs, short strings.
/// An 8-byte integer is `cairn_hash64_words(value, 0, 8, seed)`.
static inline uint64_t cairn_hash64_words(uint64_t low, uint64_t high, size_t length, uint64_t seed) {
    // Both depend on the seed alone, so a compiler moves them out of a loop over keys.
    uint64_t first = cairn_fold(seed ^ CAIRN_HASH_A, CAIRN_HASH_B);
    uint64_t second = cairn_fold(seed ^ CAIRN_HASH_C, CAIRN_HASH_D);
    return cairn_hash_finish(low ^ second, high ^ first ^ (uint64_t)length);
}

/// Two numbers of 64 bits: the same as `cairn_hash64` of their 16 bytes in a row.
static inline uint64_t cairn_hash64_pair(uint64_t a, uint64_t b, uint64_t seed) {
    return cairn_hash64_words(a, b, 16, seed);
}

/// Keys over 16 bytes; call `cairn_hash64`.
uint64_t cairn_hash64_long(const void *_Nonnull key, size_t length, uint64_t seed);

/// A 64-bit hash whose halves are both good. The same key and seed give the same hash whatever the
/// alignment and the process; not for files that go to a machine of other byte order.
static inline uint64_t cairn_hash64(const void *_Nullable key, size_t length, uint64_t seed) {
    if (length > 16) return cairn_hash64_long(key, length, seed);
    cairn_words words = cairn_load_words(key, length);
    return cairn_hash64_words(words.low, words.high, length, seed);
}

// MARK: Processor

/// The order of two runs of bytes: negative, zero or positive, as memcmp tells it.
static inline int cairn_compare(const void *_Nonnull a, const void *_Nonnull b, size_t length) {
    return memcmp(a, b, length);
}

/// Whether two runs of bytes are equal. Most are short: those are compared where this is called.
static inline int cairn_equal(const void *_Nonnull a, const void *_Nonnull b, size_t length) {
    if (length < 8 || length > 64) return memcmp(a, b, length) == 0;
    const char *left = a, *right = b;
    for (size_t at = 0; at + 8 < length; at += 8)
        if (cairn_load64(left + at) != cairn_load64(right + at)) return 0;
    return cairn_load64(left + length - 8) == cairn_load64(right + length - 8);
}

/// Where bytes are first found in others; -1 if they are not. Nothing is found at the beginning.
intptr_t cairn_find(
    const void *_Nullable text, size_t length, const void *_Nullable part, size_t part_length);

/// Asks for the cache line at `address`; any address is allowed.
static inline void cairn_prefetch(const void *_Nullable address) { __builtin_prefetch(address); }

/// Keeps a benchmark's result alive: the optimiser must assume that what is there is read and changed.
static inline void cairn_consume(const void *_Nullable address) {
    __asm__ volatile("" : : "r"(address) : "memory");
}

// MARK: System calls that are variadic or differ by platform
// Each gives 0 or an error number, and leaves EINTR to the caller.

/// Sets (type 1 shared, 2 exclusive) or drops (0) the lock of one byte, for this open file and not
/// for the process: closing another descriptor of the file does not drop it. Never waits: EAGAIN or
/// EACCES where another holds it.
int cairn_ofd_lock(int descriptor, int64_t byte, int type);

/// The same for an exclusive lock, for which it waits.
int cairn_ofd_lock_waiting(int descriptor, int64_t byte);

/// Drops the locks of all bytes.
int cairn_ofd_unlock_all(int descriptor);

/// Who would be in the way of an exclusive lock of the byte: 0 in `holder` for nobody, a process id,
/// or -1 where an open file holds it and the system names no process.
int cairn_ofd_test(int descriptor, int64_t byte, int32_t *_Nonnull holder);

/// Data and what is needed to read it back (the size) on the medium, not only in the drive's cache.
int cairn_sync_data(int descriptor);

/// Has the system begin to write a part to the medium, where it can be told to, and does not wait for it. It says nothing of
/// whether that succeeds: a sync does.
void cairn_begin_writing(int descriptor, int64_t offset, int64_t count);

// MARK: Disks

/// The number that the kernel has for the kind of disk that a path leads to, of which kinds linux/magic.h names most. ENOTSUP on
/// other systems.
int cairn_disk_kind(const char *_Nonnull path, uint32_t *_Nonnull kind);

// MARK: Cores

/// How many cores the process may use: not those that it was forbidden, by `taskset` or the set of a container. At least 1.
int cairn_usable_cores(void);

// MARK: Objects that are going

/// One of the Swift runtime's entry points; it has no declaration of its own.
extern void *_Nullable swift_tryRetain(void *_Nonnull object);

/// Retains an object unless it is being destroyed; null then. Its memory must not have been given back yet.
static inline void *_Nullable cairn_try_retain(void *_Nonnull object) {
    return swift_tryRetain(object);
}

// MARK: Handing over

/// What this thread hands to the next callee that asks for it.
extern __thread const void *_Nullable cairn_handed;

static inline void cairn_hand_over(const void *_Nullable thing) { cairn_handed = thing; }

static inline const void *_Nullable cairn_handed_over(void) { return cairn_handed; }

#ifdef __cplusplus
}
#endif

#endif
