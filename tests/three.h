/* three.h - three members without agreement, or as many as MEMBERS says, whose views are installed by hand, and their clients: for tests of
 * what becomes of locks and sessions when the view changes. */
#ifndef DIBS_TESTS_THREE_H
#define DIBS_TESTS_THREE_H

#include "test.h"

#include "alg/list.h"
#include "cluster.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef MEMBERS
#define MEMBERS 3
#endif
enum { CLIENTS = 2 * MEMBERS };

static const char *const member_names[] = {"ant", "bee", "cat", "dog"};
static struct node node[MEMBERS];
static struct cluster three = {.n = MEMBERS, .node = node};
static struct cluster_client client[CLIENTS]; /* client k is at member k % MEMBERS */
static struct view now_view;
static uint64_t dice, now_ms;
static struct node_conf options; /* of the members that start */

static inline uint64_t chance(void *user)
{
    (void)user;
    return test_random(&dice);
}

static inline void come(unsigned k)
{
    cluster_come(&three, &client[k], k % MEMBERS);
}

/* The connection ends; or it breaks. */
static inline void go(unsigned k)
{
    cluster_go(&three, &client[k], true);
}

static inline void fall(unsigned k)
{
    cluster_go(&three, &client[k], false);
}

static inline void start_member(unsigned i, uint64_t incarnation)
{
    struct node_conf conf = options;

    conf.summary = "same";
    if (!conf.algorithm)
        conf.algorithm = alg_find("suzuki-kasami");
    conf.slots_algorithm = alg_find("central");
    conf.incarnation = incarnation;
    conf.random = chance;
    members_start(&node[i], conf, member_names, MEMBERS, i);
    three.dead[i] = false;
}

/* A member that was killed is there again, as another incarnation, and knows the view. */
static inline void start_again(unsigned i)
{
    start_member(i, 10);
    node[i].view = now_view;
    cluster_tell(&three, i, (struct node_input){.type = NODE_TIME, .now_ms = now_ms});
    for (unsigned k = 0; k < MEMBERS; k++)
        if (k != i)
            cluster_connect(&three, i, k);
}

/* All that is under way between these two arrives, in one turn. How much that was. */
static inline size_t carry(unsigned from, unsigned to)
{
    size_t len = cluster_carry(&three, from, to, SIZE_MAX);

    assert_true(three.dead[to] || !node[to].member[from]->link.banned);
    return len;
}

/* A turn of member i in which it hears nothing. */
static inline void turn(unsigned i)
{
    cluster_tell(&three, i, (struct node_input){.type = NODE_TIME});
}

static inline void settle(void)
{
    cluster_settle(&three);
}

static inline void pass(uint64_t ms)
{
    now_ms += ms;
    cluster_pass(&three, now_ms);
    settle();
}

static inline void start(void)
{
    dice = now_ms = 1;
    for (unsigned i = 0; i < MEMBERS; i++)
        start_member(i, i + 1);
    cluster_pass(&three, now_ms);
    now_view = node[0].view;
    cluster_connect_all(&three);
    for (unsigned k = 0; k < CLIENTS; k++)
        come(k);
    settle();
}

static inline void kill_member(unsigned i)
{
    for (unsigned k = i; k < CLIENTS; k += MEMBERS)
        go(k);
    cluster_kill(&three, i);
}

static inline void stop(void)
{
    for (unsigned k = 0; k < CLIENTS; k++) {
        if (!three.dead[client[k].member])
            go(k);
        bytes_free(&client[k].heard);
    }
    cluster_end(&three);
}

/* The view that was made last, at member i, which has a turn then. */
static inline void install_at(unsigned i)
{
    node_install(&node[i], &now_view);
    turn(i);
}

/* The next view, which has those members that run. */
static inline void install(void)
{
    now_view.number++;
    for (unsigned i = 0; i < MEMBERS; i++) {
        uint64_t incarnation = three.dead[i] ? 0 : node[i].self.incarnation;

        if (incarnation != now_view.member[i].incarnation)
            now_view.member[i].since = now_view.number;
        now_view.member[i].incarnation = incarnation;
    }
    for (unsigned i = 0; i < MEMBERS; i++)
        if (!three.dead[i])
            install_at(i);
}

static inline void say(unsigned k, const char *words)
{
    char line[128];

    snprintf(line, sizeof line, "%s\n", words);
    bytes_free(&client[k].heard);
    cluster_say(&three, &client[k], line);
}

/* What it was told since it last said something, and has not been read. */
static inline const char *said(unsigned k)
{
    return cluster_heard(&client[k]);
}

/* ---- Events rather than bytes. */
static unsigned tidings[CLAIM_WITHDRAWN + 1]; /* by state: events of clients of the first member, so far */

static inline void note_event(void *user, struct client *c, const struct node_event *event)
{
    const struct cluster_client *me = client_user(c);

    cluster_told(user, c, event);
    tidings[event->state] += me->member == 0;
}

static inline void start_with(struct node_conf conf)
{
    options = conf;
    options.told = note_event;
    memset(tidings, 0, sizeof tidings);
    start();
}

static inline void want(unsigned k, const char *name, uint32_t slots)
{
    char words[24] = "";

    if (slots)
        snprintf(words, sizeof words, "SLOTS %u", slots);
    cluster_lock(&three, &client[k], name, words);
}

/* The fence that it was granted since the last time; 0: nothing, or it was refused. */
static inline uint64_t granted(unsigned k)
{
    uint64_t fence = cluster_is_told(&client[k], CLAIM_HELD) ? client[k].event.fence : 0;

    client[k].events = 0;
    return fence;
}

static inline void unlock(unsigned k, const char *name)
{
    char words[64];

    snprintf(words, sizeof words, "UNLOCK %s", name);
    say(k, words);
    assert_int_equal(strncmp(said(k), "+OK", 3), 0);
}

/* It holds some-0, some-1 .. */
static inline void take_some(unsigned k, unsigned count)
{
    for (unsigned j = 0; j < count; j++) {
        char name[24];

        snprintf(name, sizeof name, "some-%u", j);
        want(k, name, 0);
        settle();
        assert_true(granted(k) > 0);
    }
}

/* ---- Bytes. */
/* The fence in the answer to a LOCK, or of the first lock of RESUMED. */
static inline uint64_t fence_of(const char *answer)
{
    const char *at = strchr(answer, ':');

    return at ? strtoull(at + 1, NULL, 10) : 0;
}

#endif
