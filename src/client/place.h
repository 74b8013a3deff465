/* place.h - where a daemon is, and a socket to it. */
#ifndef DIBS_CLIENT_PLACE_H
#define DIBS_CLIENT_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* place_count: the number of places in a list, separated by commas. place_of: a copy of the place with this number, which the caller frees (null:
 * out of memory). If `list` is null, it is $DIBS_CONNECT or, if that is unset, the socket of this machine's daemon. */
unsigned place_count(const char *list);
char *place_of(const char *list, unsigned number);
/* The name that the certificate of the daemon at an address must have: NAME of "NAME=HOST:PORT", else HOST. */
enum { PLACE_NAME_MAX = 255 };
const char *place_name(const char *where, char name[PLACE_NAME_MAX + 1]);
/* Does the place begin with NAME=? Is it a path? */
bool place_has_name(const char *where);
bool place_is_unix(const char *where);
/* Begins to connect to one place. If its name has several addresses, `turn` selects one of them. Returns a socket that does
 * not block, or an error code. *pending: the connection is not made yet; when the socket is writable, place_result has the
 * result. */
int place_dial(const char *where, unsigned turn, bool *tcp, bool *pending, char *why, size_t size);
/* 0, or an error of the system. */
int place_result(int fd);
/* Returns a connected socket that does not block; or DIBS_GONE or DIBS_MISUSE, and a sentence in `why`. *tcp: it is over TCP, perhaps to another machine. */
int place_connect(const char *where, bool *tcp, char *why, size_t size);
/* As send of the system. If the system has no memory for the bytes just now, errno is EAGAIN, as if the socket had no room: the caller sends them later. */
ssize_t place_send(int fd, const void *bytes, size_t len);

#endif
