/* calls [TOP]: how many functions are called for one LOCK whose token is at another member, and for its UNLOCK; and which,
 * the TOP most frequent of them. Three members, with agreement and leases, in one process; what one sends arrives at once.
 *
 * All is compiled with -finstrument-functions (MODE=calls of the Makefile). A function of a .c file counts whether it is inlined
 * or not; one of a header (ring_empty, bytes_len) does not count, as it is always inlined. What a member does begins with one
 * of the functions of step/step.h; what the driver calls besides is not counted.
 *
 * The exit status is 1 if the first LOCK takes more than CALLS_MAX: the number depends on nothing but the code. */
#include "../tests/cluster.h"

#include "alg/list.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 3, LEASE_MS = 1000, FUNCTIONS_MAX = 4096, CALLS_MAX = 350 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct cluster cluster = {.n = MEMBERS, .node = node, .deaf = true};
static struct cluster_client client[MEMBERS];
static uint64_t now_ms = 1, dice = 1;

/* ---------------------------------------------------------------------------------------------------------- counting */

static struct count {
    void *function;
    unsigned calls;
} count[FUNCTIONS_MAX];
static bool counts;
static unsigned depth; /* functions of a member that were entered, and not left */
static unsigned works; /* the member that works */
static unsigned calls_of[MEMBERS];

enum { ASKS = 1 }; /* the member whose client asks */

__attribute__((no_instrument_function)) void __cyg_profile_func_enter(void *function, void *caller);
__attribute__((no_instrument_function)) void __cyg_profile_func_exit(void *function, void *caller);

static bool is_entry(const void *function)
{
    return function == (void *)node_step || function == (void *)node_next_output || function == (void *)node_did ||
           function == (void *)node_due_ms || function == (void *)node_wants_turns;
}

void __cyg_profile_func_enter(void *function, void *caller)
{
    (void)caller;
    if (counts && depth == 0 && !is_entry(function))
        return;
    depth += counts;
    calls_of[works] += counts;
    for (size_t k = (size_t)function / 16; counts; k++) {
        struct count *c = &count[k % FUNCTIONS_MAX];

        if (!c->function || c->function == function) {
            c->function = function;
            c->calls++;
            return;
        }
    }
}

void __cyg_profile_func_exit(void *function, void *caller)
{
    (void)function, (void)caller;
    depth -= counts && depth;
}

static int by_calls(const void *a, const void *b)
{
    const struct count *x = a, *y = b;

    return x->calls < y->calls ? 1 : x->calls > y->calls ? -1 : 0;
}

/* Returns the number of calls. */
static unsigned report(const char *what, unsigned top)
{
    unsigned calls = 0, functions = 0;

    counts = false;
    qsort(count, FUNCTIONS_MAX, sizeof count[0], by_calls);
    for (unsigned k = 0; k < FUNCTIONS_MAX && count[k].function; k++, functions++)
        calls += count[k].calls;
    printf("%-40s %6u calls of %u functions, %u of them at the client's member\n", what, calls, functions,
           calls_of[ASKS]);
    for (unsigned k = 0; k < top && count[k].function; k++) {
        Dl_info info;

        if (dladdr(count[k].function, &info)) /* the script puts names in place of addresses */
            printf("    %4u %#zx\n", count[k].calls, (size_t)((char *)count[k].function - (char *)info.dli_fbase));
    }
    memset(count, 0, sizeof count);
    memset(calls_of, 0, sizeof calls_of);
    return calls;
}

/* ---------------------------------------------------------------------------------------------------------- the cluster */

static enum disk_status written(void *user, const uint8_t *bytes, size_t len)
{
    (void)user, (void)bytes, (void)len;
    return DISK_WRITTEN;
}

static uint64_t chance(void *user)
{
    (void)user;
    return dice = dice * 6364136223846793005u + 1442695040888963407u;
}

static void start(unsigned k)
{
    static const struct disk disk = {NULL, written, written};
    struct view view;
    char line[256], address[24];
    struct dme_text why;

    view_begin(&view);
    for (unsigned i = 0; i < MEMBERS; i++) {
        snprintf(address, sizeof address, "10.0.0.%u:1", i);
        view_add(&view, names[i], address, VIEW_MEMBER);
    }
    dme_text_init(&why, line, sizeof line);
    node_init(&node[k], &(struct node_conf){.name = names[k],
                                            .summary = "",
                                            .algorithm = alg_find("swaroop-singh"),
                                            .slots_algorithm = alg_find("raymond-k"),
                                            .lease_ms = LEASE_MS,
                                            .random = chance});
    if (!node_agree(&node[k], &disk, NULL, 0, &view, false, now_ms, &why)) {
        fprintf(stderr, "calls: %s\n", line);
        exit(1);
    }
}

static bool all_open(void)
{
    for (unsigned k = 0; k < MEMBERS; k++)
        if (!node_is_open(&node[k]))
            return false;
    return true;
}

static void found(void)
{
    for (unsigned k = 0; k < MEMBERS; k++)
        start(k);
    for (unsigned i = 0; i < MEMBERS; i++)
        cluster_come(&cluster, &client[i], i);
    cluster_connect_all(&cluster);
    for (unsigned step = 0; step < 10000 && !(all_open() && step % 100 == 0); step++) {
        now_ms += 10;
        cluster_pass(&cluster, now_ms);
        cluster_settle(&cluster);
    }
    cluster_settle(&cluster);
}

/* As cluster_settle, but it is known which member works. */
static void settle(void)
{
    size_t some = 1;

    while (some) {
        some = 0;
        for (unsigned i = 0; i < MEMBERS; i++)
            for (works = 0; works < MEMBERS; works++) {
                size_t len = i == works ? 0 : cluster_carry(&cluster, i, works, SIZE_MAX);

                if (len)
                    node_due_ms(&node[works]);
                some += len;
            }
    }
}

static void say(unsigned k, const char *text)
{
    works = k;
    cluster_say(&cluster, &client[k], text);
    node_due_ms(&node[k]);
    settle();
}

int main(int argc, char **argv)
{
    unsigned top = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 0, calls;

    found();
    if (!all_open()) {
        fprintf(stderr, "calls: the members do not come together\n");
        return 1;
    }
    for (unsigned k = 0; k < 10; k++) { /* the token has been everywhere */
        say(k % MEMBERS, "*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n");
        say(k % MEMBERS, "*2\r\n$6\r\nUNLOCK\r\n$1\r\nx\r\n");
    }
    counts = true;
    say(ASKS, "*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n");
    calls = report("LOCK, the token is at another member", top);
    counts = true;
    say(ASKS, "*2\r\n$6\r\nUNLOCK\r\n$1\r\nx\r\n");
    report("UNLOCK", top);
    counts = true;
    say(ASKS, "*2\r\n$4\r\nLOCK\r\n$1\r\nx\r\n");
    report("LOCK, the token is here", top);
    if (calls > CALLS_MAX)
        fprintf(stderr, "calls: a LOCK with one hop takes %u calls; at most %d are wanted\n", calls, CALLS_MAX);
    return calls > CALLS_MAX;
}
