/* The parser of requests of clients (src/protocol/resp.c), for Frama-C's Eva: any bytes of any length up to BYTES, in a
 * buffer that ends with them. Of a request that is an array, the words lie within the bytes. See tests/prove/run.
 * Invariant: I19. */
#include "protocol/resp.h"

#include <__fc_builtin.h>
#include <stdlib.h>

/* Stub of memchr: what the standard says. Frama-C's own knows less of the place that it returns. */
void *prove_memchr(const void *s, int c, size_t n)
{
    const unsigned char *at = s;

    for (size_t k = 0; k < n; k++)
        if (at[k] == (unsigned char)c)
            return (void *)(at + k);
    return NULL;
}

static void prove_length(size_t len, bool array)
{
    char *bytes = malloc(len), last = 0;
    struct resp_request request;
    const char *wrong;
    int taken;

    Frama_C_make_unknown(bytes, len);
    if (array != (bytes[0] == '*'))
        return;
    taken = resp_parse(bytes, len, &request, &wrong);
    /*@ assert no_more_than_there_is: taken <= len; */
    for (size_t k = 0; array && taken > 0 && k < request.count; k++)
        for (size_t i = 0; i < request.word[k].len; i++)
            last = request.word[k].at[i]; /* it can be read */
    (void)last;
    free(bytes);
}

void prove_parser(void)
{
    //@ loop unroll BYTES;
    for (size_t len = 1; len <= BYTES; len++) {
        prove_length(len, true);
        prove_length(len, false);
    }
    Frama_C_show_each_end();
}
