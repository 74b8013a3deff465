/* tls.h - TLS 1.3 without I/O: bytes from the network in, bytes for the network out. By OpenSSL.
 *
 * Both sides prove who they are (I21), always, in one of three ways. Members prove that they have the same key (an
 * external PSK, with Diffie-Hellman on top, so that a key that leaks later opens no recorded conversation). Daemons and
 * clients have different secrets: each signs with a private key of its own sort (key.h), and the other side knows the
 * public key. TLS wants certificates for that; they are made as needed, signed by themselves, and nothing in them
 * counts but the public key. Or both have certificates of an authority that both trust. There is no version below 1.3,
 * no early data (nothing can be replayed), no resumption, no ticket, no renegotiation.
 *
 * A certificate also gives the name of its holder. The caller says which name it expects; the called side asks for the
 * name afterwards (tls_is_named). A key has no names: every process that has it is trusted. */
#ifndef DIBS_TLS_TLS_H
#define DIBS_TLS_TLS_H

#include "key.h"

/* What a key is for. */
#define TLS_MEMBERS "dibs member"

enum { TLS_TRUST_MAX = 2, TLS_PROVED_NAME = TLS_TRUST_MAX /* see tls_proved */ };

/* Our identity, and which peers we trust. */
struct tls_conf {
    const char *identity;  /* what the key is for; not secret */
    const struct key *key; /* or null: what both sides have */
    const struct key
        *proof; /* or null: our private key; and the public keys of the other side, one of which it must prove */
    uint8_t trusted[TLS_TRUST_MAX][KEY_LEN];
    unsigned trusts;
    const struct key *names; /* or null: peers with a key of a name are trusted as well (KEY_NAMES) */
    const char *name;        /* or null: the name of our own key */
    const char *cert;        /* file names, all or none: our certificate (and what leads to the authority), its key, */
    const char *cert_key;    /* .. */
    const char *ca;          /* and the authorities that we trust */
};

struct tls_keys;
/* Returns null, with a sentence in `why`, if the files are not what they should be. The configuration is not kept. */
struct tls_keys *tls_keys_new(const struct tls_conf *conf, char *why, size_t size);
/* Or null. Connections that use them may go on. */
void tls_keys_free(struct tls_keys *keys);
/* To be called by a thread that has made keys, and is not the main thread: OpenSSL keeps memory for every thread. */
void tls_end_thread(void);

/* One connection. */
struct tls;
/* Does the file with the private key of a certificate belong to its owner and a group only? If not, `why` has a sentence. */
bool tls_cert_key_is_secret(const char *path, char *why, size_t size);

/* Calls a peer, whose certificate must be for `name`, a DNS name or an IP address, unless that is null. Returns null if there is no
 * memory. */
struct tls *tls_call(struct tls_keys *keys, const char *name);
struct tls *tls_answer(struct tls_keys *keys);
void tls_free(struct tls *t); /* or null */

/* Bytes from the other side. Returns false if the connection is over; tls_why says why. There may still be an alert to
 * send. */
bool tls_input(struct tls *t, const uint8_t *bytes, size_t len);
/* Bytes to be sent, as many as there is room for; 0: none. */
size_t tls_output(struct tls *t, uint8_t *bytes, size_t room);
/* Both sides know each other: from now on there is something to read, and tls_write may be called. */
bool tls_is_up(const struct tls *t);
/* What the other side has said, as much as there is room for; 0: nothing, or it is over. */
size_t tls_read(struct tls *t, uint8_t *bytes, size_t room);
/* Encrypts all bytes. Returns false if the connection is over. */
bool tls_write(struct tls *t, const uint8_t *bytes, size_t len);
/* Our last word, so that the other side knows that nothing was cut off. */
void tls_end(struct tls *t);
/* The other side has ended it, or it has failed. */
bool tls_is_over(const struct tls *t);
/* Why it has failed, in words that go on from "it"; or "" if it has not. */
const char *tls_why(const struct tls *t);
/* Is the other side's certificate, by an authority, for this name? With a key that both have it has none, and the
 * answer is yes. */
bool tls_is_named(const struct tls *t, const char *name);
/* The connection has failed because the other side's certificate is for other names than the one that we called. */
bool tls_is_misnamed(const struct tls *t);
/* Which of the trusted public keys the other side has proved to be its own; TLS_PROVED_NAME: that of a name; -1: it has proved
 * something else. */
int tls_proved(const struct tls *t);
/* TLS_PROVED_NAME: which name; else "". */
const char *tls_key_name(const struct tls *t);
/* The names (DNS) in the certificate that an authority has given the other side, as many as there is room for, each with a zero
 * byte behind it, and one more at the end. Returns false if there are none. */
bool tls_cert_names(const struct tls *t, char *names, size_t room);
/* When our own certificate ends, in seconds since 1970; 0: there is none. */
int64_t tls_ends(const struct tls_keys *keys);

#endif
