/* random.h - random numbers that are the same on every machine: xoshiro256** (Blackman and Vigna), seeded by splitmix.
 *
 * A simulation has several streams, one for each purpose, so that two runs with one seed see the same demands whatever
 * the algorithm does in between: differences between algorithms are then not differences of luck. */
#ifndef DIBS_BASE_RANDOM_H
#define DIBS_BASE_RANDOM_H

#include <math.h>
#include <stdint.h>

struct random {
    uint64_t word[4];
};

static inline uint64_t random_splitmix(uint64_t *x)
{
    uint64_t z = (*x += 0x9e3779b97f4a7c15u);

    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static inline void random_seed(struct random *r, uint64_t seed, uint64_t stream)
{
    uint64_t x = seed, y = stream;

    x = random_splitmix(&x) ^ random_splitmix(&y);
    for (unsigned k = 0; k < 4; k++)
        r->word[k] = random_splitmix(&x);
}

static inline uint64_t random_rotate(uint64_t x, unsigned k)
{
    return x << k | x >> (64 - k);
}

static inline uint64_t random_bits(struct random *r)
{
    uint64_t *w = r->word, result = random_rotate(w[1] * 5, 7) * 9, t = w[1] << 17;

    w[2] ^= w[0];
    w[3] ^= w[1];
    w[1] ^= w[2];
    w[0] ^= w[3];
    w[2] ^= t;
    w[3] = random_rotate(w[3], 45);
    return result;
}

/* In (0, 1]: never 0, so its logarithm is finite. */
static inline double random_unit(struct random *r)
{
    return ((double)(random_bits(r) >> 11) + 1) * 0x1p-53;
}

/* In 0 .. n-1. The bias is below n / 2^32. */
static inline uint32_t random_below(struct random *r, uint32_t n)
{
    return (uint32_t)((random_bits(r) >> 32) * n >> 32);
}

static inline double random_exp(struct random *r, double mean)
{
    return -mean * log(random_unit(r));
}

static inline double random_normal(struct random *r)
{
    double radius = sqrt(-2 * log(random_unit(r)));

    return radius * cos(6.283185307179586477 * random_unit(r));
}

#endif
