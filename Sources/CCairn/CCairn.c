// Searching bytes, CRC-32C, the hash of long keys, locks by open file, and what a disk is.
//
// Thread rule: everything here may be called from any thread; the tables are filled before main.

#define _GNU_SOURCE
#include "CCairn.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#if defined(__linux__)
#include <sys/vfs.h>
#endif

// MARK: Searching

intptr_t cairn_find(const void *text, size_t length, const void *part, size_t part_length) {
    if (part_length == 0) return 0;
    if (length < part_length) return -1;
    // The C library's search takes a step of many bytes; a loop around memchr stops at every common letter.
    const void *found = memmem(text, length, part, part_length);
    return found ? (const uint8_t *)found - (const uint8_t *)text : -1;
}

// MARK: CRC-32C

// The reflected Castagnoli polynomial.
#define POLYNOMIAL 0x82f63b78u

// tables[0] takes a byte through the register; tables[k] does so with k zero bytes after it.
static uint32_t tables[8][256];

// An instruction gives its result after three cycles and can begin in each: so long inputs go through three registers, a
// lane of so many bytes each.
#define LANE 512

// after_lane[k] takes byte k of a register through a lane of zero bytes.
static uint32_t after_lane[4][256];

__attribute__((constructor)) static void fill_tables(void) {
    for (uint32_t byte = 0; byte < 256; byte++) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; bit++) crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1u)));
        tables[0][byte] = crc;
    }
    for (int k = 1; k < 8; k++) {
        for (uint32_t byte = 0; byte < 256; byte++) {
            uint32_t crc = tables[k - 1][byte];
            tables[k][byte] = (crc >> 8) ^ tables[0][crc & 255u];
        }
    }
    // What a lane makes of a register is the sum of what it makes of its bits.
    for (int bit = 0; bit < 32; bit++) {
        uint32_t crc = 1u << bit;
        for (int count = 0; count < LANE; count++) crc = (crc >> 8) ^ tables[0][crc & 255u];
        uint32_t *table = after_lane[bit >> 3];
        uint32_t first = 1u << (bit & 7);
        for (uint32_t byte = 0; byte < first; byte++) table[first + byte] = table[byte] ^ crc;
    }
}

#if defined(__x86_64__) || defined(__aarch64__)
static inline uint32_t pass_lane(uint32_t crc) {
    return after_lane[0][crc & 255] ^ after_lane[1][(crc >> 8) & 255] ^ after_lane[2][(crc >> 16) & 255]
        ^ after_lane[3][crc >> 24];
}

// Three lanes at a time look random to the processor, which then does not read ahead: this asks for what the next three
// lanes need, in the order of memory. After the last ones that may be other memory, or none.
static inline void prefetch_next(const uint8_t *bytes, int at) {
    uintptr_t next = (uintptr_t)bytes + 3 * LANE + 3 * (uintptr_t)at;
    __builtin_prefetch((const void *)next);
    __builtin_prefetch((const void *)(next + 64));
    __builtin_prefetch((const void *)(next + 128));
}
#endif

uint32_t cairn_crc32c_portable(uint32_t crc, const void *data, size_t length) {
    const uint8_t *bytes = data;
    crc = ~crc;
    for (; length >= 8; length -= 8, bytes += 8) {
        uint64_t word = cairn_load64(bytes) ^ crc;
        crc = tables[7][word & 255] ^ tables[6][(word >> 8) & 255] ^ tables[5][(word >> 16) & 255]
            ^ tables[4][(word >> 24) & 255] ^ tables[3][(word >> 32) & 255] ^ tables[2][(word >> 40) & 255]
            ^ tables[1][(word >> 48) & 255] ^ tables[0][word >> 56];
    }
    for (; length > 0; length--, bytes++) crc = (crc >> 8) ^ tables[0][(crc ^ *bytes) & 255u];
    return ~crc;
}

#if defined(__x86_64__)

#define HAS_INSTRUCTION __builtin_cpu_supports("sse4.2")

