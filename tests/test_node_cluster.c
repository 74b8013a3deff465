/* A whole cluster in one process, from a seed: the node logic of n daemons, clients that come and go, bytes that take
 * their time, connections that break at any byte. The checkers stand outside and see what the clients see.
 *
 *   NODE_SEEDS=200 NODE_FIRST=1   the defaults; a seed that fails is named first */
#include "test.h"

#include "alg/list.h"
#include "base/memory.h"
#include "core/alg.h"
#include "members.h"
#include "node/inside.h"
#include "node/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MEMBERS_MAX = 5, CLIENTS = 16, NAMES = 5, PIPE = 1 << 14, CHAOS = 8000, CALM = 400000 };

/* One direction of a connection: bytes written and not yet read. */
struct pipe {
    uint8_t bytes[PIPE];
    size_t len;
};

struct client {
    uint32_t member;
    struct session *session;
    bool waiting, slow; /* slow: it never lets go by itself; its lease does */
    int name;           /* that it waits for or holds, or -1 */
    bool holds;
    uint32_t slots, mode;
};

/* What has been granted in a name, as seen from outside. */
struct history {
    uint64_t highest_fence, highest_alone;
};

struct cluster {
    uint64_t random, now_ms;
    uint32_t n;
    struct node node[MEMBERS_MAX];
    struct pipe pipe[MEMBERS_MAX][MEMBERS_MAX]; /* from, to */
    bool sees[MEMBERS_MAX][MEMBERS_MAX];        /* this side takes the connection for alive */
    struct client client[CLIENTS];
    struct history history[NAMES];
    unsigned breaks, grants, refused, lost, timed_out;
    bool calm;
    char failure[512];
};

static const char *const member_names[] = {"ant", "bee", "cat", "dog", "elk"};
static const char *const lock_names[NAMES] = {"apple", "plum", "fig", "2 pears", "moot"};

static void complain(struct cluster *c, const char *what, int name)
{
    if (!c->failure[0])
        snprintf(c->failure, sizeof c->failure, "%s (%s)", what, name >= 0 ? lock_names[name] : "no name");
}

/* --------------------------------------------------------------------------------------------------------- checkers */

static void check_grant(struct cluster *c, const struct client *me, uint64_t fence)
{
    struct history *h = &c->history[me->name];
    uint32_t together = 1;

    for (unsigned k = 0; k < CLIENTS; k++) {
        const struct client *other = &c->client[k];

        if (other == me || !other->holds || other->name != me->name)
            continue;
        together++;
        if (other->slots != me->slots)
            complain(c, "one lock held in two kinds", me->name);
        if (!me->slots && !dme_compatible(me->mode, other->mode))
            complain(c, "incompatible holders", me->name);
    }
    if (me->slots && together > me->slots)
        complain(c, "more holders than slots", me->name);
    if (!me->slots && fence <= (me->mode == LOCK_ALONE ? h->highest_fence : h->highest_alone))
        complain(c, "a fence that does not grow", me->name);
    if (h->highest_fence < fence)
        h->highest_fence = fence;
    if (me->mode == LOCK_ALONE && h->highest_alone < fence)
        h->highest_alone = fence;
}

static void hear(struct cluster *c, uint32_t member)
{
    struct node_event e;

    while (node_next(&c->node[member], &e)) {
        struct client *me = e.session->user;

        if (!me || me->name < 0 || strcmp(lock_names[me->name], e.name) != 0 || e.answers != me->waiting) {
            complain(c, "an event for somebody who did not ask", -1);
            return;
        }
        me->waiting = false;
        me->holds = e.state == CLAIM_HELD;
        if (e.state == CLAIM_LOST && !me->slow)
            complain(c, "lost, and it had no lease", me->name);
        if (me->holds)
            check_grant(c, me, e.fence);
        else
            me->name = -1;
        c->grants += e.state == CLAIM_HELD;
        c->refused += e.state == CLAIM_REFUSED;
        c->lost += e.state == CLAIM_LOST;
        c->timed_out += e.state == CLAIM_TIMED_OUT;
    }
}

/* ---------------------------------------------------------------------------------------------------------- network */

static void connect_pair(struct cluster *c, uint32_t i, uint32_t j)
{
    c->pipe[i][j].len = c->pipe[j][i].len = 0;
    c->sees[i][j] = c->sees[j][i] = true;
    link_connected(&c->node[i].member[j]->link);
    link_connected(&c->node[j].member[i]->link);
}

