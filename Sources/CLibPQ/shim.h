// Where Debian puts it, then where others do.
#if __has_include(<postgresql/libpq-fe.h>)
#include <postgresql/libpq-fe.h>
#else
#include <libpq-fe.h>
#endif

#include <stdio.h>

// Closes a prepared statement, in a pipeline: by a message of the protocol, which poolers understand, where libpq has it
// (17). The name must be one that needs no quotes.
static inline int cairn_send_close_prepared(PGconn *_Nonnull connection, const char *_Nonnull name) {
#ifdef LIBPQ_HAS_CLOSE_PREPARED
    return PQsendClosePrepared(connection, name);
#else
    char sql[96];
    int length = snprintf(sql, sizeof sql, "DEALLOCATE %s", name);
    if (length < 0 || length >= (int)sizeof sql) return 0;
    return PQsendQueryParams(connection, sql, 0, NULL, NULL, NULL, NULL, 1);
#endif
}
