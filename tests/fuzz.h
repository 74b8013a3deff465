/* fuzz.h - what a fuzz target and its driver agree on.
 *
 * A target is one function, LLVMFuzzerTestOneInput, as libFuzzer calls it (make fuzz, with clang). Without libFuzzer
 * the driver in fuzz_driver.c calls it with inputs made from a seed, so that `make test` runs it too. */
#ifndef DIBS_TESTS_FUZZ_H
#define DIBS_TESTS_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The input, read byte by byte; behind its end there are zeros. */
struct fuzz_input {
    const uint8_t *at, *end;
};

static inline uint8_t fuzz_take(struct fuzz_input *in)
{
    return in->at < in->end ? *in->at++ : 0;
}

#define FUZZ_EXPECT(fact, ...)                                                                                         \
    do {                                                                                                               \
        if (!(fact)) {                                                                                                 \
            fprintf(stderr, "%s:%d: not so: %s: ", __FILE__, __LINE__, #fact);                                         \
            fprintf(stderr, __VA_ARGS__);                                                                              \
            fprintf(stderr, "\n");                                                                                     \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

#endif
