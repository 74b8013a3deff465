/* place.h - where a daemon is, and a socket to it. */
#ifndef DIBS_CLIENT_PLACE_H
#define DIBS_CLIENT_PLACE_H

#include <stddef.h>

/* A connected socket that does not block; or -1, and a sentence in why. */
int place_connect(const char *where, char *why, size_t size);

#endif