__attribute__((target("sse4.2"))) static uint32_t crc32c_by_instruction(uint32_t crc, const void *data, size_t length) {
    const uint8_t *bytes = data;
    uint64_t wide = (uint32_t)~crc;
    for (; length >= 3 * LANE; length -= 3 * LANE, bytes += 3 * LANE) {
        uint64_t second = 0, third = 0;
        for (int line = 0; line < LANE; line += 64) {
            prefetch_next(bytes, line);
            for (int at = line; at < line + 64; at += 8) {
                wide = __builtin_ia32_crc32di(wide, cairn_load64(bytes + at));
                second = __builtin_ia32_crc32di(second, cairn_load64(bytes + LANE + at));
                third = __builtin_ia32_crc32di(third, cairn_load64(bytes + 2 * LANE + at));
            }
        }
        wide = pass_lane(pass_lane((uint32_t)wide) ^ (uint32_t)second) ^ (uint32_t)third;
    }
    for (; length >= 8; length -= 8, bytes += 8) wide = __builtin_ia32_crc32di(wide, cairn_load64(bytes));
    uint32_t narrow = (uint32_t)wide;
    for (; length > 0; length--, bytes++) narrow = __builtin_ia32_crc32qi(narrow, *bytes);
    return ~narrow;
}

#elif defined(__aarch64__)

#if defined(__ARM_FEATURE_CRC32)
// Compiled in for every machine of the platform (Apple's).
#define HAS_INSTRUCTION 1
#define CRC_TARGET
#elif defined(__linux__)
#include <sys/auxv.h>
// HWCAP_CRC32, bit 7 by the kernel's interface for arm64.
#define HAS_INSTRUCTION (getauxval(AT_HWCAP) & (1ul << 7))
#define CRC_TARGET __attribute__((target("crc")))
#endif

#ifdef HAS_INSTRUCTION
CRC_TARGET static uint32_t crc32c_by_instruction(uint32_t crc, const void *data, size_t length) {
    const uint8_t *bytes = data;
    crc = ~crc;
    for (; length >= 3 * LANE; length -= 3 * LANE, bytes += 3 * LANE) {
        uint32_t second = 0, third = 0;
        for (int line = 0; line < LANE; line += 64) {
            prefetch_next(bytes, line);
            for (int at = line; at < line + 64; at += 8) {
                crc = __builtin_arm_crc32cd(crc, cairn_load64(bytes + at));
                second = __builtin_arm_crc32cd(second, cairn_load64(bytes + LANE + at));
                third = __builtin_arm_crc32cd(third, cairn_load64(bytes + 2 * LANE + at));
            }
        }
        crc = pass_lane(pass_lane(crc) ^ second) ^ third;
    }
    for (; length >= 8; length -= 8, bytes += 8) crc = __builtin_arm_crc32cd(crc, cairn_load64(bytes));
    for (; length > 0; length--, bytes++) crc = __builtin_arm_crc32cb(crc, *bytes);
    return ~crc;
}
#endif

#endif

uint32_t cairn_crc32c(uint32_t crc, const void *data, size_t length) {
#ifdef HAS_INSTRUCTION
    if (HAS_INSTRUCTION) return crc32c_by_instruction(crc, data, length);
#endif
    return cairn_crc32c_portable(crc, data, length);
}

// MARK: Hash

// Three lanes of 16 bytes while more than 48 are left, then 16 at a time, then the last 16 bytes of the
// key, which may overlap what was read before. Every factor holds a word that depends on the seed, so
// that no key of an adversary can make a factor zero without knowing the seed.
uint64_t cairn_hash64_long(const void *key, size_t length, uint64_t seed) {
    const uint8_t *bytes = key;
    size_t left = length;
    uint64_t state = cairn_fold(seed ^ CAIRN_HASH_A, CAIRN_HASH_B) ^ (uint64_t)length;
    const uint64_t secret = cairn_fold(seed ^ CAIRN_HASH_C, CAIRN_HASH_D);
    if (left > 48) {
        uint64_t second = state ^ CAIRN_HASH_C, third = state ^ CAIRN_HASH_D;
        do {
            state = cairn_fold(cairn_load64(bytes) ^ secret, cairn_load64(bytes + 8) ^ state);
            second = cairn_fold(cairn_load64(bytes + 16) ^ secret ^ CAIRN_HASH_A, cairn_load64(bytes + 24) ^ second);
            third = cairn_fold(cairn_load64(bytes + 32) ^ secret ^ CAIRN_HASH_B, cairn_load64(bytes + 40) ^ third);
            bytes += 48;
            left -= 48;
        } while (left > 48);
        state ^= second ^ third;
    }
    for (; left > 16; left -= 16, bytes += 16)
        state = cairn_fold(cairn_load64(bytes) ^ secret, cairn_load64(bytes + 8) ^ state);
    return cairn_hash_finish(cairn_load64(bytes + left - 16) ^ secret, cairn_load64(bytes + left - 8) ^ state);
}

