/* key.h - key files: 256 bits that make a machine a member of a cluster, or a client of it.
 *
 * The members have one secret in common, the cluster key. A secret for each purpose is derived from it (HMAC-SHA-256), and
 * none of these reveals another one, or the cluster key:
 *
 *   members     the key with which members authenticate each other (a PSK, see tls.h)
 *   daemons     the private key (Ed25519) by which a daemon proves to clients that it belongs to the cluster
 *   operators   the private key by which a program proves to a daemon that it has the cluster key
 *   clients     the private key by which a client without a name proves that it has a client key
 *   names       the secret from which the private key of each name is derived
 *
 * A client key has a private key, that of all clients or that of one name, and the public key of the daemons. A process that
 * has it can use locks, and verify that a daemon belongs to the cluster. It can pose neither as a daemon, nor as an operator, nor
 * as a member.
 *
 * A key file has comments (#) and one line, in one of three forms; each HEX is 64 hexadecimal digits:
 *
 *   dibs-key cluster HEX
 *   dibs-key client HEX daemon HEX
 *   dibs-key client HEX daemon HEX name NAME
 *
 * The file must belong to the user of the process, or to root, and no other user may be able to read it. One exception: a file of
 * root may be readable for a group of the process.
 *
 * The caller owns each struct key, and overwrites it (explicit_bzero) when it is no longer needed. */
#ifndef DIBS_TLS_KEY_H
#define DIBS_TLS_KEY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { KEY_LEN = 32, KEY_NAME_MAX = 63 };

struct key {
    bool client;                 /* this is a client key; else it is the cluster key, or was derived from it */
    uint8_t bytes[KEY_LEN];      /* the secret */
    uint8_t daemon[KEY_LEN];     /* of a client key: the public key of the daemons */
    char name[KEY_NAME_MAX + 1]; /* of a client key: its name, or "" */
};

enum key_purpose { KEY_MEMBERS, KEY_DAEMONS, KEY_OPERATORS, KEY_CLIENTS, KEY_NAMES };

/* Reads a key file. Returns false, with a sentence in `why`, if the file has no key, other users can read it, or there is no OpenSSL. */
bool key_read(struct key *k, const char *path, char *why, size_t size);
/* Makes a new cluster key. Returns false if there are no random numbers, or no OpenSSL. */
bool key_make(struct key *k);
/* Writes the lines of a key file. */
void key_write(const struct key *k, FILE *to);
/* Derives the secret for a purpose from the cluster key. */
struct key key_derive(const struct key *cluster, enum key_purpose purpose);
/* Computes the public key, KEY_LEN bytes, that belongs to the private key `k`. Returns false if there is no memory. */
bool key_public(const struct key *k, uint8_t *public_key);
/* Derives the private key of a name from the secret for KEY_NAMES. */
struct key key_of_name(const struct key *names, const char *name);
/* Does the text consist of letters, digits, dots, dashes and underscores, at least one and at most KEY_NAME_MAX? */
bool key_is_name(const char *name);
/* Makes the client key of a name, or, if the name is "", that of clients without a name. Returns false if there is no memory. */
bool key_for_clients(const struct key *cluster, const char *name, struct key *client);

#endif
