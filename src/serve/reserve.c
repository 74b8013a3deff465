/* reserve.c - a daemon that has no memory left, or may not allocate more.
 *
 * A client must not be able to crash the daemon by using up its memory, since other clients hold locks. So the daemon
 * allocates a reserve (base/memory.h). When the reserve is needed, the daemon goes on with it. Until there is enough memory again, it refuses
 * everything that would need more: requests for locks, questions, subscriptions, and new connections over
 * TCP. UNLOCK and CONFIRM are never refused. Memory for other members, for names of locks and letters, is not refused:
 * if the reserve is used up, the daemon ends and says why.
 *
 * An operator can set a bound for the daemon's memory (--memory-max). Beyond it clients are refused the same things.
 * The bound applies to the anonymous resident memory of the process. The daemon asks the kernel for it at most every
 * LOOK_MS, so clients can exceed the bound by what they allocate in between. (The C library would need time in
 * proportion to its free blocks.) */
#include "serve.h"

#include "base/memory.h"

#include <fcntl.h>
#include <inttypes.h>
#include <malloc.h>
#include <raft.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { RESERVE = 8 << 20, LOOK_MS = 10 };

/* libraft uses the reserve, too. A member that cannot take part in agreement must end: so an allocation for libraft
 * either succeeds or ends the daemon with a message. (Only parts of libraft that are not used ask for aligned
 * memory.) */
static void *reserve_raft_new(void *data, size_t size)
{
    (void)data;
    return mem_grow(NULL, size);
}

static void reserve_raft_free(void *data, void *block)
{
    (void)data;
    free(block);
}

static void *reserve_raft_zeroed(void *data, size_t count, size_t size)
{
    (void)data;
    return mem_new(count * size);
}

static void *reserve_raft_grow(void *data, void *block, size_t size)
{
    (void)data;
    return mem_grow(block, size);
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

    /* The C library would keep small blocks that are freed apart, and join all of them at once when it is asked for a large
     * block: after a quarter of a million names have been forgotten, a tenth of a second in one piece. */
    mallopt(M_MXFAST, 0);
    mem_keep_reserve(RESERVE, "the daemon ends, and its clients lose their locks; give it more memory (ulimit -v, "
                              "MemoryMax), or let clients hold fewer locks");
    uv_replace_allocator(mem_try, mem_try_grow, mem_try_new, free);
    raft_heap_set(&heap);
}

const char *serve_is_short(void *user)
{
    const struct serve *s = user;

    return mem_is_short() ? "this daemon is out of memory; try again later, or give it more"
           : s->is_full   ? "this daemon has allocated as much memory as it may; try again later, release locks, or "
                            "raise its --memory-max"
                          : NULL;
}

/* The anonymous resident memory in bytes; 0 if the kernel does not tell. */
static uint64_t reserve_used(void)
{
    static int fd = -1;
    uint64_t resident, shared;
    char text[128];
    ssize_t len;

    if (fd < 0)
        fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    len = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
    if (len <= 0)
        return 0;
    text[len] = '\0';
    if (sscanf(text, "%*s %" SCNu64 " %" SCNu64, &resident, &shared) != 2 || shared > resident)
        return 0;
    return (resident - shared) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void reserve_look(struct serve *s)
{
    uint64_t now = uv_hrtime(), bound = s->conf->memory_max;

    if (now < s->memory_look_ns)
        return;
    s->node.stats.memory = reserve_used();
    s->node.stats.memory_max = bound;
    s->memory_look_ns = now + LOOK_MS * 1000000;
    s->is_full = bound && s->node.stats.memory >= (s->is_full ? bound - bound / 16 : bound);
}

/* Decides whether clients are refused requests that need memory, and logs when that changes. */
void serve_mind_memory(struct serve *s)
{
    bool was_short = s->is_short, was_full = s->is_full;

    mem_look_again();
    reserve_look(s);
    s->is_short = mem_is_short();
    if (s->is_short && !was_short)
        serve_warn(s, "out of memory: clients are refused what would have to be kept; give this daemon more memory, or "
                      "let clients hold fewer locks");
    else if (was_short && !s->is_short)
        serve_log(s, "memory is available again");
    if (s->is_full && !was_full)
        serve_warn(s,
                   "%" PRIu64 " bytes are allocated, and %" PRIu64
                   " are the bound: clients are refused what would have to be kept; raise --memory-max, or let clients "
                   "hold fewer locks",
                   s->node.stats.memory, s->conf->memory_max);
    else if (was_full && !s->is_full)
        serve_log(s, "there is room below --memory-max again");
}
