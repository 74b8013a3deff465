/* schedules.c - published worst cases, reached step by step: this code chooses which message arrives next.
 *
 * Ricart and Agrawala's appendix: how many entries of others may come between a site's choice of a number and its
 * entry. The unlucky site is the last, n-1. */
#include "alg/list.h"
#include "base/memory.h"
#include "lab/world.h"
#include "paper.h"

#include <assert.h>
#include <stdlib.h>

enum { REQUEST, REPLY, ANY_KIND };
enum { ANY_SITE = DME_NONE };

static void play(struct lab_world *w, uint32_t type, dme_id site)
{
    const char *objection = world_move(w, &(struct world_move){.type = type, .site = site});

    assert(!objection && !w->out->fault);
    (void)objection;
}

static bool matches(const struct dme_msg *m, dme_id from, dme_id to, unsigned kind)
{
    return (from == ANY_SITE || m->from == from) && (to == ANY_SITE || m->to == to) &&
           (kind == ANY_KIND || m->kind == kind);
}

/* Delivers what matches, the oldest first, as often as something does. Needs: what the network has promised. */
static void deliver(struct lab_world *w, dme_id from, dme_id to, unsigned kind, uint32_t needs)
{
    for (size_t k = 0; k < w->flights;) {
        if (matches(w->flight[k].msg, from, to, kind)) {
            struct world_move move = world_delivery(w, k);

            assert(world_may_arrive(w, k, needs));
            world_move(w, &move);
            k = 0;
        } else {
            k++;
        }
    }
    (void)needs;
}

static struct lab_world *ricart_agrawala_world(unsigned sites)
{
    struct dme_conf conf;

    dme_conf_init(&conf, alg_find("ricart-agrawala"), sites, DME_EXCLUSIVE, 0);
    return world_new(&conf);
}

/* Each site hears of the one before, and of no other, and asks: site i asks with number i+1. */
static void ask_in_a_chain(struct lab_world *w, dme_id last)
{
    play(w, DME_REQUEST, 0);
    for (dme_id i = 1; i <= last; i++) {
        deliver(w, i - 1, i, REQUEST, 0);
        play(w, DME_REQUEST, i);
    }
}

/* It has the oldest claim: all its requests arrive, then all answers to it; it enters and leaves. */
static void serve(struct lab_world *w, dme_id site, uint32_t needs)
{
    deliver(w, site, ANY_SITE, REQUEST, needs);
    deliver(w, ANY_SITE, site, needs & DME_FIFO ? ANY_KIND : REPLY, needs);
    play(w, DME_RELEASE, site);
}

static double finish(struct lab_world *w, dme_id unlucky)
{
    uint64_t entries = w->entries;

    assert(w->node[unlucky]->phase == DME_WAITING);
    deliver(w, ANY_SITE, ANY_SITE, ANY_KIND, 0);
    assert(w->node[unlucky]->phase == DME_INSIDE);
    world_free(w);
    return (double)entries;
}

double paper_overtaking_any(unsigned sites)
{
    struct lab_world *w = ricart_agrawala_world(sites);

    ask_in_a_chain(w, sites - 1);
    /* The unlucky site has number n. Below that, a site that has been served asks again at once, with the next number;
     * the unlucky site's answers overtake its own request. */
    for (unsigned number = 1; number <= sites; number++)
        for (dme_id i = 0; i < number && i < sites - 1; i++) {
            serve(w, i, 0);
            if (number < sites)
                play(w, DME_REQUEST, i);
        }
    return finish(w, sites - 1);
}

/* Delivers the next message to any site but `site`, or, if there is none, to `site`. */
static void deliver_to_others_first(struct lab_world *w, dme_id site)
{
    size_t next = 0;
    struct world_move move;

    while (next < w->flights && w->flight[next].msg->to == site)
        next++;
    move = world_delivery(w, next < w->flights ? next : 0);
    world_move(w, &move);
}

double paper_entries_once_processed(unsigned sites)
{
    struct lab_world *w = ricart_agrawala_world(sites);
    unsigned *entries = mem_new(sites * sizeof *entries), most = 0;

    for (dme_id i = 0; i < sites; i++)
        play(w, DME_REQUEST, i);
    deliver(w, sites - 1, ANY_SITE, REQUEST, 0);
    while (w->node[sites - 1]->phase != DME_INSIDE) {
        deliver_to_others_first(w, sites - 1);
        for (dme_id i = 0; i < sites - 1; i++)
            if (w->node[i]->phase == DME_INSIDE) {
                entries[i]++;
                most = entries[i] > most ? entries[i] : most;
                play(w, DME_RELEASE, i);
                play(w, DME_REQUEST, i);
            }
    }
    free(entries);
    world_free(w);
    return most;
}

double paper_overtaking_fifo(unsigned sites)
{
    struct lab_world *w = ricart_agrawala_world(sites);

    ask_in_a_chain(w, sites - 2);
    deliver(w, ANY_SITE, sites - 1, REQUEST, DME_FIFO);
    play(w, DME_REQUEST, sites - 1); /* number n; no site hears of it yet */
    for (dme_id i = 0; i < sites - 1; i++) {
        deliver(w, i, ANY_SITE, REQUEST, DME_FIFO);
        for (dme_id j = 0; j < sites - 1; j++)
            deliver(w, j, i, ANY_KIND, DME_FIFO);
        deliver(w, sites - 1, i, REPLY, DME_FIFO); /* but not the request behind it */
        play(w, DME_RELEASE, i);
    }
    for (dme_id i = 0; i < sites - 1; i++)
        play(w, DME_REQUEST, i); /* number n too, and a lower site goes first */
    for (dme_id i = 0; i < sites - 1; i++)
        serve(w, i, DME_FIFO);
    return finish(w, sites - 1);
}

