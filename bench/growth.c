/* growth [DIVISOR [LIMIT]]: what an operation costs while names, held locks, waiters, connections, subscriptions, holders of one
 * lock and locks of tokens grow.
 *
 * Three members run without I/O in this process (tests/cluster.h). All clients are at one member and use its
 * protocol. A row has the number there is of something; what it took to add one, for those since the row before; and what it
 * then takes another client to lock and unlock a name of its own, or the same one where that can be: in processor time of all three members together, and as a
 * multiple of the first row. Cost that does not depend on the number has a multiple of about 1; where each one more makes all
 * others dearer, it is the multiple of the numbers, 100. With a LIMIT, the status is 1 if a multiple is larger.
 *
 * The numbers are those of the table below, divided by DIVISOR. */
#include "../tests/cluster.h"

#include "alg/list.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MEMBERS = 3, STEPS = 3, ROUNDS = 2000, CLIENTS_MAX = 10100, PER_CLIENT = 50000, SUBSCRIPTIONS_PER_CLIENT = 250 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat"};
static struct node node[MEMBERS];
static struct cluster cluster = {.n = MEMBERS, .node = node, .deaf = true};
static struct cluster_client client[CLIENTS_MAX]; /* the first one is the other client */
static unsigned clients;
static uint64_t now_ms;

static void say(struct cluster_client *c, const char *text)
{
    cluster_tell(&cluster, 0,
                 (struct node_input){.type = NODE_CLIENT_BYTES,
                                     .now_ms = ++now_ms / 100,
                                     .client = c->end,
                                     .bytes = (const uint8_t *)text,
                                     .len = strlen(text)});
    cluster_settle(&cluster);
}

static struct cluster_client *come(void)
{
    cluster_come(&cluster, &client[clients], 0);
    return &client[clients++];
}

static void begin(void)
{
    const struct dme_alg *algorithm = alg_find("swaroop-singh"), *slots = alg_find("central");

    for (uint32_t i = 0; i < MEMBERS; i++)
        members_start(&node[i], (struct node_conf){.summary = "", .algorithm = algorithm, .slots_algorithm = slots},
                      names, MEMBERS, i);
    cluster_connect_all(&cluster);
    cluster_settle(&cluster);
    come();
}

static void end(void)
{
    cluster_end(&cluster);
    clients = 0;
}

static double cpu_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

/* ---------------------------------------------------------------------------------------------------- what grows */

static void add_name(unsigned k)
{
    char text[64];

    if (k == 0)
        come();
    snprintf(text, sizeof text, "LOCK n%u\nUNLOCK n%u\n", k, k);
    say(&client[1], text);
}

static void add_held(unsigned k)
{
    char text[32];

    snprintf(text, sizeof text, "LOCK h%u\n", k);
    say(k % PER_CLIENT ? &client[clients - 1] : come(), text);
}

static void add_waiter(unsigned k)
{
    if (k == 0)
        say(come(), "LOCK w\n");
    say(come(), "LOCK w\n");
}

static void add_connection(unsigned k)
{
    (void)k;
    say(come(), "PING\n");
}

static void add_subscription(unsigned k)
{
    char text[64];

    snprintf(text, sizeof text, k % 2 ? "SUBSCRIBE s%u\n" : "PSUBSCRIBE s%u*\n", k);
    say(k % SUBSCRIPTIONS_PER_CLIENT ? &client[clients - 1] : come(), text);
}

static void add_sharer(unsigned k)
{
    (void)k;
    say(come(), "LOCK s SHARED\n");
}

static void add_token(unsigned k)
{
    char text[64];

    if (k == 0)
        come();
    snprintf(text, sizeof text, "SET t%u x NX PX 100000000\n", k);
    say(&client[1], text);
}

static const char usual[] = "LOCK other\nUNLOCK other\n";

static const struct {
    const char *what;
    unsigned most;
    void (*add)(unsigned k);
    const char *other; /* what the other client does */
} growths[] = {{"idle names", 1000000, add_name, usual},
               {"held locks", 200000, add_held, usual},
               {"waiters of one lock", 10000, add_waiter, usual},
               {"waiters, and a client that tries", 10000, add_waiter, "LOCK w WAIT 0\n"},
               {"holders that share one lock", 10000, add_sharer, "LOCK s SHARED\nCONFIRM s\nUNLOCK s\n"},
               {"connections", 10000, add_connection, usual},
               {"subscriptions", 100000, add_subscription, usual},
               {"locks of tokens", 100000, add_token, "SET other x NX PX 9999\nDEL other\n"}};

/* Of the other client, in the best of some tries. */
static double other_us(const char *does)
{
    double best = 1e12;

    for (unsigned k = 0; k < 5; k++) {
        double from = cpu_us(), took;

        for (unsigned i = 0; i < ROUNDS / 5; i++)
            say(&client[0], does);
        took = (cpu_us() - from) / (ROUNDS / 5);
        best = took < best ? took : best;
    }
    return best;
}

int main(int argc, char **argv)
{
    unsigned divisor = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 1;
    double limit = argc > 2 ? strtod(argv[2], NULL) : 0;
    int status = 0;

    printf("| what grows | number | to add one | multiple | another client's lock and unlock | multiple "
           "|\n|---|---|---|---|---|---|\n");
    for (unsigned g = 0; g < sizeof growths / sizeof growths[0]; g++) {
        unsigned have = 0, at = growths[g].most / (divisor ? divisor : 1) / 100;
        double first_add = 0, first_other = 0;

        begin();
        for (unsigned step = 0; step < STEPS; step++, at *= 10) {
            unsigned before = have;
            double from = cpu_us(), add, other;

            for (; have < at; have++)
                growths[g].add(have);
            add = (cpu_us() - from) / (have - before);
            other = other_us(growths[g].other);
            first_add = step ? first_add : add;
            first_other = step ? first_other : other;
            printf("| %s | %u | %.1f us | %.1f | %.1f us | %.1f |\n", growths[g].what, have, add, add / first_add,
                   other, other / first_other);
            fflush(stdout);
            status |= limit > 0 && (add > limit * first_add || other > limit * first_other);
        }
        end();
    }
    return status;
}
