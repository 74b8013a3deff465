/* password.c - see password.h. */
#include "password.h"

#include "openssl.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SALT = 16, HASH = 32, ITERATIONS = 4096, ITERATIONS_MIN = 1000, ITERATIONS_MAX = 20000 };

static const char password_kind[] = "pbkdf2-sha256:";

static void password_print(const uint8_t *bytes, size_t len, char *text)
{
    for (size_t k = 0; k < len; k++)
        snprintf(text + 2 * k, 3, "%02x", bytes[k]);
}

/* Reads `len` bytes as hexadecimal digits, and the character `end` after them. Returns the rest of the text, or null if it is
 * malformed. */
static const char *password_bytes(const char *text, uint8_t *bytes, size_t len, char end)
{
    static const char digits[] = "0123456789abcdef";

    for (size_t k = 0; k < len; k++) {
        const char *high = *text ? strchr(digits, text[0]) : NULL,
                   *low = high && text[1] ? strchr(digits, text[1]) : NULL;

        if (!low)
            return NULL;
        bytes[k] = (uint8_t)((high - digits) << 4 | (low - digits));
        text += 2;
    }
    return *text == end ? text + 1 : NULL;
}

static bool password_parse(const char *text, int *iterations, uint8_t salt[SALT], uint8_t hash[HASH])
{
    char *end;

    if (strncmp(text, password_kind, sizeof password_kind - 1) != 0)
        return false;
    text += sizeof password_kind - 1;
    *iterations = (int)strtol(text, &end, 10);
    if (*text < '1' || *text > '9' || *end != ':' || *iterations < ITERATIONS_MIN || *iterations > ITERATIONS_MAX)
        return false;
    text = password_bytes(end + 1, salt, SALT, ':');
    return text && password_bytes(text, hash, HASH, '\0');
}

bool password_is_hash(const char *text)
{
    uint8_t salt[SALT], hash[HASH];
    int iterations;

    return password_parse(text, &iterations, salt, hash);
}

static bool password_derive(const char *password, size_t len, const uint8_t salt[SALT], int iterations,
                            uint8_t hash[HASH])
{
    return len <= PASSWORD_MAX && openssl_load() &&
           PKCS5_PBKDF2_HMAC(password, (int)len, salt, SALT, iterations, EVP_sha256(), HASH, hash) == 1;
}

bool password_hash(const char *password, size_t len, char text[PASSWORD_TEXT])
{
    uint8_t salt[SALT], hash[HASH];
    char salt_text[2 * SALT + 1], hash_text[2 * HASH + 1];

    if (!openssl_load() || RAND_priv_bytes(salt, SALT) != 1 || !password_derive(password, len, salt, ITERATIONS, hash))
        return false;
    password_print(salt, SALT, salt_text);
    password_print(hash, HASH, hash_text);
    snprintf(text, PASSWORD_TEXT, "%s%d:%s:%s", password_kind, ITERATIONS, salt_text, hash_text);
    return true;
}

bool password_is_right(const char *hash, const char *password, size_t len)
{
    uint8_t salt[SALT] = {0}, expected[HASH] = {0}, got[HASH] = {1};
    int iterations = ITERATIONS;
    bool known = hash && password_parse(hash, &iterations, salt, expected);

    return password_derive(password, len, salt, iterations, got) && CRYPTO_memcmp(got, expected, HASH) == 0 && known;
}

bool password_mac(const uint8_t key[PASSWORD_MAC], const char *hash, const char *password, size_t len,
                  uint8_t mac[PASSWORD_MAC])
{
    uint8_t text[PASSWORD_TEXT + 32 + PASSWORD_MAX];
    size_t hash_len = strnlen(hash, PASSWORD_TEXT + 32);
    unsigned mac_len = PASSWORD_MAC;
    bool good;

    if (len > PASSWORD_MAX || !openssl_load())
        return false;
    memcpy(text, hash, hash_len);
    memcpy(text + hash_len, password, len);
    good = HMAC(EVP_sha256(), key, PASSWORD_MAC, text, hash_len + len, mac, &mac_len);
    explicit_bzero(text, sizeof text);
    return good;
}

bool password_is_same(const uint8_t a[PASSWORD_MAC], const uint8_t b[PASSWORD_MAC])
{
    return openssl_load() && CRYPTO_memcmp(a, b, PASSWORD_MAC) == 0;
}

bool password_random(uint8_t key[PASSWORD_MAC])
{
    return openssl_load() && RAND_priv_bytes(key, PASSWORD_MAC) == 1;
}
