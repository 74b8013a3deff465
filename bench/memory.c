/* memory NAMES: how many bytes a member keeps for a lock that nobody uses any more, in a cluster of five.
 *
 * The members are real, without I/O; bytes go from link to link at once. Each name is taken and released once, by a member
 * chosen at random; then once by every member, in random order. What is counted is what malloc has handed out, with its
 * own overhead, beyond what there was before: locks, the state of their algorithms, and the table of names. */
#include "../tests/members.h"

#include "alg/list.h"
#include "core/text.h"
#include "node/session.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS = 5 };

static const char *const names[MEMBERS] = {"ant", "bee", "cat", "dog", "elk"};
static struct node node[MEMBERS];
static struct session *session[MEMBERS];
static uint64_t state = 1;

static uint32_t below(uint32_t limit)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((state >> 33) % limit);
}

/* All that is to be sent arrives, and all that this makes them send. */
static void settle(void)
{
    struct node_event event;
    bool again = true;

    while (again) {
        again = false;
        for (uint32_t i = 0; i < MEMBERS; i++)
            for (uint32_t j = 0; j < MEMBERS; j++) {
                size_t len = 0;
                const uint8_t *bytes = i == j ? NULL : link_output(&node[i].member[j]->link, &len);

                if (len == 0)
                    continue;
                link_input(&node[j].member[i]->link, bytes, len);
                link_wrote(&node[i].member[j]->link, len);
                node_pump(&node[j]);
                again = true;
            }
    }
    for (uint32_t i = 0; i < MEMBERS; i++)
        while (node_next(&node[i], &event))
            ;
}

static void begin(const struct dme_alg *modes, const struct dme_alg *slots)
{
    for (uint32_t i = 0; i < MEMBERS; i++)
        members_start(&node[i], (struct node_conf){.summary = "all the same", .modes = modes, .slots = slots}, names,
                      MEMBERS, i);
    for (uint32_t i = 0; i < MEMBERS; i++) {
        session[i] = session_open(&node[i], NULL);
        for (uint32_t j = 0; j < MEMBERS; j++)
            if (i != j)
                link_connected(&node[i].member[j]->link);
    }
    settle();
}

static void use(uint32_t member, uint32_t number)
{
    struct session_wish wish = {.wait_ms = SESSION_FOREVER};
    struct dme_text why;
    char name[32], line[256];

    wish.name = name;
    wish.name_len = (size_t)snprintf(name, sizeof name, "name-%u", number);
    dme_text_init(&why, line, sizeof line);
    if (session_lock(session[member], &wish, &why)) {
        fprintf(stderr, "memory: %s\n", line);
        exit(1);
    }
    settle();
    if (!session_unlock(session[member], name, wish.name_len, 0)) {
        fprintf(stderr, "memory: %s was not granted\n", name);
        exit(1);
    }
    settle();
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