// MARK: Locks by open file

// The kernel's numbers, for C libraries whose headers hide them.
#if defined(__linux__)
#ifndef F_OFD_GETLK
#define F_OFD_GETLK 36
#define F_OFD_SETLK 37
#define F_OFD_SETLKW 38
#endif
#elif defined(__APPLE__)
#ifndef F_OFD_SETLK
#define F_OFD_SETLK 90
#define F_OFD_SETLKW 91
#define F_OFD_GETLK 92
#endif
#endif

#ifdef F_OFD_SETLK

static struct flock one_byte(int64_t byte, int type) {
    struct flock lock;
    memset(&lock, 0, sizeof lock);  // l_pid must be 0 for these commands
    lock.l_type = (short)(type == 2 ? F_WRLCK : type == 1 ? F_RDLCK : F_UNLCK);
    lock.l_whence = SEEK_SET;
    lock.l_start = (off_t)byte;
    lock.l_len = 1;
    return lock;
}

int cairn_ofd_lock(int descriptor, int64_t byte, int type) {
    struct flock lock = one_byte(byte, type);
    return fcntl(descriptor, F_OFD_SETLK, &lock) == -1 ? errno : 0;
}

int cairn_ofd_lock_waiting(int descriptor, int64_t byte) {
    struct flock lock = one_byte(byte, 2);
    return fcntl(descriptor, F_OFD_SETLKW, &lock) == -1 ? errno : 0;
}

int cairn_ofd_unlock_all(int descriptor) {
    struct flock lock = one_byte(0, 0);
    lock.l_len = 0;
    return fcntl(descriptor, F_OFD_SETLK, &lock) == -1 ? errno : 0;
}

int cairn_ofd_test(int descriptor, int64_t byte, int32_t *holder) {
    struct flock lock = one_byte(byte, 2);
    *holder = 0;
    if (fcntl(descriptor, F_OFD_GETLK, &lock) == -1) return errno;
    if (lock.l_type != F_UNLCK) *holder = (int32_t)lock.l_pid;
    return 0;
}

#else

// No lock at all is worse than no store: a second writer would not be noticed.
int cairn_ofd_lock(int descriptor, int64_t byte, int type) {
    (void)descriptor, (void)byte, (void)type;
    return ENOTSUP;
}

int cairn_ofd_lock_waiting(int descriptor, int64_t byte) {
    (void)descriptor, (void)byte;
    return ENOTSUP;
}

int cairn_ofd_unlock_all(int descriptor) {
    (void)descriptor;
    return 0;
}

int cairn_ofd_test(int descriptor, int64_t byte, int32_t *holder) {
    (void)descriptor, (void)byte;
    *holder = 0;
    return ENOTSUP;
}

#endif

// MARK: Sync

int cairn_sync_data(int descriptor) {
#if defined(__APPLE__)
    // fsync leaves data in the drive's cache there; network volumes know only fsync.
    if (fcntl(descriptor, F_FULLFSYNC) == 0) return 0;
    if (errno != ENOTSUP && errno != EINVAL) return errno;
    return fsync(descriptor) == -1 ? errno : 0;
#else
    return fdatasync(descriptor) == -1 ? errno : 0;
#endif
}

void cairn_begin_writing(int descriptor, int64_t offset, int64_t count) {
#if defined(__linux__) && defined(SYNC_FILE_RANGE_WRITE)
    (void)sync_file_range(descriptor, offset, count, SYNC_FILE_RANGE_WRITE);
#else
    (void)descriptor, (void)offset, (void)count;
#endif
}

__thread const void *cairn_handed = 0;

// MARK: Disks

int cairn_disk_kind(const char *path, uint32_t *kind) {
#if defined(__linux__)
    struct statfs status;
    if (statfs(path, &status) == -1) return errno;
    *kind = (uint32_t)status.f_type;
    return 0;
#else
    (void)path, (void)kind;
    return ENOTSUP;
#endif
}

// MARK: Cores

int cairn_usable_cores(void) {
#ifdef CPU_COUNT
    cpu_set_t cores;
    // It fails where there are more cores than the set has room for.
    if (sched_getaffinity(getpid(), sizeof cores, &cores) == 0 && CPU_COUNT(&cores) > 0) {
        return CPU_COUNT(&cores);
    }
#endif
    long online = sysconf(_SC_NPROCESSORS_ONLN);
    return online > 0 ? (int)online : 1;
}
