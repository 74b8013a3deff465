/* The handlers of every algorithm, for Frama-C's Eva: any well-formed state, any event, any message. See tests/prove/run.
 *
 * What is proved. From every state that alg->malformed allows, no handler touches foreign memory, reads what was not
 * written, overflows a signed number, divides by zero or fails an assertion, and unless it reports a fault it leaves a state
 * that alg->malformed allows (I8). The state after dme_init is one of them. So no sequence of events and of messages, also from
 * peers that lie, makes a node do so.
 *
 * What is assumed, and nothing else:
 *   - a message is what dme_decode lets pass (wire.c): of a known kind, with that kind's number of tickets, each of a site
 *     below n or DME_NONE, from a site below n. Modes and clocks are any numbers. Messages that a site sends itself are
 *     among those;
 *   - the driver keeps to dme.h: it requests at an idle site, releases inside, and lets timers fire that run;
 *   - step_receive_own does nothing here. It calls `receive` with messages that the site has sent itself, which is one more event of
 *     those above. So the bound on the messages of a step (I9) is shown for one handler at a time. malloc does not fail;
 *   - ricart-agrawala-robust: rr_kick and rr_test, which go on with what is next and call each other, do nothing where they are
 *     called. Each is analysed by itself, from any well-formed state. That is enough because a handler leaves a well-formed state there, and does no
 *     more after it than start a timer or call one of the two again. */
#include "alg/list.h"
#include "core/alg.h"

#include <__fc_builtin.h>
#include <assert.h>
#include <stdlib.h>
#include <string.h>

/*@ assigns \nothing; */
static void step_receive_own(struct dme *d, void *state);
#include "core/step.c"

#ifdef CONTINUES
struct rr;
/*@ assigns \nothing; */
void rr_kick(struct dme *d, struct rr *s);
/*@ assigns \nothing; */
void rr_test(struct dme *d, struct rr *s);
void rr_kick_now(struct dme *d, struct rr *s);
void rr_test_now(struct dme *d, struct rr *s);
#endif

static uint32_t any_of(uint32_t min, uint32_t max)
{
    return Frama_C_unsigned_int_interval(min, max);
}

static unsigned choices_of(const struct dme_option *o)
{
    unsigned choices = 0;

    while (o->choices && o->choices[choices])
        choices++;
    return choices;
}

/* Any rule that the algorithm knows, any mistake that it makes, and all options that it accepts. The first option may be a
 * tree that the size of a node depends on: then it is `first`. */
static bool any_conf(struct dme_conf *conf, const struct dme_alg *alg, uint32_t n, unsigned first)
{
    dme_conf_init(conf, alg, n, DME_EXCLUSIVE, 0);
    conf->rule = any_of(0, DME_RULES - 1);
    conf->limit = any_of(0, UINT32_MAX);
    if (alg->mistakes)
        conf->mistake = any_of(0, 31);
    for (unsigned k = 0; alg->options && alg->options[k].key; k++) {
        const struct dme_option *o = &alg->options[k];

        conf->option[k] = o->choices ? any_of(0, choices_of(o) - 1) : Frama_C_unsigned_long_interval(o->min, o->max);
    }
    if (alg->records && alg->options)
        conf->option[0] = first;
    if (!(alg->rules & 1u << conf->rule) || ((conf->rule == DME_SLOTS || conf->rule == DME_GROUP) && conf->limit < 1))
        return false;
    return !alg->check || !alg->check(conf);
}

static struct dme_node *any_node(const struct dme_conf *conf, dme_id self)
{
    size_t size = dme_node_size(conf, self);
    struct dme_node *node = malloc(size);

    Frama_C_make_unknown((char *)node, size);
    node->self = self;
    node->phase = (uint8_t)any_of(DME_IDLE, DME_INSIDE);
    node->armed = (uint8_t)any_of(0, (1u << DME_TIMERS) - 1);
    node->down = 0;
    return node;
}

static struct dme_msg *any_msg(const struct dme_conf *conf, dme_id self, unsigned kind)
{
    struct dme_msg *m = malloc(dme_msg_size(conf, kind));

    Frama_C_make_unknown((char *)m, dme_msg_size(conf, kind));
    m->kind = (uint8_t)kind;
    m->from = any_of(0, conf->n - 1);
    m->to = self;
    m->count = dme_tickets(conf, kind);
    for (uint32_t k = 0; k < m->count; k++)
        m->ticket[k].site = any_of(0, conf->n) - 1;
    return m;
}

static size_t out_size; /* of the configuration: it is the same for all its sites and events */

