// What Swift's optimiser must not see through.
#ifndef CBLACKHOLE_H
#define CBLACKHOLE_H

#include <stddef.h>
#include <stdint.h>

/// Takes what a pointer leads to as read, and all of memory as changed.
void black_hole(const void *_Nullable value);

/// CRC32C of bytes, by the processor's instruction where there is one; else 0.
uint32_t black_hole_crc32c(const void *_Nonnull bytes, size_t count);

/// Lets the allocator give back to the system what it can.
void black_hole_trim(void);

#endif
