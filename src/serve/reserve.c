/* reserve.c - a daemon that has no memory left.
 *
 * It must not die on a client's account: other clients hold locks. So some memory is kept in reserve (lab/memory.h). When it
 * is needed, the daemon goes on with it, and refuses what clients want it to keep, until there is enough memory again:
 * requests for locks, questions, subscriptions, and new connections over TCP. UNLOCK and CONFIRM are never refused. Memory
 * that other members make it use, by names of locks and by letters, is not refused: if the reserve is used up, the daemon
 * ends, and says why. */
#include "serve.h"

#include "base/memory.h"

#include <raft.h>
#include <stdlib.h>

enum { RESERVE = 8 << 20 };

/* Libraries that would not know what to do without memory use the reserve, too. */
static void *reserve_raft_new(void *data, size_t size)
{
    (void)data;
    return mem_try(size);
}

static void reserve_raft_free(void *data, void *block)
{
    (void)data;
    free(block);
}

static void *reserve_raft_zeroed(void *data, size_t count, size_t size)
{
    (void)data;
    return mem_try_new(count, size);
}

static void *reserve_raft_grow(void *data, void *block, size_t size)
{
    (void)data;
    return mem_try_grow(block, size);
}

static void *reserve_raft_aligned(void *data, size_t alignment, size_t size)
{
    (void)data;
    return aligned_alloc(alignment, size);
}

static void reserve_raft_free_aligned(void *data, size_t alignment, void *block)
{
    (void)data;
    (void)alignment;
    free(block);
}

void serve_keep_memory(void)
{
    static struct raft_heap heap = {NULL,
                                    reserve_raft_new,
                                    reserve_raft_free,
                                    reserve_raft_zeroed,
                                    reserve_raft_grow,
                                    reserve_raft_aligned,
                                    reserve_raft_free_aligned};

    mem_keep_reserve(RESERVE, "the daemon ends, and its clients lose their locks; give it more memory (ulimit -v, "
                              "MemoryMax), or let clients hold fewer locks");
    uv_replace_allocator(mem_try, mem_try_grow, mem_try_new, free);
    raft_heap_set(&heap);
}

bool serve_is_short(void *user)
{
    (void)user;
    return mem_is_short();
}

/* Clients are refused while memory is short, and the operator is told. */
void serve_mind_memory(struct serve *s)
{
    bool was_short = s->is_short;

    mem_look_again();
    s->is_short = mem_is_short();
    if (s->is_short && !was_short)
        serve_log(s, "out of memory: clients are refused what would have to be kept; give this daemon more memory, or "
                     "let clients hold fewer locks");
    else if (was_short && !s->is_short)
        serve_log(s, "there is memory again");
}
