#include "CBlackHole.h"

#include <string.h>

void black_hole(const void *value) { __asm__ volatile("" : : "r"(value) : "memory"); }

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t black_hole_crc32c(const void *bytes, size_t count) {
    const unsigned char *place = bytes;
    uint64_t sum = ~0u;
    for (; count >= 8; count -= 8, place += 8) {
        uint64_t word;
        memcpy(&word, place, 8);
        sum = __builtin_ia32_crc32di(sum, word);
    }
    for (; count > 0; count--, place++) sum = __builtin_ia32_crc32qi((uint32_t)sum, *place);
    return ~(uint32_t)sum;
}
#else
uint32_t black_hole_crc32c(const void *bytes, size_t count) { return 0; }
#endif

#if defined(__GLIBC__)
#include <malloc.h>
void black_hole_trim(void) { malloc_trim(0); }
#else
void black_hole_trim(void) {}
#endif
