/* Random runs of every algorithm under every rule, on a network that keeps no promise but those the algorithm needs.
 *
 * Honest runs: whatever happens in whatever order, the rule holds, nothing contradicts the protocol, and when all have
 * left and everything has arrived, no site waits.
 * Runs with a liar: sites also receive messages that decode but were never sent. Then anything may happen, but a site
 * only ever says "fault": it never fails an assertion, never touches memory that is not its own, and its state stays
 * well-formed (alg->malformed).
 * Invariants: I4, I5, I8. */
#include "fuzz.h"

#include "alg/list.h"
#include "core/wire.h"
#include "lab/world.h"

#include <string.h>

enum { DRAIN_MAX = 20000 };

struct run {
    struct lab_world *w;
    struct fuzz_input in;
    bool liar;
    uint8_t dead[16]; /* the site has faulted: nothing happens there any more */
    uint32_t timer;   /* all get their turn */
};

/* How many values an option has, as far as a byte can choose. */
static uint64_t run_choices(const struct dme_option *o)
{
    uint64_t count = 0;

    if (!o->choices)
        return o->max - o->min < 255 ? o->max - o->min + 1 : 256;
    while (o->choices[count])
        count++;
    return count;
}

/* Options as the input has them, if they go together. */
static void run_options(struct dme_conf *conf, struct fuzz_input *in)
{
    struct dme_conf with = *conf;
    char line[256];
    struct dme_text text;

    for (unsigned k = 0; conf->alg->options && conf->alg->options[k].key; k++)
        with.option[k] = conf->alg->options[k].min + fuzz_take(in) % run_choices(&conf->alg->options[k]);
    dme_text_init(&text, line, sizeof line);
    if (dme_conf_check(&with, &text))
        *conf = with;
}

static bool run_conf(struct dme_conf *conf, struct fuzz_input *in)
{
    unsigned algorithms = 0, rule = 0;
    const struct dme_alg *alg;
    char line[256];
    struct dme_text text;

    while (alg_list[algorithms])
        algorithms++;
    alg = alg_list[fuzz_take(in) % algorithms];
    for (unsigned skip = fuzz_take(in) % 4; skip || !(alg->rules & 1u << rule); rule = (rule + 1) % DME_RULES)
        skip -= skip && alg->rules & 1u << rule;
    dme_conf_init(conf, alg, 1 + fuzz_take(in) % 7, rule, rule == DME_SLOTS || rule == DME_GROUP ? 2 : 0);
    run_options(conf, in);
    dme_text_init(&text, line, sizeof line);
    return dme_conf_check(conf, &text);
}

/* What a site has sent, any other site can decode: the service would refuse it otherwise. */
static void run_check_sent(const struct lab_world *w)
{
    uint8_t *bytes = malloc(dme_wire_max(&w->conf));
    struct dme_msg *again = malloc(dme_msg_size_max(&w->conf));

    for (size_t k = 0; k < w->flights; k++) {
        const struct dme_msg *m = w->flight[k].msg;
        const char *wrong = NULL;

        if (m->kind < DME_NEWS && m->from != m->to) /* else it is no message between sites */
            wrong = dme_decode(&w->conf, m->from, m->to, bytes, dme_encode(m, bytes), again);
        FUZZ_EXPECT(!wrong, "%s: %s", w->conf.alg->name, wrong);
    }
    free(again);
    free(bytes);
}

static void run_move(struct run *r, const struct world_move *move)
{
    struct lab_world *w = r->w;

    if (r->dead[move->site])
        return;
    FUZZ_EXPECT(!world_move(w, move), "%s", w->conf.alg->name);
    if (r->liar) {
        r->dead[move->site] = w->out->fault != NULL;
        FUZZ_EXPECT(w->out->fault || !dme_malformed(&w->conf, w->node[move->site]), "%s: %s", w->conf.alg->name,
                    dme_malformed(&w->conf, w->node[move->site]));
        return;
    }
    FUZZ_EXPECT(!w->out->fault, "%s: %s", w->conf.alg->name, w->out->fault);
    FUZZ_EXPECT(world_safe(w), "%s", w->conf.alg->name);
    run_check_sent(w);
    FUZZ_EXPECT(w->conf.alg->flaw || !world_broken(w), "%s: %s", w->conf.alg->name, world_broken(w));
}

