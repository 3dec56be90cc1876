// Goes through the records of types of all images.
//
//   record        the distance to a descriptor, or, if the lowest bit is set, to a pointer to it; the second bit is for others

#include "CSwiftTypes.h"
#include "metadata.h"

#if defined(__ELF__)

struct search {
    bool (*wanted)(const char *name, void *context);
    void *context;
    void (*visit)(const void *type, void *context);
};

static bool search_image(const struct sections *sections, void *context) {
    const struct search *search = context;
    const int32_t *record = (const int32_t *)sections->types.start;
    if (!record) return true;
    const int32_t *end = record + sections->types.length / sizeof *record;
    for (; record < end; record++) {
        // The linker may have left a gap, and what is of Objective-C is of no interest.
        if (!*record || *record & 2) continue;
        const struct descriptor *type = target(record);
        if (!type || (type->flags & kind_of_type) != type_is_class) continue;
        if (type->flags & generic || !type->access) continue;
        if (!search->wanted(direct_target(&type->name), search->context)) continue;
        search->visit(metadata_of(type), search->context);
    }
    return true;
}

void cairn_each_class(
    bool (*wanted)(const char *name, void *context), void *context,
    void (*visit)(const void *type, void *context)) {
    struct search search = {wanted, context, visit};
    swift_enumerateAllMetadataSections(search_image, &search);
}

#else

void cairn_each_class(
    bool (*wanted)(const char *name, void *context), void *context,
    void (*visit)(const void *type, void *context)) {}

#endif
