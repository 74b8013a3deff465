/* password.h - hashes of passwords, for a configuration: PBKDF2 with HMAC-SHA-256 (RFC 8018), by OpenSSL.
 *
 * A hash is "pbkdf2-sha256:4096:SALT:HASH", in hexadecimal digits. The daemon checks a password within one turn of its loop, so
 * a check has to be short: 4096 iterations, which is what PostgreSQL uses for SCRAM, take about a millisecond. Against an attacker that
 * has the hashes, a password should be long and random, as programs have it. */
#ifndef DIBS_TLS_PASSWORD_H
#define DIBS_TLS_PASSWORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PASSWORD_MAX = 512, PASSWORD_TEXT = 128, PASSWORD_MAC = 32 };

/* Makes a hash with a new salt. Returns false if there are no random numbers, or no OpenSSL. */
bool password_hash(const char *password, size_t len, char text[PASSWORD_TEXT]);
/* Could this be a hash? */
bool password_is_hash(const char *text);
/* Is it the password of this hash? Takes as long for a wrong one as for the right one, and as long if there is no hash (null). */
bool password_is_right(const char *hash, const char *password, size_t len);
/* A short code of a hash and a password, by which a process can recognise a password that it has checked. */
void password_mac(const uint8_t key[PASSWORD_MAC], const char *hash, const char *password, size_t len,
                  uint8_t mac[PASSWORD_MAC]);
bool password_is_same(const uint8_t a[PASSWORD_MAC], const uint8_t b[PASSWORD_MAC]); /* in constant time */
bool password_random(uint8_t key[PASSWORD_MAC]);

#endif