/* A message that decodes, from a site that did not send it: made up, or one in flight once more. */
static void run_lie(struct run *r)
{
    static const uint64_t clocks[] = {0, 1, 2, 3, 5, 8, UINT64_MAX - 1, UINT64_MAX};
    struct lab_world *w = r->w;
    struct dme_msg *m = malloc(dme_msg_size_max(&w->conf));
    uint32_t first, last;

    memset(m, 0, sizeof *m);
    dme_modes(&w->conf, &first, &last);
    if (w->flights && fuzz_take(&r->in) % 3 == 0) {
        const struct dme_msg *model = w->flight[fuzz_take(&r->in) % w->flights].msg;

        memcpy(m, model, dme_msg_bytes(model));
    } else {
        m->kind = fuzz_take(&r->in) % dme_kinds(w->conf.alg);
        m->from = fuzz_take(&r->in) % w->conf.n;
        m->to = fuzz_take(&r->in) % w->conf.n;
        m->fence = clocks[fuzz_take(&r->in) % 8];
        m->count = (uint32_t)((dme_msg_size(&w->conf, m->kind) - sizeof *m) / sizeof m->ticket[0]);
        for (uint32_t k = 0; k < m->count; k++) {
            uint8_t byte = fuzz_take(&r->in);
            uint32_t site = byte % (w->conf.n + 2);

            m->ticket[k].clock = clocks[byte / 8 % 8];
            m->ticket[k].mode = fuzz_take(&r->in) % (last + 1);
            /* Often the sender itself, as the truth would have it. */
            m->ticket[k].site = site == w->conf.n ? DME_NONE : site > w->conf.n ? m->from : site;
        }
    }
    if (m->from != m->to && m->from < w->conf.n)
        world_send(w, m);
    free(m);
}

static bool run_deliver(struct run *r, size_t k)
{
    struct world_move move;

    while (!r->liar && !world_may_arrive(r->w, k, r->w->conf.alg->needs))
        k--;
    move = world_delivery(r->w, k);
    run_move(r, &move);
    return !r->dead[move.site];
}

static void run_once(struct run *r)
{
    uint8_t byte = fuzz_take(&r->in);
    struct lab_world *w = r->w;
    dme_id i = byte / 8 % w->conf.n;
    uint32_t first, last;

    if (r->liar && byte % 8 == 7) {
        run_lie(r);
    } else if (byte % 8 >= 3) {
        if (w->flights)
            run_deliver(r, (size_t)(fuzz_take(&r->in) % w->flights));
    } else if (w->node[i]->phase == DME_IDLE) {
        dme_modes(&w->conf, &first, &last);
        run_move(r, &(struct world_move){
                        .type = DME_REQUEST, .site = i, .arg = first + fuzz_take(&r->in) % (last - first + 1)});
    } else if (w->node[i]->phase == DME_INSIDE && byte % 8 == 0) {
        run_move(r, &(struct world_move){.type = DME_RELEASE, .site = i});
    }
}

/* Makes a move that is possible without another request. Returns false if there is none. */
static bool run_drain_once(struct run *r)
{
    struct lab_world *w = r->w;

    for (size_t k = 0; k < w->flights; k++)
        if (!r->dead[w->flight[k].msg->to])
            return run_deliver(r, k), true;
    for (dme_id i = 0; i < w->conf.n; i++)
        if (!r->dead[i] && w->node[i]->phase == DME_INSIDE)
            return run_move(r, &(struct world_move){.type = DME_RELEASE, .site = i}), true;
    for (uint32_t k = 0; k < w->conf.n * DME_TIMERS; k++) {
        uint32_t next = r->timer++ % (w->conf.n * DME_TIMERS), t = next % DME_TIMERS;
        dme_id i = next / DME_TIMERS;

        if (!r->dead[i] && w->node[i]->armed & 1u << t)
            return run_move(r, &(struct world_move){.type = DME_TIMER, .site = i, .arg = t}), true;
    }
    return false;
}

/* The messages of a restless algorithm go on when no site asks any more. */
static bool run_idles(const struct run *r)
{
    bool idle = r->w->conf.alg->restless;

    for (dme_id i = 0; i < r->w->conf.n; i++)
        idle &= r->w->node[i]->phase == DME_IDLE;
    return idle;
}

static void run_drain(struct run *r)
{
    unsigned moves = 0;

    while (moves < DRAIN_MAX && !run_idles(r) && run_drain_once(r))
        moves++;
    if (r->liar)
        return;
    FUZZ_EXPECT(moves < DRAIN_MAX, "%s never comes to rest", r->w->conf.alg->name);
    for (dme_id i = 0; i < r->w->conf.n; i++)
        FUZZ_EXPECT(r->w->node[i]->phase == DME_IDLE, "%s: site %u waits for ever", r->w->conf.alg->name, i);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct run r = {.in = {data, data + size}};
    struct dme_conf conf;

    r.liar = fuzz_take(&r.in) & 1;
    if (!run_conf(&conf, &r.in) || (conf.alg->flaw && !r.liar))
        return 0;
    r.w = world_new(&conf);
    while (r.in.at < r.in.end)
        run_once(&r);
    run_drain(&r);
    world_free(r.w);
    return 0;
}