static void prove_step(const struct dme_conf *conf, struct dme_node *node, struct dme_event event)
{
    struct dme_out *out = malloc(out_size);
    const char *malformed;

    if (!dme_malformed(conf, node)) {
        dme_out_init(out, out_size);
        dme_step(conf, node, &event, out);
        if (!out->fault) {
            malformed = dme_malformed(conf, node);
            /*@ assert still_well_formed: malformed == \null; */
        }
    }
    free(out);
    free(node);
    free((void *)event.msg);
}

#ifdef CONTINUES
static void prove_part(const struct dme_conf *conf, dme_id self, void (*part)(struct dme *, struct rr *))
{
    struct dme_node *node = any_node(conf, self);
    struct dme_out *out = malloc(out_size);
    const char *malformed;
    struct dme d;

    if (!dme_malformed(conf, node)) {
        dme_out_init(out, out_size);
        d = step_begin(conf, node, out);
        part(&d, dme_state(node));
        if (!out->fault) {
            malformed = dme_malformed(conf, node);
            /*@ assert still_well_formed: malformed == \null; */
        }
    }
    free(out);
    free(node);
}
#endif

static void prove_init(const struct dme_conf *conf, dme_id self)
{
    struct dme_out *out = malloc(out_size);
    struct dme_node *node = malloc(dme_node_size(conf, self));
    const char *malformed;

    dme_out_init(out, out_size);
    dme_init(conf, node, self, out);
    malformed = dme_malformed(conf, node);
    /*@ assert well_formed_at_first: malformed == \null; */
    free(out);
    free(node);
}

static void prove_user(const struct dme_conf *conf, dme_id self)
{
    struct dme_node *node = any_node(conf, self);

    node->phase = DME_IDLE;
    prove_step(conf, node, (struct dme_event){.type = DME_REQUEST, .arg = any_of(0, UINT32_MAX)});
    node = any_node(conf, self);
    node->phase = DME_INSIDE;
    prove_step(conf, node, (struct dme_event){.type = DME_RELEASE});
    if (conf->alg->join)
        prove_step(conf, any_node(conf, self), (struct dme_event){.type = DME_JOIN});
    if (conf->alg->leave) {
        node = any_node(conf, self);
        node->phase = DME_IDLE;
        prove_step(conf, node, (struct dme_event){.type = DME_LEAVE});
    }
}

static void prove_failures(const struct dme_conf *conf, dme_id self)
{
    struct dme_msg *m;
    struct dme_node *node;

    /* Without a state there are no bytes to be cleared, and Frama-C accepts no address of them. */
    //@ loop unroll 2;
    for (uint32_t remembers = conf->alg->state_size == 0; remembers < 2; remembers++) {
        node = any_node(conf, self);
        dme_crash(node);
        prove_step(conf, node, (struct dme_event){.type = DME_RESTART, .arg = remembers});
    }
    //@ loop unroll 3;
    for (unsigned what = DME_DOWN; conf->alg->news && what <= DME_HEALED; what++) {
        m = malloc(sizeof *m);
        *m = (struct dme_msg){.kind = (uint8_t)what, .from = any_of(0, conf->n - 1), .to = self};
        prove_step(conf, any_node(conf, self), (struct dme_event){.type = DME_RECEIVE, .msg = m});
    }
}

static void prove_site(const struct dme_conf *conf, dme_id self)
{
    struct dme_node *node;

    prove_init(conf, self);
    prove_user(conf, self);
    prove_failures(conf, self);
#ifdef CONTINUES
    prove_part(conf, self, rr_kick_now);
    prove_part(conf, self, rr_test_now);
#endif
    //@ loop unroll 32;
    for (unsigned kind = 0; conf->alg->kinds[kind].name; kind++)
        prove_step(conf, any_node(conf, self),
                   (struct dme_event){.type = DME_RECEIVE, .msg = any_msg(conf, self, kind)});
    //@ loop unroll DME_TIMERS;
    for (unsigned t = 0; conf->alg->timer && t < DME_TIMERS; t++) {
        node = any_node(conf, self);
        node->armed |= (uint8_t)(1u << t);
        prove_step(conf, node, (struct dme_event){.type = DME_TIMER, .arg = t});
    }
}

static void prove(const struct dme_alg *alg)
{
    unsigned trees = alg->records && alg->options ? choices_of(&alg->options[0]) : 1;
    struct dme_conf conf;

    //@ loop unroll SITES;
    for (uint32_t n = 1; n <= SITES; n++)
        //@ loop unroll SITES;
        for (dme_id self = 0; self < n; self++)
            //@ loop unroll 8;
            for (unsigned first = 0; first < trees; first++)
                if (any_conf(&conf, alg, n, first)) {
                    out_size = dme_out_size(&conf);
                    prove_site(&conf, self);
                }
}

extern const struct dme_alg ALGORITHM;
void prove_algorithm(void)
{
    prove(&ALGORITHM);
    Frama_C_show_each_end();
}
