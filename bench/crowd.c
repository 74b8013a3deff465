/* crowd [CLIENTS]: what one turn of a member costs in which it looks at all clients that wait for a lock.
 *
 * Three members run without I/O in this process (tests/cluster.h). CLIENTS are at one of them, each with one request. A row is an event that is
 * handled in one piece, whatever their number: the processor time of that step of the member, without the outputs that follow from it,
 * which the daemon carries out beside others. The lease is a second, and an eighth of it is the bound for a turn (I31). */
#include "../tests/cluster.h"

#include "alg/list.h"
#include "lock/instance.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMBERS = 3, CLIENTS = 65536 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct cluster cluster = {.n = MEMBERS, .node = node, .deaf = true};
static struct cluster_client *client, other;
static unsigned count = CLIENTS;

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static uint64_t dice(void *nothing)
{
    static uint64_t number;

    (void)nothing;
    return ++number * 0x9e3779b97f4a7c15u;
}

static void begin(void)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        members_start(&node[i],
                      (struct node_conf){.summary = "",
                                         .algorithm = alg_find("swaroop-singh"),
                                         .slots_algorithm = alg_find("central"),
                                         .random = dice},
                      names, MEMBERS, i);
    cluster_connect_all(&cluster);
    cluster_settle(&cluster);
    client = calloc(count, sizeof *client);
    assert(client);
}

static void end(void)
{
    cluster_end(&cluster);
    free(client);
}

/* All that member `from` has for ant arrives, in one step. Returns what the step costs. */
static double step_ms(uint32_t from)
{
    static uint8_t bytes[1 << 24];
    struct bytes *p = &cluster.pipe[from][0];
    size_t len = bytes_len(p);
    double began;

    assert(len && len <= sizeof bytes);
    memcpy(bytes, p->at + p->start, len);
    bytes_consume(p, len);
    began = cpu_ms();
    node_step(&node[0], &(struct node_input){.type = NODE_PEER_BYTES,
                                             .now_ms = node[0].now_ms,
                                             .member = cluster_member(&cluster, 0, from),
                                             .bytes = bytes,
                                             .len = len});
    return cpu_ms() - began;
}

static void row(const char *what, unsigned number, double ms)
{
    printf("%-72s %8u %8.2f ms %6.0f ns each\n", what, number, ms, number ? ms * 1e6 / number : 0);
}

/* A name that is at home at bee. */
static const char *name_of_bee(void)
{
    static char name[16];

    for (unsigned k = 0;; k++) {
        struct lock *lock;

        snprintf(name, sizeof name, "w%u", k);
        cluster_come(&cluster, &other, 1);
        cluster_lock(&cluster, &other, name, "");
        lock = locks_find(&node[1].locks, name, strlen(name));
        if (lock && instance_home(&node[1].locks, lock) == 1)
            return name;
        cluster_go(&cluster, &other, true);
    }
}

/* Clients of ant ask for a lock with slots, and learn that it has none: lock_refuse_others. */
static void measure_refused(void)
{
    const char *name = name_of_bee();
    double ms;

    for (unsigned k = 0; k < count; k++) {
        cluster_come(&cluster, &client[k], 0);
        cluster_lock(&cluster, &client[k], name, "SLOTS 2");
    }
    while (bytes_len(&cluster.pipe[0][1]))
        cluster_carry(&cluster, 0, 1, SIZE_MAX);
    ms = step_ms(1);
    row("waiters are refused, as the lock is of another kind", (unsigned)node[0].stats.refusals, ms);
}

/* Clients of ant with kept sessions were granted locks, and cat acknowledges all their records at once: keep_count_acks. */
static void measure_acknowledged(void)
{
    unsigned pending = 0;
    double ms;

    for (unsigned k = 0; k < count; k++) {
        char name[16];

        snprintf(name, sizeof name, "k%u", k);
        cluster_come(&cluster, &client[k], 0);
        cluster_say(&cluster, &client[k], "SESSION KEEP 100000\n");
        cluster_lock(&cluster, &client[k], name, "");
        for (unsigned more = 1; more;) { /* all but what cat says to ant */
            more = 0;
            for (uint32_t i = 0; i < MEMBERS; i++)
                for (uint32_t j = 0; j < MEMBERS; j++)
                    more += i != j && (i != 2 || j) && cluster_carry(&cluster, i, j, SIZE_MAX);
        }
    }
    for (const struct ring *r = node[0].keep.pending.next; r != &node[0].keep.pending; r = r->next)
        pending++;
    ms = step_ms(2);
    row("records are acknowledged, which clients wait for", pending, ms);
}

/* WAITERS, of a lock with many: query_list_claims, for one question. */
static void measure_listed(void)
{
    static const char question[] = "WAITERS w\n";
    double began, ms;

    cluster_come(&cluster, &other, 0);
    cluster_say(&cluster, &other, "LOCK w\n");
    cluster_settle(&cluster);
    for (unsigned k = 0; k < count; k++) {
        cluster_come(&cluster, &client[k], 0);
        cluster_say(&cluster, &client[k], "LOCK w\n");
    }
    cluster_settle(&cluster);
    began = cpu_ms();
    node_step(&node[0], &(struct node_input){.type = NODE_CLIENT_BYTES,
                                             .now_ms = node[0].now_ms,
                                             .client = other.end,
                                             .bytes = (const uint8_t *)question,
                                             .len = strlen(question)});
    ms = cpu_ms() - began;
    row("waiters are counted, and a thousand of them listed, for one question", (unsigned)node[0].stats.waiters, ms);
}

int main(int argc, char **argv)
{
    static void (*const measure[])(void) = {measure_refused, measure_acknowledged, measure_listed};

    if (argc > 1)
        count = (unsigned)strtoul(argv[1], NULL, 10);
    for (unsigned k = 0; k < sizeof measure / sizeof measure[0]; k++) {
        begin();
        measure[k]();
        end();
    }
    return 0;
}
