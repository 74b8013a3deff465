/* key.h - key files: 256 bits that make a machine a member of a cluster, or a client of it.
 *
 * From the cluster key a secret is derived for every purpose. None of them reveals another one:
 *
 *   members     what the members have in common; a key that both sides have (PSK)
 *   daemons     a private key (Ed25519) by which a daemon proves to clients that it is one
 *   operators   a private key by which a program proves to a daemon that it has the cluster key
 *   clients     a private key by which a client proves that it is one
 *
 *   names       the secret from which the private key of each client key with a name is derived
 *
 * A client key file has the key of clients, or that of a name, and the public key of the daemons. So a client can use locks and verify that
 * a daemon belongs to the cluster; it can act neither as a daemon, nor as an operator, nor as a member.
 *
 * A key file has comments (#) and one line: "dibs-key cluster" and 64 hexadecimal digits, or "dibs-key client", the
 * same, "daemon", and 64 more; and "name" and the name, if it has one. Only its owner may be able to read it, or, if it is root's, a group of the process. */
#ifndef DIBS_TLS_KEY_H
#define DIBS_TLS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { KEY_LEN = 32, KEY_NAME_MAX = 63 };

struct key {
    bool client; /* only */
    uint8_t bytes[KEY_LEN];
    uint8_t daemon[KEY_LEN];     /* client: the public key of the daemons */
    char name[KEY_NAME_MAX + 1]; /* client: its name, or "" */
};

enum key_purpose { KEY_MEMBERS, KEY_DAEMONS, KEY_OPERATORS, KEY_CLIENTS, KEY_NAMES };

/* Reads a key. Returns false, with a sentence in `why`, if there is no key in the file or other users can read it. */
bool key_read(struct key *k, const char *path, char *why, size_t size);
/* Makes a new cluster key. Returns false if there are no random numbers, or no OpenSSL. */
bool key_make(struct key *k);
void key_write(const struct key *k, FILE *to);
/* Of a cluster key. */
struct key key_derive(const struct key *cluster, enum key_purpose purpose);
/* The public key that belongs to a key that was derived for signing. Returns false if there is no memory. */
bool key_public(const struct key *k, uint8_t *public_key);
/* Of the key for KEY_NAMES: the private key of this name. */
struct key key_of_name(const struct key *names, const char *name);
/* Letters, digits, dots, dashes and underscores, at most KEY_NAME_MAX. */
bool key_is_name(const char *name);
/* What a client key file has; the name may be "". */
bool key_for_clients(const struct key *cluster, const char *name, struct key *client);

#endif