/* A connection breaks: what is under way is gone. One side may notice much later, when the next one is made. */
static void break_pair(struct cluster *c, uint32_t i, uint32_t j)
{
    c->breaks++;
    c->pipe[i][j].len = c->pipe[j][i].len = 0;
    c->sees[i][j] = c->sees[j][i] = false;
    link_disconnected(&c->node[i].member[j]->link);
    if (test_below(&c->random, 2))
        link_disconnected(&c->node[j].member[i]->link);
}

static void write_some(struct cluster *c, uint32_t i, uint32_t j)
{
    struct pipe *p = &c->pipe[i][j];
    size_t len;
    const uint8_t *bytes = link_output(&c->node[i].member[j]->link, &len);

    len = len ? 1 + test_below(&c->random, (uint32_t)len) : 0;
    if (!c->sees[i][j])
        return;
    if (len > PIPE - p->len)
        len = PIPE - p->len;
    memcpy(p->bytes + p->len, bytes, len);
    p->len += len;
    link_wrote(&c->node[i].member[j]->link, len);
}

static void read_some(struct cluster *c, uint32_t i, uint32_t j)
{
    struct pipe *p = &c->pipe[i][j];
    size_t len = p->len ? 1 + test_below(&c->random, (uint32_t)p->len) : 0;

    if (!len || !c->sees[j][i])
        return;
    link_input(&c->node[j].member[i]->link, p->bytes, len);
    p->len -= len;
    memmove(p->bytes, p->bytes + len, p->len);
    node_pump(&c->node[j]);
    hear(c, j);
    if (c->node[j].member[i]->link.state == LINK_ENDING)
        complain(c, c->node[j].member[i]->link.reason, -1);
}

/* ---------------------------------------------------------------------------------------------------------- clients */

static void ask(struct cluster *c, struct client *me)
{
    int name = (int)test_below(&c->random, NAMES);
    struct session_wish wish = {
        .name = lock_names[name], .name_len = strlen(lock_names[name]), .wait_ms = SESSION_FOREVER};
    const char *code;
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (name == 3 || (name == 4 && test_below(&c->random, 2)))
        wish.slots = 2;
    else if (c->node[0].conf.algorithm->rules & 1u << DME_GROUP)
        wish.mode = test_below(&c->random, 3) == 0 ? LOCK_ALONE : LOCK_SHARED + test_below(&c->random, 2);
    if (!c->calm && test_below(&c->random, 4) == 0)
        wish.wait_ms = test_below(&c->random, 20);
    me->slow = test_below(&c->random, 8) == 0;
    if (me->slow)
        wish.ttl_ms = 1 + test_below(&c->random, 20);
    if (!me->session)
        me->session = session_open(&c->node[me->member], me);
    me->slots = wish.slots;
    me->mode = wish.mode;
    code = session_lock(me->session, &wish, &why);
    if (!code) {
        me->name = name;
        me->waiting = true;
        hear(c, me->member);
    } else if (strcmp(code, "WRONGKIND") != 0) {
        complain(c, line, name);
    } else {
        c->refused++;
    }
}

static void leave(struct cluster *c, struct client *me)
{
    me->waiting = me->holds = false;
    me->name = -1;
    session_close(me->session);
    me->session = NULL;
    hear(c, me->member);
}

static void unlock(struct cluster *c, struct client *me)
{
    const char *name = lock_names[me->name];

    me->holds = false;
    me->name = -1;
    if (!session_unlock(me->session, name, strlen(name), 0))
        complain(c, "a holder cannot release", -1);
    hear(c, me->member);
}

static void act(struct cluster *c, struct client *me)
{
    uint32_t dice = test_below(&c->random, 20);

    if (me->session && dice == 0 && !c->calm)
        leave(c, me); /* whatever it does just now */
    else if (me->holds && me->slow && dice < 10)
        session_renew(me->session, lock_names[me->name], strlen(lock_names[me->name]), 0, 1 + dice);
    else if (me->holds && !me->slow)
        unlock(c, me);
    else if (!me->waiting && !me->holds && !c->calm)
        ask(c, me);
}

/* -------------------------------------------------------------------------------------------------------------- runs
 */

