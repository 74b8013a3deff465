/* secure.h - TLS between the library and a daemon elsewhere, over a socket that does not block. */
#ifndef DIBS_CLIENT_SECURE_H
#define DIBS_CLIENT_SECURE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct secure;

/* The files by which this side proves its identity, and verifies the daemon: a key (tls/key.h), or certificates. "": none. */
struct secure_files {
    char *key;
    char *cert, *cert_key, *ca;
};

/* Is there any file? Without one, the connection is not encrypted. */
bool secure_is_wanted(const struct secure_files *files);
/* Makes a TLS connection. With certificates, that of the daemon must be for `name`. Returns null, with a sentence in `why`, if that
 * fails. */
struct secure *secure_new(const struct secure_files *files, const char *name, char *why, size_t size);
/* Says good-bye on the socket `fd`, if it is not -1, and frees `s`, which may be null. */
void secure_free(struct secure *s, int fd);

/* As send and recv of the system; errno is EPROTO if TLS has failed. secure_recv keeps no bytes back: what it has not returned is still in the socket. */
ssize_t secure_send(struct secure *s, int fd, const char *bytes, size_t len);
ssize_t secure_recv(struct secure *s, int fd, char *bytes, size_t room);
/* secure_has_more: has TLS something to send that is not of the program? secure_is_up: may the program send? */
bool secure_has_more(const struct secure *s);
bool secure_is_up(const struct secure *s);
/* Why TLS has failed, in words that continue "the daemon ..", or "". And what to do about it, or "". */
const char *secure_why(const struct secure *s);
const char *secure_remedy(const struct secure *s);

#endif
