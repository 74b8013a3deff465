/* keep_cluster.h - clients of three.h whose sessions are kept, for the tests of node/keep.h (test_keep*.c). */
#ifndef DIBS_TESTS_KEEP_CLUSTER_H
#define DIBS_TESTS_KEEP_CLUSTER_H

#include "node/keep_inside.h"
#include "three.h"

static char id[33]; /* of the session that was kept last */

/* The id in the answer to SESSION KEEP. */
static inline void note_id(const char *answer)
{
    assert_int_equal(strncmp(answer, "$32 ", 4), 0);
    memcpy(id, answer + 4, 32);
}

static inline void keep(unsigned k, const char *words)
{
    say(k, words);
    note_id(said(k));
}

static inline void resume(unsigned k)
{
    char words[80];

    snprintf(words, sizeof words, "SESSION RESUME %s", id);
    say(k, words);
}

/* A kept session of this client holds x. */
static inline uint64_t hold(unsigned k)
{
    uint64_t fence;

    keep(k, "SESSION KEEP 10000");
    say(k, "LOCK x");
    settle();
    fence = fence_of(said(k));
    assert_true(fence > 0);
    return fence;
}

/* Client k gets x, now that it is free. */
static inline void assert_free(unsigned k, uint64_t fence)
{
    settle();
    assert_true(fence_of(said(k)) > fence);
}

#endif