static void start(struct cluster *c, uint64_t seed, uint32_t n, const struct dme_alg *algorithm,
                  const struct dme_alg *slots)
{
    c->random = seed;
    c->n = n;
    for (uint32_t i = 0; i < n; i++)
        members_start(&c->node[i],
                      (struct node_conf){.summary = "all the same",
                                         .algorithm = algorithm,
                                         .slots_algorithm = slots,
                                         .fence = test_below(&c->random, 1000)},
                      member_names, n, i);
    for (unsigned k = 0; k < CLIENTS; k++)
        c->client[k] = (struct client){.member = test_below(&c->random, n), .name = -1};
}

static void step(struct cluster *c)
{
    uint32_t i = test_below(&c->random, c->n), j = test_below(&c->random, c->n), dice = test_below(&c->random, 100);

    if (dice < 35 && i != j) {
        write_some(c, i, j);
    } else if (dice < 70 && i != j) {
        read_some(c, i, j);
    } else if (dice < 72 && i != j && !c->sees[i][j] && !c->sees[j][i]) {
        connect_pair(c, i, j);
    } else if (dice == 72 && i != j && c->sees[i][j] && !c->calm) {
        break_pair(c, i, j);
    } else if (dice < 80) {
        node_advance(&c->node[i], c->now_ms += test_below(&c->random, 3));
        hear(c, i);
    } else {
        act(c, &c->client[test_below(&c->random, CLIENTS)]);
    }
}

static bool at_rest(const struct cluster *c)
{
    for (unsigned k = 0; k < CLIENTS; k++)
        if (c->client[k].waiting || c->client[k].holds)
            return false;
    return true;
}

/* Chaos, then calm: nobody comes, connections last, all who wait are served. */
static void run(struct cluster *c)
{
    unsigned patience = CALM;

    for (unsigned k = 0; k < CHAOS && !c->failure[0]; k++)
        step(c);
    c->calm = true;
    while (!at_rest(c) && patience-- && !c->failure[0])
        step(c);
    if (!at_rest(c))
        complain(c, "somebody was never served", -1);
}

/* What was said last arrives; then a member keeps no more than the last few messages, and no state of its locks that is
 * as at first. */
static void drain(struct cluster *c)
{
    for (unsigned k = 0; k < CALM / 4; k++)
        step(c);
    for (uint32_t i = 0; i < c->n; i++)
        for (uint32_t j = 0; j < c->n; j++) {
            const struct link *k = i == j ? NULL : &c->node[i].member[j]->link;

            if (k && (k->made - k->acked >= LINK_ACK_EVERY || k->unsent != k->keep.end))
                complain(c, "messages are kept that have arrived", -1);
        }
}

static void stop(struct cluster *c)
{
    for (unsigned k = 0; k < CLIENTS; k++)
        if (c->client[k].session)
            session_close(c->client[k].session);
    for (uint32_t i = 0; i < c->n; i++)
        node_free(&c->node[i]);
    memset(c, 0, sizeof *c);
}

static uint64_t number_from(const char *name, uint64_t otherwise)
{
    return getenv(name) ? strtoull(getenv(name), NULL, 10) : otherwise;
}

static bool can_run(const struct dme_alg *alg, bool slots)
{
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    return locks_can_run(alg, slots, MEMBERS_MAX, &why);
}

/* A random pair of algorithms that can run locks. */
static void draw_algorithms(uint64_t seed, const struct dme_alg **algorithm, const struct dme_alg **slots)
{
    unsigned count = 0;

    while (alg_list[count])
        count++;
    do
        *algorithm = alg_list[test_below(&seed, count)];
    while (!can_run(*algorithm, false));
    do
        *slots = alg_list[test_below(&seed, count)];
    while (!can_run(*slots, true));
}

static void every_seed_keeps_its_promises(void **state)
{
    struct cluster *c = mem_new(sizeof *c);
    uint64_t first = number_from("NODE_FIRST", 1), seeds = number_from("NODE_SEEDS", 200);
    unsigned breaks = 0, grants = 0, refused = 0, lost = 0, timed_out = 0;

    (void)state;
    for (uint64_t seed = first; seed < first + seeds; seed++) {
        const struct dme_alg *algorithm, *slots;

        draw_algorithms(seed, &algorithm, &slots);
        start(c, seed, 1 + (uint32_t)(seed % MEMBERS_MAX), algorithm, slots);
        run(c);
        if (seed % 8 == 0)
            drain(c);
        if (c->failure[0])
            fail_msg("NODE_FIRST=%llu NODE_SEEDS=1: %u members, %s, %s: %s", (unsigned long long)seed, c->n,
                     algorithm->name, slots->name, c->failure);
        breaks += c->breaks;
        grants += c->grants;
        refused += c->refused;
        lost += c->lost;
        timed_out += c->timed_out;
        stop(c);
    }
    printf("# %u grants, %u refused, %u lost, %u timed out, %u broken connections\n", grants, refused, lost, timed_out,
           breaks);
    free(c);
}

