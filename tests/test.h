/* test.h - what every cmocka suite includes. A test's name is a sentence: its function is called what it shows. */
#ifndef DIBS_TESTS_TEST_H
#define DIBS_TESTS_TEST_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

/* A small generator (SplitMix64), so that a failure is a seed and the same on every machine. */
static inline uint64_t test_random(uint64_t *seed)
{
    uint64_t x = *seed += 0x9e3779b97f4a7c15u;

    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
}

static inline uint32_t test_below(uint64_t *seed, uint32_t below)
{
    return (uint32_t)(test_random(seed) % below);
}

#endif
