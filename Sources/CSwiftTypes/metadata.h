// What metadata look like: a part of Swift's stable ABI.
#ifndef METADATA_H
#define METADATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(__ELF__)

struct range {
    const char *start;
    size_t length;
};

/// The beginning of what an image has told the runtime.
struct sections {
    uintptr_t version;
    const void *base;
    const void *unused[2];
    struct range protocols;
    struct range conformances;
    struct range types;
};

/// Exported by the Swift runtime.
void swift_enumerateAllMetadataSections(
    bool (*body)(const struct sections *sections, void *context), void *context);

/// The beginning of what describes a type. Distances are of 32 bits and count from where they lie.
struct descriptor {
    uint32_t flags;
    int32_t parent;
    int32_t name;
    int32_t access;
};

enum { kind_of_type = 0x1F, type_is_class = 16, generic = 0x80 };

/// Where a distance leads that is always to the thing itself: to a name, for one, which may lie at any address.
static inline const void *direct_target(const int32_t *distance) {
    return (const char *)distance + *distance;
}

/// Where a distance leads that, if its lowest bit is set, is to a pointer.
static inline const void *target(const int32_t *distance) {
    intptr_t offset = *distance;
    if (offset & 1) {
        return *(const void *const *)((const char *)distance + (offset & ~(intptr_t)1));
    }
    return (const char *)distance + offset;
}

/// The metadata of a type that is no generic one. The function is Swift's; without generic arguments such a call is the same in C.
static inline const void *metadata_of(const struct descriptor *type) {
    const void *(*metadata)(size_t request) = (const void *(*)(size_t))direct_target(&type->access);
    return metadata(0);
}

#endif
#endif
