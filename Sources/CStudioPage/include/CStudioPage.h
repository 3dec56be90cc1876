/* The files of the page that `cairn studio` serves, as the compiler has put them into the binary. */

#ifndef CSTUDIOPAGE_H
#define CSTUDIOPAGE_H

#include <stddef.h>

/* A file of the page. It lives as long as the process. */
typedef struct {
    /* The path that a browser asks for, such as "/app.js". */
    const char *_Nonnull path;
    /* The value of the Content-Type header. */
    const char *_Nonnull type;
    const unsigned char *_Nonnull bytes;
    size_t size;
} CStudioFile;

/* How many files there are. */
size_t cstudio_file_count(void);

/* The file of that number, which is less than the count. */
const CStudioFile *_Nonnull cstudio_file(size_t number);

#endif
