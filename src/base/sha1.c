/* sha1.c - see sha1.h. */
#include "sha1.h"

#include <stdio.h>
#include <string.h>

enum { SHA1_BLOCK = 64 };

static uint32_t sha1_rotate(uint32_t x, unsigned n)
{
    return x << n | x >> (32 - n);
}

static void sha1_block(uint32_t h[5], const uint8_t block[SHA1_BLOCK])
{
    uint32_t w[80], a = h[0], b = h[1], c = h[2], d = h[3], e = h[4];

    for (unsigned t = 0; t < 16; t++)
        w[t] = (uint32_t)block[4 * t] << 24 | (uint32_t)block[4 * t + 1] << 16 | (uint32_t)block[4 * t + 2] << 8 |
               block[4 * t + 3];
    for (unsigned t = 16; t < 80; t++)
        w[t] = sha1_rotate(w[t - 3] ^ w[t - 8] ^ w[t - 14] ^ w[t - 16], 1);
    for (unsigned t = 0; t < 80; t++) {
        uint32_t f = t < 20   ? (b & c) | (~b & d)
                     : t < 40 ? b ^ c ^ d
                     : t < 60 ? (b & c) | (b & d) | (c & d)
                              : b ^ c ^ d;
        uint32_t k = t < 20 ? 0x5a827999 : t < 40 ? 0x6ed9eba1 : t < 60 ? 0x8f1bbcdc : 0xca62c1d6;
        uint32_t next = sha1_rotate(a, 5) + f + e + k + w[t];

        e = d;
        d = c;
        c = sha1_rotate(b, 30);
        b = a;
        a = next;
    }
    h[0] += a;
    h[1] += b;
    h[2] += c;
    h[3] += d;
    h[4] += e;
}

void sha1_digest(const void *data, size_t len, uint8_t digest[SHA1_SIZE])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t last[2 * SHA1_BLOCK] = {0};
    size_t rest = len % SHA1_BLOCK, end = rest < SHA1_BLOCK - 8 ? SHA1_BLOCK : 2 * SHA1_BLOCK;
    const uint8_t *at = data;

    for (size_t left = len; left >= SHA1_BLOCK; left -= SHA1_BLOCK, at += SHA1_BLOCK)
        sha1_block(h, at);
    if (rest)
        memcpy(last, at, rest);
    last[rest] = 0x80;
    for (unsigned k = 0; k < 8; k++)
        last[end - 1 - k] = (uint8_t)((uint64_t)len * 8 >> 8 * k);
    for (size_t k = 0; k < end; k += SHA1_BLOCK)
        sha1_block(h, last + k);
    for (unsigned k = 0; k < SHA1_SIZE; k++)
        digest[k] = (uint8_t)(h[k / 4] >> (24 - 8 * (k % 4)));
}

void sha1_hex(const void *data, size_t len, char hex[SHA1_HEX + 1])
{
    uint8_t digest[SHA1_SIZE];

    sha1_digest(data, len, digest);
    for (unsigned k = 0; k < SHA1_SIZE; k++)
        snprintf(hex + 2 * k, 3, "%02x", digest[k]);
}
