/* reply.h - what the daemon says, from bytes: the replies of Redis' protocol, version 3. */
#ifndef DIBS_CLIENT_REPLY_H
#define DIBS_CLIENT_REPLY_H

#include "dibs.h"

#include <stdbool.h>

enum { REPLY_MAX = 1 << 26 /* bytes */ };

/* Reads a reply. Returns the number of bytes that it takes; 0 if more are needed; DIBS_REFUSED if this is no reply, or
 * DIBS_NO_MEMORY. *news: it is a push message, which answers no request. */
long reply_parse(const char *bytes, size_t len, struct dibs_reply **reply, bool *news);

#endif