/* The default algorithm of slots returns to its initial state: nothing of it is kept. */
static void what_is_as_at_first_is_freed(void **state)
{
    struct cluster *c = mem_new(sizeof *c);

    (void)state;
    start(c, 7, 3, alg_find("central"), alg_find("central"));
    run(c);
    drain(c);
    assert_string_equal(c->failure, "");
    for (uint32_t i = 0; i < c->n; i++) {
        assert_true(c->node[i].locks.count > 0); /* what they are is remembered */
        for (unsigned k = 0; k < NAMES; k++) {
            struct lock *lock = locks_find(&c->node[i].locks, lock_names[k], strlen(lock_names[k]));

            assert_true(!lock || !lock->site);
        }
    }
    stop(c);
    start(c, 7, 1, alg_find("central"), alg_find("central"));
    run(c);
    assert_string_equal(c->failure, "");
    assert_int_equal(c->node[0].locks.count, 0);
    stop(c);
    free(c);
}

/* ----------------------------------------------------------------------- a checker that cannot fail has not been
 * tested */

static void enter_at_once(struct dme *d, void *state)
{
    (void)state;
    dme_enter(d);
}

static void do_nothing(struct dme *d, void *state)
{
    (void)d;
    (void)state;
}

static void hear_nothing(struct dme *d, void *state, const struct dme_msg *m)
{
    (void)d;
    (void)state;
    (void)m;
}

static const struct dme_kind no_kinds[] = {{"NOTHING", 0, 0}, {0}};
static const struct dme_alg careless = {.name = "careless",
                                        .kinds = no_kinds,
                                        .rules = 1 << DME_GROUP | 1 << DME_SLOTS | 1 << DME_EXCLUSIVE,
                                        .request = enter_at_once,
                                        .receive = hear_nothing,
                                        .release = do_nothing};
static const struct dme_alg lazy = {.name = "lazy",
                                    .kinds = no_kinds,
                                    .rules = 1 << DME_GROUP | 1 << DME_SLOTS | 1 << DME_EXCLUSIVE,
                                    .request = do_nothing,
                                    .receive = hear_nothing,
                                    .release = do_nothing};

/* In some of twenty seeds this is the first thing that goes wrong. */
static void expect_failure(const struct dme_alg *algorithm, const struct dme_alg *slots, const char *what)
{
    struct cluster *c = mem_new(sizeof *c);
    bool seen = false;

    for (uint64_t seed = 1; seed <= 20 && !seen; seed++) {
        start(c, seed, 3, algorithm, slots);
        run(c);
        seen = strstr(c->failure, what);
        stop(c);
    }
    free(c);
    if (!seen)
        fail_msg("nobody noticed: %s", what);
}

static void a_careless_algorithm_is_noticed(void **state)
{
    const struct dme_alg *sound = alg_find("central");

    (void)state;
    expect_failure(&careless, sound, "incompatible holders");
    expect_failure(&careless, sound, "a fence that does not grow");
    expect_failure(sound, &careless, "more holders than slots");
    expect_failure(&lazy, sound, "somebody was never served");
}

/* A message gets lost behind the link's back: the next one is out of sequence, or a number comes back that was not
 * used, or, at the latest, somebody waits for ever. */
static void a_lost_message_is_noticed(void **state)
{
    struct cluster *c = mem_new(sizeof *c);

    (void)state;
    start(c, 4, 3, alg_find("ricart-agrawala"), alg_find("central"));
    while (c->node[0].member[1]->link.received < 5 && !c->failure[0])
        step(c);
    assert_string_equal(c->failure, "");
    c->node[0].member[1]->link.received++;
    run(c);
    assert_string_not_equal(c->failure, "");
    stop(c);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_seed_keeps_its_promises),
        cmocka_unit_test(what_is_as_at_first_is_freed),
        cmocka_unit_test(a_careless_algorithm_is_noticed),
        cmocka_unit_test(a_lost_message_is_noticed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
