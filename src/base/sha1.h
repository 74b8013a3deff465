/* sha1.h - SHA-1 (FIPS 180-4), by which Redis names scripts. It also binds the id of a kept session, a secret of 128 bits, to
 * a client (command/permit.h): that takes a digest that cannot be inverted, and collisions do no harm. */
#ifndef DIBS_BASE_SHA1_H
#define DIBS_BASE_SHA1_H

#include <stddef.h>
#include <stdint.h>

enum { SHA1_SIZE = 20, SHA1_HEX = 40 };

/* The digest of `len` bytes at `data`. */
void sha1_digest(const void *data, size_t len, uint8_t digest[SHA1_SIZE]);

/* The same, as 40 hexadecimal digits and a zero byte. */
void sha1_hex(const void *data, size_t len, char hex[SHA1_HEX + 1]);

#endif
