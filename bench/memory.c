/* memory NAMES: how many bytes a member keeps for a lock that no client uses any more, in a cluster of five.
 *
 * The members are real, without I/O (tests/cluster.h). Each name is taken and released once, by a member
 * chosen at random; then once by every member, in random order. It counts the bytes that malloc has handed out, with its
 * own overhead, beyond what there was before: locks, the state of their algorithms, and the table of names. */
#include "../tests/cluster.h"

#include "alg/list.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 5 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat", "dog", "elk"};
static struct node node[MEMBERS];
static struct cluster cluster = {.n = MEMBERS, .node = node, .deaf = true};
static struct cluster_client client[MEMBERS];
static uint64_t state = 1;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % limit);
}

static void begin(const struct dme_alg *algorithm, const struct dme_alg *slots)
{
    for (uint32_t i = 0; i < MEMBERS; i++) {
        members_start(&node[i],
                      (struct node_conf){.summary = "all the same", .algorithm = algorithm, .slots_algorithm = slots},
                      names, MEMBERS, i);
        cluster_come(&cluster, &client[i], i);
    }
    cluster_connect_all(&cluster);
    cluster_settle(&cluster);
}

static void say(uint32_t member, const char *what, uint32_t number)
{
    char line[64];

    snprintf(line, sizeof line, "%s name-%u\n", what, number);
    cluster_say(&cluster, &client[member], line);
    cluster_settle(&cluster);
}

static void use(uint32_t member, uint32_t number)
{
    say(member, "LOCK", number);
    if (client[member].end->session->held != 1) {
        fprintf(stderr, "memory: name-%u was not granted\n", number);
        exit(1);
    }
    say(member, "UNLOCK", number);
}

static void use_by_all(uint32_t number)
{
    uint32_t order[MEMBERS] = {0, 1, 2, 3, 4};

    for (uint32_t k = MEMBERS; k > 0; k--) {
        uint32_t pick = below(k), member = order[pick];

        order[pick] = order[k - 1];
        use(member, number);
    }
}

int main(int argc, char **argv)
{
    uint32_t count = argc == 2 ? (uint32_t)strtoul(argv[1], NULL, 10) : 0;
    size_t before;

    if (count == 0) {
        fprintf(stderr, "usage: memory NAMES\n");
        return 2;
    }
    begin(alg_find("swaroop-singh"), alg_find("central"));
    before = mallinfo2().uordblks;
    for (uint32_t k = 0; k < count; k++)
        use(below(MEMBERS), k);
    printf("%u names, used once each           %6.1f bytes per idle lock and member\n", count,
           (double)(mallinfo2().uordblks - before) / count / MEMBERS);
    for (uint32_t k = 0; k < count; k++)
        use_by_all(k);
    printf("%u names, used once by each member %6.1f bytes per idle lock and member\n", count,
           (double)(mallinfo2().uordblks - before) / count / MEMBERS);
    return 0;
}
