// Goes through the records of conformances of all images.
//
//   record        the distance to a conformance
//   conformance   the distances to the protocol and to the type's descriptor, and flags that say what the latter is
//   descriptor    flags, parent, name and the distance to a function that gives the metadata

#include "CSwiftTypes.h"
#include "metadata.h"

#if defined(__ELF__)

struct conformance {
    int32_t protocol;
    int32_t type;
    int32_t witnesses;
    uint32_t flags;
};

enum { kind_of_reference = 7, direct = 0, indirect = 1 };

struct search {
    const void *protocol;
    void *context;
    void (*visit)(const void *type, void *context);
};

static bool search_image(const struct sections *sections, void *context) {
    const struct search *search = context;
    const int32_t *record = (const int32_t *)sections->conformances.start;
    if (!record) return true;
    const int32_t *end = record + sections->conformances.length / sizeof *record;
    for (; record < end; record++) {
        // The linker may have left a gap.
        if (!*record) continue;
        const struct conformance *conformance = target(record);
        if (target(&conformance->protocol) != search->protocol) continue;
        unsigned kind = conformance->flags >> 3 & kind_of_reference;
        if (kind != direct && kind != indirect) continue;
        const struct descriptor *type =
            (const struct descriptor *)((const char *)&conformance->type + conformance->type);
        if (kind == indirect) type = *(const struct descriptor *const *)type;
        if (!type || type->flags & generic) continue;
        search->visit(metadata_of(type), search->context);
    }
    return true;
}

void cairn_each_conforming_type(
    const void *existential, void *context,
    void (*visit)(const void *type, void *context)) {
    // Kind, flags, number of protocols, protocols.
    const void *protocol = ((const void *const *)existential)[2];
    struct search search = {protocol, context, visit};
    swift_enumerateAllMetadataSections(search_image, &search);
}

#else

void cairn_each_conforming_type(
    const void *existential, void *context,
    void (*visit)(const void *type, void *context)) {}

#endif
