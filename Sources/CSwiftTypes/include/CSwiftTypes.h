// What a Swift program's own metadata say and Swift itself cannot ask: which types conform to a protocol, and which classes have
// a name, in whatever module.
//
// The layout of metadata is a part of Swift's stable ABI. Every image, be it the program or a library of it, has told the
// runtime of its metadata when it was loaded.
#ifndef CSWIFTTYPES_H
#define CSWIFTTYPES_H

#include <stdbool.h>

/// Calls a function with the metadata of each type that is no generic one and conforms to a protocol.
///
/// `existential` is the metadata of `(any P).self`, P being a Swift protocol that inherits from no class.
void cairn_each_conforming_type(
    const void *_Nonnull existential, void *_Nullable context,
    void (*_Nonnull visit)(const void *_Nonnull type, void *_Nullable context));

/// Calls a function with the metadata of each class that is no generic one and has a name that is wanted: the class's own, without
/// its module and other types around it.
void cairn_each_class(
    bool (*_Nonnull wanted)(const char *_Nonnull name, void *_Nullable context),
    void *_Nullable context,
    void (*_Nonnull visit)(const void *_Nonnull type, void *_Nullable context));

#endif
