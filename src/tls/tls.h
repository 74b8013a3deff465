/* tls.h - TLS 1.3 without I/O, by OpenSSL. The caller passes in the bytes that the network has delivered, and sends the
 * bytes that come out. The daemon and libdibs use it in the same way.
 *
 * On every connection, each side proves who it is (I21), in one of three ways:
 *
 *   a common key    Two members have the same key: an external PSK, with Diffie-Hellman on top, so that a key that leaks
 *                   later opens no recorded conversation. Such a key has no name: each process that has it is trusted.
 *   key pairs       A daemon and a client sign with different private keys (key.h), and each knows the other's public
 *                   key. TLS wants certificates for that. Each side makes one, signed by itself, and its peer looks at the
 *                   public key only; or, if the key is that of a name, at the name as well.
 *   certificates    Both have certificates of an authority that both trust. The side that calls says which name it
 *                   expects. The side that is called finds out the name when the connection is up (tls_is_named).
 *
 * There is no version below 1.3, no early data (so an attacker can replay nothing), no resumption, no ticket, no
 * renegotiation.
 *
 * The life of a connection: tls_call or tls_answer; tls_input for bytes that arrive; when tls_is_up, tls_read and
 * tls_write; tls_end; tls_free. After each of the others, the caller sends what tls_output returns, until that is 0 bytes. */
#ifndef DIBS_TLS_TLS_H
#define DIBS_TLS_TLS_H

#include "key.h"

#define TLS_MEMBERS "dibs member" /* tls_conf.identity of the key of members */

enum { TLS_TRUST_MAX = 2, TLS_PROVED_NAME = TLS_TRUST_MAX /* see tls_proved */ };

/* How we prove who we are, and which peers we trust. Each of the three ways is used if its fields are set; a daemon can use
 * key pairs and certificates beside each other, for different clients. */
struct tls_conf {
    /* 1. A common key, or null. The side that calls sends the identity in the clear: it says what the key is for. */
    const char *identity;
    const struct key *key;

    /* 2. Key pairs. `proof` is our private key, or null. The peer has to prove that it has the private key of one of the first
     * `trusts` public keys in `trusted`, or, if `names` is not null, one that is derived from `names` and a name (KEY_NAMES). */
    const struct key *proof;
    uint8_t trusted[TLS_TRUST_MAX][KEY_LEN];
    unsigned trusts;
    const struct key *names;
    const char *name; /* if `proof` is the key of a name: that name; else null or "" */

    /* 3. Certificates: the paths of three files in PEM form, all of them or none. */
    const char *cert;     /* our certificate, followed by those between it and the authority */
    const char *cert_key; /* its private key */
    const char *ca;       /* the authorities that we trust, and their revocation lists (cert.h) */
};

/* What tls_keys_new has made of a tls_conf. The caller and each connection count as users; the last one frees it. */
struct tls_keys;
/* Copies all that it needs: the caller may free or wipe `conf` and what that points to. Returns null, with a sentence in
 * `why`, if a file is not what it should be, or OpenSSL or memory is missing. */
struct tls_keys *tls_keys_new(const struct tls_conf *conf, char *why, size_t size);
/* The caller uses the keys no longer. Connections that use them go on. `keys` may be null. */
void tls_keys_free(struct tls_keys *keys);
/* A thread other than the main thread calls this before it ends, if it has made keys: OpenSSL keeps memory for each thread. */
void tls_end_thread(void);

/* One connection. The caller owns it. */
struct tls;
/* May only the owner and the group use the file with the private key of a certificate? Returns false, with a sentence in `why`,
 * if all users may. Returns true if there is no such file: tls_keys_new says so. */
bool tls_cert_key_is_secret(const char *path, char *why, size_t size);

/* The side that calls. If the peer shows a certificate of an authority, that must be for `name`, a DNS name or an IP address;
 * null: for any name. Returns null if there is no memory. */
struct tls *tls_call(struct tls_keys *keys, const char *name);
/* The side that is called. Returns null if there is no memory. */
struct tls *tls_answer(struct tls_keys *keys);
void tls_free(struct tls *t); /* `t` may be null */

/* Takes bytes that the network has delivered. Returns false if the connection is over; tls_why says why. tls_output may have an
 * alert for the peer even then. */
bool tls_input(struct tls *t, const uint8_t *bytes, size_t len);
/* Copies bytes for the network to `bytes`, at most `room`. Returns their number; 0: there is nothing to send. */
size_t tls_output(struct tls *t, uint8_t *bytes, size_t room);
/* Has the peer authenticated, and have we sent our own proof? From then on tls_read and tls_write may be used. If we called,
 * the peer may still refuse our proof. */
bool tls_is_up(const struct tls *t);
/* Decrypts what the peer has sent, at most `room` bytes (1 or more). Returns their number; 0: nothing is there, or the connection
 * is over. */
size_t tls_read(struct tls *t, uint8_t *bytes, size_t room);
/* Encrypts all bytes, for tls_output. Returns false if the connection is not up, or is over. */
bool tls_write(struct tls *t, const uint8_t *bytes, size_t len);
/* Puts the closing alert into the output: it tells the peer that nothing after the last bytes was cut off. */
void tls_end(struct tls *t);
/* Has the peer ended the connection, or has the connection failed? */
bool tls_is_over(const struct tls *t);
/* Why the connection has failed, in words that go on from "it", the peer; or "" if it has not failed. */
const char *tls_why(const struct tls *t);
/* Is the peer's certificate, issued by an authority, for this name? A peer with the common key may have any name: returns true.
 * A peer with a key pair has no certificate of an authority: returns false. */
bool tls_is_named(const struct tls *t, const char *name);
/* Has the connection failed because the peer's certificate is for other names than the one that we called? */
bool tls_is_misnamed(const struct tls *t);
/* By which key pair has the peer authenticated? Returns the place of its public key in tls_conf.trusted; TLS_PROVED_NAME if
 * the key is that of a name; -1 if the peer has proved nothing yet, or has another proof than a key pair. */
int tls_proved(const struct tls *t);
/* The name, if tls_proved returns TLS_PROVED_NAME; else "". */
const char *tls_key_name(const struct tls *t);
/* Writes the DNS names in the peer's certificate, issued by an authority, to `names`: each with a zero byte behind it, and one more
 * at the end. Names for which there is no room are left out. Returns false if there are none. */
bool tls_cert_names(const struct tls *t, char *names, size_t room);
/* When our own certificate ends, in seconds since 1970; 0 if we have none, or `keys` is null. */
int64_t tls_ends(const struct tls_keys *keys);

#endif
