/* place.h - where a daemon is, and a socket to it. */
#ifndef DIBS_CLIENT_PLACE_H
#define DIBS_CLIENT_PLACE_H

#include <stdbool.h>
#include <stddef.h>

/* A connected socket that does not block; or DIBS_GONE or DIBS_MISUSE, and a sentence in why. To another machine perhaps, if it is over TCP. */
int place_connect(const char *where, bool *tcp, char *why, size_t size);

#endif
