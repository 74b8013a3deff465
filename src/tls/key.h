/* key.h - key files: 256 bits that make a machine a member of a cluster, or a client of it.
 *
 * A daemon has two doors, and a key of its own for each is derived from the cluster key. A client key is the one of the
 * clients' door: who has nothing else can use locks, but cannot pose as a member. A key file has comments (#) and one
 * line: "dibs-key cluster" or "dibs-key client", and 64 hexadecimal digits. Only its owner may be able to read it. */
#ifndef DIBS_TLS_KEY_H
#define DIBS_TLS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { KEY_LEN = 32 };

struct key {
    bool client; /* only */
    uint8_t bytes[KEY_LEN];
};

/* False, and a sentence, if there is no key, or others may have read it. */
bool key_read(struct key *k, const char *path, char *why, size_t size);
/* A new cluster key. False: there is no chance to be had. */
bool key_make(struct key *k);
void key_write(const struct key *k, FILE *to);
/* The client key of a cluster key; or the same, if it is one. */
struct key key_for_clients(const struct key *k);
/* What members have in common; of a cluster key. */
struct key key_for_members(const struct key *k);

#endif