/* --------------------------------------------------------------------------------- what an invocation costs, Lamport */

/* All sites ask at once, and then every message is delivered, the oldest first; a site that is inside leaves. */
static void lamport_costs(unsigned sites, uint64_t *least, uint64_t *most)
{
    enum { LAMPORT_REPLY = 1 };
    struct dme_conf conf;
    struct dme_text wrong;
    char line[128];
    struct lab_world *w;
    uint64_t *replies = mem_new(sites * sizeof *replies);

    dme_text_init(&wrong, line, sizeof line);
    dme_conf_init(&conf, alg_find("lamport"), sites, DME_EXCLUSIVE, 0);
    dme_conf_set(&conf, "omit", "lecture", &wrong);
    w = world_new(&conf);
    for (dme_id i = 0; i < sites; i++)
        play(w, DME_REQUEST, i);
    while (w->entries < sites || w->flights) {
        for (dme_id i = 0; i < sites; i++)
            if (w->node[i]->phase == DME_INSIDE)
                play(w, DME_RELEASE, i);
        if (w->flights) {
            struct world_move move = world_delivery(w, 0);

            if (w->flight[0].msg->kind == LAMPORT_REPLY)
                replies[w->flight[0].msg->to]++;
            world_move(w, &move);
        }
    }
    *least = UINT64_MAX, *most = 0;
    for (dme_id i = 0; i < sites; i++) { /* a REQUEST and a RELEASE to every other site, and the replies to it */
        uint64_t cost = 2 * (sites - 1) + replies[i];

        *least = cost < *least ? cost : *least;
        *most = cost > *most ? cost : *most;
    }
    free(replies);
    world_free(w);
}

double paper_lamport_least(unsigned sites)
{
    uint64_t least, most;

    lamport_costs(sites, &least, &most);
    return (double)least;
}

double paper_lamport_most(unsigned sites)
{
    uint64_t least, most;

    lamport_costs(sites, &least, &most);
    return (double)most;
}

/* --------------------------------------------------------------------------------- messages of a follower, and others */

static void settle(struct lab_world *w)
{
    while (w->flights) {
        struct world_move move = world_delivery(w, 0);

        world_move(w, &move);
    }
}

static void ask_in_mode(struct lab_world *w, dme_id site, uint32_t mode)
{
    const char *objection = world_move(w, &(struct world_move){.type = DME_REQUEST, .site = site, .arg = mode});

    assert(!objection);
    (void)objection;
}

/* Swaroop and Singh: while the captain is inside, the last site asks for its session, enters and leaves. */
double paper_swaroop_follower(unsigned sites)
{
    struct dme_conf conf;
    struct lab_world *w;
    uint64_t sent;

    dme_conf_init(&conf, alg_find("swaroop-singh"), sites, DME_GROUP, 2);
    w = world_new(&conf);
    ask_in_mode(w, 0, 1);
    ask_in_mode(w, sites - 1, 1);
    settle(w);
    play(w, DME_RELEASE, sites - 1);
    settle(w);
    sent = w->sent;
    world_free(w);
    return (double)sent;
}

/* Ricart and Agrawala's readers and writers: a writer is inside, a reader asks, another writer asks. The place in which
 * the second writer enters. */
double paper_writer_place(unsigned sites)
{
    enum { WRITER = 0, READER = 1 };
    struct dme_conf conf;
    struct lab_world *w;
    double place = 0;

    dme_conf_init(&conf, alg_find("ricart-agrawala"), sites, DME_SHARED, 0);
    w = world_new(&conf);
    ask_in_mode(w, 0, WRITER);
    settle(w);
    ask_in_mode(w, 1, READER);
    settle(w);
    ask_in_mode(w, 2, WRITER);
    settle(w);
    for (dme_id i = 0; place == 0 && i < 3; i++) {
        if (w->node[2]->phase == DME_INSIDE)
            place = (double)w->entries;
        else
            play(w, DME_RELEASE, i);
        settle(w);
    }
    place = w->node[2]->phase == DME_INSIDE ? (double)w->entries : place;
    world_free(w);
    return place;
}

/* Two sites ask with the same number, T = 1: one at 0, the other at 0.5. The time of the first entry. */
static double first_entry(dme_id earlier)
{
    struct load_line lines[2] = {{.at = 0, .site = earlier, .next = SIZE_MAX},
                                 {.at = 0.5, .site = !earlier, .next = SIZE_MAX}};
    struct sim_spec spec = {
        .entries = 2, .log_entries = true, .load = {.type = LOAD_SCRIPT, .line = lines, .lines = 2}};
    struct sim_result result;
    struct dme_text wrong;
    char line[256];
    double at;

    dme_text_init(&wrong, line, sizeof line);
    dme_conf_init(&spec.conf, alg_find("ricart-agrawala"), 2, DME_EXCLUSIVE, 0);
    if (!delay_parse(&spec.delay, "const:1", 2, &wrong) || !dist_parse(&spec.hold, "0.1", &wrong) ||
        !sim_run(&spec, &result, &wrong) || !result.logged)
        return 0;
    at = result.log[0].at;
    sim_result_free(&result);
    delay_free(&spec.delay);
    return at;
}

double paper_first_entry_in_order(unsigned sites)
{
    (void)sites;
    return first_entry(0);
}

double paper_first_entry_out_of_order(unsigned sites)
{
    (void)sites;
    return first_entry(1);
}
