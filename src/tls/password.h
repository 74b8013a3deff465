/* password.h - hashes of passwords, for a configuration: PBKDF2 with HMAC-SHA-256 (RFC 8018), by OpenSSL.
 *
 * The text of a hash is "pbkdf2-sha256:4096:SALT:HASH"; 4096 is the number of iterations, and SALT and HASH are hexadecimal digits. The
 * daemon checks a password within one turn of its loop, so a check has to be short: 4096 iterations, which is what PostgreSQL uses for
 * SCRAM, take about a millisecond. So few iterations protect only a long random password, as a program can have it, from an attacker
 * that has read the hashes. */
#ifndef DIBS_TLS_PASSWORD_H
#define DIBS_TLS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* In bytes: the longest password; room for the text of a hash, with its zero byte; a key, and a code, of password_mac. */
enum { PASSWORD_MAX = 512, PASSWORD_TEXT = 128, PASSWORD_MAC = 32 };

/* Writes the hash of a password, with a new salt, to `text`. Returns false if the password is too long, or there are no random
 * numbers, or no OpenSSL. */
bool password_hash(const char *password, size_t len, char text[PASSWORD_TEXT]);
/* Does the text have the form of a hash, with 1,000 to 20,000 iterations? */
bool password_is_hash(const char *text);
/* Is it the password of this hash? The check of a wrong password takes as long as that of the right one; and so does a check without
 * a hash (null), which fails. */
bool password_is_right(const char *hash, const char *password, size_t len);
/* Computes a code (HMAC-SHA-256) of a hash and a password under a key of the process. By it the process recognises a password that it
 * has checked before, without PBKDF2 and without keeping the password. Returns false if the password is too long to be right, or there is no memory: then
 * there is no code. */
bool password_mac(const uint8_t key[PASSWORD_MAC], const char *hash, const char *password, size_t len,
                  uint8_t mac[PASSWORD_MAC]);
/* Are two codes equal? Compares them in constant time. */
bool password_is_same(const uint8_t a[PASSWORD_MAC], const uint8_t b[PASSWORD_MAC]);
/* Makes a random key for password_mac. Returns false if there are no random numbers, or no OpenSSL. */
bool password_random(uint8_t key[PASSWORD_MAC]);

#endif
