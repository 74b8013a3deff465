/* Whatever comes over a connection with TLS: bytes that were never TLS, or a real conversation of two sides that have the same
 * key, of which pieces are changed, left out, doubled or cut. Neither side crashes or keeps anything, what was changed is never
 * read as if it had been said, and a side that is not up has nothing to read.
 * Invariant: I19. */
#include "fuzz.h"

#include "tls/tls.h"

#include <string.h>

static const char fuzz_said[] = "LOCK x\r\nUNLOCK x\r\n";

static struct tls_keys *fuzz_keys(void)
{
    static struct tls_keys *keys;
    struct key key = {.bytes = {1, 2, 3}};
    char why[256];

    if (!keys)
        keys = tls_keys_new(&(struct tls_conf){.identity = TLS_MEMBERS, .key = &key}, why, sizeof why);
    FUZZ_EXPECT(keys, "%s", why);
    return keys;
}

/* What there is to read must be what the other side has written, from its beginning on. */
static void fuzz_read(struct tls *t, size_t *have)
{
    uint8_t plain[64];
    size_t len;

    while ((len = tls_read(t, plain, sizeof plain))) {
        FUZZ_EXPECT(tls_is_up(t), "something is read before it is known who speaks");
        for (size_t k = 0; k < len; k++, ++*have)
            FUZZ_EXPECT(plain[k] == (uint8_t)fuzz_said[*have % (sizeof fuzz_said - 1)], "byte %zu was not said", *have);
    }
}

/* A piece of what one side sends, as the network delivers it. Returns false at its end. */
static void fuzz_carry(struct fuzz_input *in, struct tls *from, struct tls *to, size_t *have)
{
    uint8_t piece[1 << 14];
    size_t len = tls_output(from, piece, sizeof piece);
    uint8_t how = fuzz_take(in);

    if (len == 0)
        return;
    switch (how % 16) {
    case 0: /* changed */
        piece[(fuzz_take(in) | (size_t)fuzz_take(in) << 8) % len] ^= (uint8_t)(1 + fuzz_take(in) % 255);
        break;
    case 1: /* cut */
        len = fuzz_take(in) % len;
        break;
    case 2: /* doubled */
        tls_input(to, piece, len);
        fuzz_read(to, have);
        break;
    case 3: /* something else in between */
        tls_input(to, in->at, (size_t)(in->end - in->at) < how ? (size_t)(in->end - in->at) : how);
        fuzz_read(to, have);
        break;
    default: /* as it is */
        break;
    }
    if (how >= 128) /* byte by byte */
        for (size_t k = 0; k < len; k++)
            tls_input(to, piece + k, 1);
    else
        tls_input(to, piece, len);
    fuzz_read(to, have);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_input in = {data, data + size};
    struct tls *caller = tls_call(fuzz_keys(), NULL), *called = tls_answer(fuzz_keys());
    size_t heard[2] = {0, 0};

    if (fuzz_take(&in) % 4 == 0) { /* no TLS at all */
        tls_input(called, in.at, (size_t)(in.end - in.at));
        fuzz_read(called, &heard[0]);
        FUZZ_EXPECT(!tls_is_up(called), "it is up with a stranger");
    }
    for (unsigned k = 0; k < 8 + size / 4 && k < 40; k++) {
        struct tls *from = k % 2 ? called : caller, *to = k % 2 ? caller : called;

        if (tls_is_up(from) && !tls_is_over(from))
            tls_write(from, (const uint8_t *)fuzz_said, sizeof fuzz_said - 1);
        fuzz_carry(&in, from, to, &heard[k % 2]);
    }
    tls_end(caller);
    fuzz_carry(&in, caller, called, &heard[0]);
    FUZZ_EXPECT(!tls_is_over(called) || *tls_why(called) || heard[0] % (sizeof fuzz_said - 1) == 0,
                "half of what was said");
    tls_free(caller);
    tls_free(called);
    return 0;
}
