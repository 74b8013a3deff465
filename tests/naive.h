/* naive.h - a second checker, which is as simple as can be and shares no code with src/check: tests/test_naive.c compares the two.
 *
 * It knows what the heads of core/dme.h, check/space.h and lab/failure.h say. A state is a string of bytes: what may still go wrong, each site, and
 * each message under way, in an order that forgets what the network does not promise. All moves of all states are made, breadth first, and the
 * algorithm's code runs for each of them. */
#ifndef DIBS_TESTS_NAIVE_H
#define DIBS_TESTS_NAIVE_H

#include "test.h"

#include "base/memory.h"
#include "check/check.h"

#include <stdlib.h>
#include <string.h>

enum { SITES = 4, MSGS = 128, NODE = 1024, MSG = 256, TEXT = 65536 };
enum { LOSE, DUPLICATE, CRASH, RESTART, RESUME, CUT, JOIN, LEAVE, FAILURES };

struct site {
    uint8_t left, overtaken, rounds[DME_TIMERS], zero[2];
    union {
        struct dme_node node;
        uint8_t bytes[NODE];
    };
};

struct flight {
    uint32_t to, marks; /* marks: the timers that may fire only after it has arrived, a bit for each */
    union {
        struct dme_msg msg;
        uint8_t bytes[MSG];
    };
};

struct world {
    uint8_t may[FAILURES]; /* still happen */
    uint32_t side, msgs;
    struct site site[SITES];
    struct flight msg[MSGS];
};

/* A move between two states in which no site is at fault, and which event that was, if it had to happen some time. */
struct edge {
    uint32_t from, to, due;
};

struct naive {
    const struct check_task *task;
    struct dme_out *out;
    uint8_t *bytes; /* of all states, one after the other */
    size_t used, room, *at;
    uint32_t *depth, count, limit, *slot, slots;
    struct edge *edge;
    size_t edges, edge_room, due_used;
    uint8_t *due; /* the events that had to happen, one after the other */
    uint32_t dues, now, now_due;
    uint32_t found_at;                         /* depth of the first violation, */
    bool found[CHECK_UNFINISHED], over, ticks; /* and all that are violated there; over: there are too many states */
    uint64_t transitions;
    struct world before, after;
};

/* ----------------------------------------------------------------------------------------------------- states as bytes */

static bool ordered_broadcast(const struct naive *v, const struct flight *f)
{
    return f->msg.to == DME_ALL && v->task->needs & DME_SEQUENCED;
}

/* Messages of one lane arrive in the order in which they were sent. */
static uint32_t lane(const struct naive *v, const struct flight *f)
{
    return ordered_broadcast(v, f) ? SITES : v->task->needs & DME_FIFO ? f->msg.from : UINT32_MAX;
}

static size_t flight_bytes(const struct flight *f)
{
    return offsetof(struct flight, bytes) + dme_msg_bytes(&f->msg);
}

static bool goes_before(const struct naive *v, const struct flight *a, const struct flight *b)
{
    size_t size = flight_bytes(a);

    if (a->to != b->to)
        return a->to < b->to;
    if (lane(v, a) != lane(v, b))
        return lane(v, a) < lane(v, b);
    if (lane(v, a) != UINT32_MAX)
        return false;
    return size != flight_bytes(b) ? size < flight_bytes(b) : memcmp(a, b, size) < 0;
}

static void sort_flights(const struct naive *v, struct world *w)
{
    for (uint32_t k = 1; k < w->msgs; k++)
        for (uint32_t j = k; j > 0 && goes_before(v, &w->msg[j], &w->msg[j - 1]); j--) {
            struct flight other;
            size_t a = flight_bytes(&w->msg[j]), b = flight_bytes(&w->msg[j - 1]);

            memcpy(&other, &w->msg[j], a);
            memcpy(&w->msg[j], &w->msg[j - 1], b);
            memcpy(&w->msg[j - 1], &other, a);
        }
}

static size_t site_bytes(const struct naive *v, uint32_t i)
{
    return offsetof(struct site, bytes) + dme_node_size(&v->task->conf, i);
}

static size_t pack(const struct naive *v, struct world *w, uint8_t *to)
{
    size_t used = offsetof(struct world, site);

    sort_flights(v, w);
    memcpy(to, w, used);
    for (uint32_t i = 0; i < v->task->conf.n; used += site_bytes(v, i++))
        memcpy(to + used, &w->site[i], site_bytes(v, i));
    for (uint32_t k = 0; k < w->msgs; used += flight_bytes(&w->msg[k++])) {
        assert_true(used + MSG < TEXT);
        memcpy(to + used, &w->msg[k], flight_bytes(&w->msg[k]));
    }
    return used;
}

static void copy(const struct naive *v, const struct world *from, struct world *to)
{
    memcpy(to, from, offsetof(struct world, site));
    for (uint32_t i = 0; i < v->task->conf.n; i++)
        memcpy(&to->site[i], &from->site[i], site_bytes(v, i));
    for (uint32_t k = 0; k < from->msgs; k++)
        memcpy(&to->msg[k], &from->msg[k], flight_bytes(&from->msg[k]));
}

static void unpack(const struct naive *v, const uint8_t *from, struct world *w)
{
    size_t used = offsetof(struct world, site);

    memcpy(w, from, used);
    for (uint32_t i = 0; i < v->task->conf.n; used += site_bytes(v, i++))
        memcpy(&w->site[i], from + used, site_bytes(v, i));
    for (uint32_t k = 0; k < w->msgs; used += flight_bytes(&w->msg[k++])) {
        memcpy(&w->msg[k], from + used, sizeof(struct flight) - sizeof w->msg[k].bytes + sizeof(struct dme_msg));
        memcpy(&w->msg[k], from + used, flight_bytes(&w->msg[k]));
    }
}

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
    uint64_t h = 14695981039346656037u;

    for (size_t k = 0; k < size; k += sizeof h) {
        uint64_t word = 0;

        memcpy(&word, bytes + k, size - k < sizeof word ? size - k : sizeof word);
        h = (h ^ word) * 1099511628211u;
        h ^= h >> 32;
    }
    return h ^ h >> 29;
}

/* --------------------------------------------------------------------------------------------------- what is violated */

static void found(struct naive *v, enum check_verdict what, uint32_t depth)
{
    if (depth < v->found_at)
        memset(v->found, 0, sizeof v->found);
    if (depth <= v->found_at) {
        v->found_at = depth;
        v->found[what] = true;
    }
}

static bool share(const struct check_task *t, const struct world *w, bool with_waiting)
{
    uint32_t modes[SITES], count = 0, inside = 0;

    for (uint32_t i = 0; i < t->conf.n; i++) {
        inside += w->site[i].node.phase == DME_INSIDE;
        if (w->site[i].node.phase == DME_INSIDE || (with_waiting && w->site[i].node.phase == DME_WAITING))
            modes[count++] = w->site[i].node.mode;
    }
    if (t->conf.rule == DME_SLOTS)
        return inside + with_waiting <= t->conf.limit;
    for (uint32_t a = 0; a < count; a++)
        for (uint32_t b = 0; b < a; b++)
            if (modes[a] != modes[b] || modes[a] == 0)
                return false;
    return true;
}

static void judge(struct naive *v, const struct world *w, uint32_t depth)
{
    const struct check_task *t = v->task;
    bool waits = false, inside = false, moves = false;
    const struct dme_node *node[SITES];
    const struct dme_msg *msg[MSGS];
    dme_id to[MSGS];

    for (uint32_t i = 0; i < t->conf.n; i++) {
        const struct site *s = &w->site[i];

        node[i] = &s->node;
        waits |= s->node.phase == DME_WAITING;
        inside |= s->node.phase == DME_INSIDE;
        moves |= s->node.armed != 0;
        if (t->overtaking && s->overtaken > t->overtakes)
            found(v, CHECK_OVERTAKING, depth);
    }
    for (uint32_t k = 0; k < w->msgs; k++) {
        moves |= !w->site[w->msg[k].to].node.down;
        msg[k] = &w->msg[k].msg;
        to[k] = w->msg[k].to;
    }
    if (!share(t, w, false))
        found(v, CHECK_EXCLUSION, depth);
    if (waits && !inside && !moves && !w->side && !t->deadlocks_too)
        found(v, CHECK_DEADLOCK, depth);
    if (t->concurrency && waits && inside && !moves && share(t, w, true))
        found(v, CHECK_BLOCKING, depth);
    if (!t->plain && !t->conf.alg->flaw && t->conf.alg->broken &&
        t->conf.alg->broken(
            &(struct dme_moment){.conf = &t->conf, .node = node, .msg = msg, .to = to, .msgs = w->msgs}))
        found(v, CHECK_INVARIANT, depth);
}

/* --------------------------------------------------------------------------------------------------------------- moves */

/* The canonical form of a state, in which sites make any number of requests. */
static void canonize(struct naive *v, struct world *w)
{
    struct dme_node *node[SITES], head[SITES];
    struct dme_msg *msg[MSGS];
    dme_id to[MSGS];
    bool gone[MSGS] = {false};
    uint32_t kept = 0;

    sort_flights(v, w);
    for (uint32_t i = 0; i < v->task->conf.n; i++) {
        node[i] = &w->site[i].node;
        head[i] = *node[i];
        w->site[i].left = CHECK_UNLIMITED;
    }
    for (uint32_t k = 0; k < w->msgs; k++)
        msg[k] = &w->msg[k].msg, to[k] = w->msg[k].to;
    v->task->conf.alg->canon(
        &(struct dme_draft){.conf = &v->task->conf, .node = node, .msg = msg, .to = to, .gone = gone, .msgs = w->msgs});
    for (uint32_t i = 0; i < v->task->conf.n; i++)
        *node[i] = head[i];
    for (uint32_t k = 0; k < w->msgs; k++)
        if (!gone[k] && kept++ != k)
            memcpy(&w->msg[kept - 1], &w->msg[k], flight_bytes(&w->msg[k]));
    w->msgs = kept;
}

/* The number of the state, which is new or not. */
static uint32_t add(struct naive *v, struct world *w, uint32_t depth)
{
    size_t size;
    uint32_t slot, k;

    if (v->task->canonical)
        canonize(v, w);
    size = pack(v, w, v->bytes + v->used);
    slot = (uint32_t)hash_of(v->bytes + v->used, size) & (v->slots - 1);
    for (; (k = v->slot[slot]); slot = (slot + 1) & (v->slots - 1))
        if (v->at[k] - v->at[k - 1] == size && memcmp(v->bytes + v->at[k - 1], v->bytes + v->used, size) == 0)
            return k - 1;
    if (v->count == v->limit) {
        v->over = true;
        return UINT32_MAX;
    }
    v->slot[slot] = ++v->count;
    v->depth[v->count - 1] = depth;
    v->used += size;
    v->at[v->count] = v->used;
    if (v->used + TEXT > v->room)
        v->bytes = mem_grow(v->bytes, v->room = 2 * (v->used + TEXT));
    judge(v, w, depth);
    return v->count - 1;
}

static bool apart(uint32_t side, uint32_t i, uint32_t j)
{
    return (side >> i & 1) != (side >> j & 1);
}

static bool comes_back(const struct naive *v)
{
    return v->task->restart || v->task->resume;
}

static void post(struct naive *v, struct world *w, const struct dme_msg *m, uint32_t to)
{
    struct flight *f = &w->msg[w->msgs];
    bool news = m->kind >= DME_NEWS;

    if ((!news && apart(w->side, m->from, to)) || (w->site[to].node.down && (news || !comes_back(v))))
        return;
    assert_true(dme_msg_bytes(m) <= MSG);
    v->over |= w->msgs + 2 >= MSGS;
    if (v->over)
        return;
    w->msgs++;
    f->to = to;
    f->marks = 0;
    memcpy(f->bytes, m, dme_msg_bytes(m));
    f->msg.fence = 0;
}

static void tell(struct naive *v, struct world *w, uint32_t what, uint32_t of, uint32_t to)
{
    if (v->task->conf.alg->news && of != to && !w->site[to].node.down)
        post(v, w, &(struct dme_msg){.from = of, .to = to, .kind = (uint8_t)what}, to);
}

static uint32_t marks_of(const struct world *w)
{
    uint32_t marks = 0;

    for (uint32_t k = 0; k < w->msgs; k++)
        marks |= w->msg[k].marks;
    return marks;
}

/* A timer of b bounds outlasts b rounds. In a round all messages arrive that are in flight when it begins. */
static void pass_time(struct naive *v, struct world *w, uint32_t i)
{
    uint32_t started = v->out->started;

    if (!(v->task->needs & DME_BOUNDED_DELAY))
        return;
    for (uint32_t k = 0; k < w->msgs; k++)
        w->msg[k].marks |= started << DME_TIMERS * i;
    for (uint32_t j = 0; j < v->task->conf.n; j++)
        for (uint32_t t = 0; t < DME_TIMERS; t++)
            while (w->site[j].rounds[t] && !(marks_of(w) >> (DME_TIMERS * j + t) & 1)) {
                w->site[j].rounds[t]--;
                for (uint32_t k = 0; k < w->msgs && w->site[j].rounds[t]; k++)
                    w->msg[k].marks |= 1u << (DME_TIMERS * j + t);
            }
}

static void leads_to(struct naive *v, struct world *w)
{
    uint32_t to = add(v, w, v->depth[v->now] + 1);

    v->transitions++;
    if (!v->task->starvation)
        return;
    if (v->edges == v->edge_room)
        v->edge = mem_grow(v->edge, (v->edge_room = 2 * v->edge_room + 1024) * sizeof *v->edge);
    v->edge[v->edges++] = (struct edge){.from = v->now, .to = to, .due = v->now_due};
}

/* The algorithm's code runs. */
static void step(struct naive *v, struct world *w, uint32_t i, uint32_t type, uint32_t arg, const struct dme_msg *m)
{
    struct site *s = &w->site[i];

    if (v->ticks)
        ++*v->task->conf.alg->clock(dme_state(&s->node));
    dme_step(&v->task->conf, &s->node, &(struct dme_event){.type = type, .arg = arg, .msg = m}, v->out);
    s->node.fence = 0;
    for (const struct dme_msg *next = NULL; (next = dme_next(v->out, i, next));)
        for (uint32_t j = 0; j < v->task->conf.n; j++)
            if (next->to == j || (next->to == DME_ALL && (j != i || v->task->conf.alg->needs & DME_SEQUENCED)))
                post(v, w, next, j);
    for (uint32_t t = 0; t < DME_TIMERS; t++)
        s->rounds[t] = v->task->needs & DME_BOUNDED_DELAY && v->out->started >> t & 1 ? (uint8_t)v->out->bounds[t]
                       : s->node.armed >> t & 1                                       ? s->rounds[t]
                                                                                      : 0;
    if (s->node.phase != DME_WAITING)
        s->overtaken = 0;
    for (uint32_t j = 0; j < v->task->conf.n; j++)
        w->site[j].overtaken +=
            v->task->overtaking && v->out->entered && j != i && w->site[j].node.phase == DME_WAITING;
}

static void make(struct naive *v, struct world *w, uint32_t i)
{
    if (v->out->fault || dme_malformed(&v->task->conf, &w->site[i].node)) {
        found(v, CHECK_ERROR, v->depth[v->now] + 1);
        return;
    }
    pass_time(v, w, i);
    leads_to(v, w);
}

static void event(struct naive *v, uint32_t i, uint32_t type, uint32_t arg)
{
    struct world *w = &v->after;

    copy(v, &v->before, w);
    if (type == DME_REQUEST && w->site[i].left != CHECK_UNLIMITED)
        w->site[i].left--;
    step(v, w, i, type, arg, NULL);
    make(v, w, i);
}

/* A number for what had to happen: it is done some time, if it can be done all the time. */
static uint32_t due(struct naive *v, uint32_t i, uint32_t type, const void *what, size_t size)
{
    uint32_t head[3] = {i, type, (uint32_t)size}, number = 1;

    for (size_t at = 0; at < v->due_used; number++) {
        uint32_t known[3];

        memcpy(known, v->due + at, sizeof known);
        at += sizeof known;
        if (memcmp(known, head, sizeof head) == 0 && memcmp(v->due + at, what, size) == 0)
            return number;
        at += known[2];
    }
    v->due = mem_grow(v->due, v->due_used + sizeof head + size);
    memcpy(v->due + v->due_used, head, sizeof head);
    memcpy(v->due + v->due_used + sizeof head, what, size);
    v->due_used += sizeof head + size;
    return v->dues = number;
}

static void drop(struct world *w, uint32_t k)
{
    w->msgs--;
    memmove(&w->msg[k], &w->msg[k + 1], (w->msgs - k) * sizeof w->msg[0]);
}

static bool may_arrive(const struct naive *v, uint32_t k)
{
    const struct flight *f = &v->before.msg[k];

    if (k && f[-1].to == f->to && lane(v, f) == lane(v, &f[-1]) &&
        (lane(v, f) != UINT32_MAX ||
         (flight_bytes(f) == flight_bytes(&f[-1]) && memcmp(f, &f[-1], flight_bytes(f)) == 0)))
        return false; /* it is behind another one, or the same as that */
    if (f->msg.kind >= DME_NEWS && v->task->needs & DME_DETECTION && !(v->task->needs & DME_FIFO))
        for (uint32_t j = 0; j < v->before.msgs; j++)
            if (v->before.msg[j].to == f->to && v->before.msg[j].msg.from == f->msg.from &&
                v->before.msg[j].msg.kind < DME_NEWS)
                return false;
    return true;
}

static void arrive(struct naive *v, uint32_t k)
{
    const struct flight *f = &v->before.msg[k];
    struct world *w = &v->after;
    uint32_t i = f->to;

    if (!may_arrive(v, k))
        return;
    copy(v, &v->before, w);
    drop(w, k);
    v->out->fault = NULL;
    v->out->started = 0;
    v->now_due = v->task->starvation ? due(v, i, DME_RECEIVE, &f->msg, dme_msg_bytes(&f->msg)) : 0;
    if (!w->site[i].node.down)
        step(v, w, i, DME_RECEIVE, 0, &f->msg);
    make(v, w, i);
    v->now_due = 0;
    v->out->started = 0;
    if (f->msg.kind >= DME_NEWS)
        return;
    copy(v, &v->before, w);
    drop(w, k);
    if (w->may[LOSE] && w->may[LOSE]--) {
        pass_time(v, w, i);
        leads_to(v, w);
    }
    copy(v, &v->before, w);
    if (w->may[DUPLICATE] && w->may[DUPLICATE]--) {
        memmove(&w->msg[k + 1], &w->msg[k], (w->msgs++ - k) * sizeof w->msg[0]);
        leads_to(v, w);
    }
}

static void fail_site(struct naive *v, uint32_t i)
{
    const struct dme_alg *alg = v->task->conf.alg;
    const struct dme_node *node = &v->before.site[i].node;
    struct world *w = &v->after;
    bool awaited = false;

    v->out->started = 0;
    for (uint32_t k = 0; k < v->before.msgs; k++)
        awaited |= v->before.msg[k].msg.kind == DME_DOWN && v->before.msg[k].msg.from == i;
    for (uint32_t kept = 0; kept < 2 && node->down && !awaited; kept++)
        if (v->before.may[RESTART + kept]) {
            copy(v, &v->before, w);
            w->may[RESTART + kept]--;
            step(v, w, i, DME_RESTART, kept, NULL);
            for (uint32_t j = 0; j < v->task->conf.n; j++)
                if (w->site[j].node.down || apart(w->side, i, j))
                    tell(v, w, w->site[j].node.down ? DME_DOWN : DME_CUT, j, i);
            make(v, w, i);
        }
    v->out->started = 0;
    if (node->down)
        return;
    copy(v, &v->before, w);
    if (w->may[CRASH] && w->may[CRASH]--) {
        dme_crash(&w->site[i].node);
        memset(w->site[i].rounds, 0, DME_TIMERS);
        w->site[i].overtaken = 0;
        if (!v->task->resume)
            memset(&w->site[i].node + 1, 0, dme_node_size(&v->task->conf, i) - sizeof *node);
        for (uint32_t k = w->msgs; k-- > 0;)
            if (w->msg[k].to == i && (w->msg[k].msg.kind >= DME_NEWS || !comes_back(v)))
                drop(w, k);
        for (uint32_t j = 0; j < v->task->conf.n; j++)
            if (!apart(w->side, i, j))
                tell(v, w, DME_DOWN, i, j);
        pass_time(v, w, i);
        leads_to(v, w);
    }
    copy(v, &v->before, w);
    if (w->may[CRASH] && alg->news && !(v->task->needs & DME_DETECTION)) {
        w->may[CRASH]--;
        for (uint32_t j = 0; j < v->task->conf.n; j++)
            tell(v, w, DME_DOWN, i, j);
        leads_to(v, w);
    }
    for (uint32_t what = JOIN; what <= LEAVE; what++)
        if (v->before.may[what] && (what == JOIN ? alg->join != NULL : alg->leave && node->phase == DME_IDLE)) {
            copy(v, &v->before, w);
            w->may[what]--;
            step(v, w, i, what == JOIN ? DME_JOIN : DME_LEAVE, 0, NULL);
            make(v, w, i);
        }
}

/* Sides of the present or the former cut are told of each other. */
static void tell_across(struct naive *v, struct world *w, uint32_t side, uint32_t what)
{
    for (uint32_t i = 0; i < v->task->conf.n; i++)
        for (uint32_t j = 0; j < v->task->conf.n; j++)
            if (apart(side, i, j))
                tell(v, w, w->site[j].node.down ? DME_DOWN : what, j, i);
}

static void fail_network(struct naive *v)
{
    uint32_t side = v->before.side;
    struct world *w = &v->after;

    v->out->started = 0;
    if (side) {
        copy(v, &v->before, w);
        w->side = 0;
        tell_across(v, w, side, DME_HEALED);
        leads_to(v, w);
    }
    for (uint32_t cut = 1; cut + 1 < 1u << v->task->conf.n && v->before.may[CUT] && !side; cut += 2) {
        copy(v, &v->before, w);
        w->may[CUT]--;
        w->side = cut;
        for (uint32_t k = w->msgs; k-- > 0;)
            if (w->msg[k].msg.kind < DME_NEWS && apart(cut, w->msg[k].msg.from, w->msg[k].to))
                drop(w, k);
        tell_across(v, w, cut, DME_CUT);
        pass_time(v, w, 0);
        leads_to(v, w);
    }
}

static void expand(struct naive *v, uint32_t number)
{
    uint32_t first, last;

    v->now = number;
    v->now_due = 0;
    unpack(v, v->bytes + v->at[number], &v->before);
    dme_modes(&v->task->conf, &first, &last);
    fail_network(v);
    for (uint32_t i = 0; i < v->task->conf.n; i++) {
        const struct site *s = &v->before.site[i];

        fail_site(v, i);
        for (uint32_t mode = first; mode <= last && s->node.phase == DME_IDLE && s->left && !s->node.down; mode++)
            if (!v->task->quiet || v->before.msgs < v->task->quiet)
                event(v, i, DME_REQUEST, mode);
        v->now_due = v->task->starvation && s->node.phase == DME_INSIDE ? due(v, i, DME_RELEASE, "", 0) : 0;
        if (s->node.phase == DME_INSIDE)
            event(v, i, DME_RELEASE, 0);
        for (uint32_t t = 0; t < DME_TIMERS; t++)
            if (s->node.armed >> t & 1 && s->rounds[t] == 0) {
                v->now_due = v->task->starvation ? due(v, i, DME_TIMER, &t, sizeof t) : 0;
                event(v, i, DME_TIMER, t);
            }
        v->now_due = 0;
    }
    for (uint32_t k = 0; k < v->before.msgs; k++)
        arrive(v, k);
}

/* ---------------------------------------------------------------------------------------------------------- starvation */

/* Keeps of the states those from which a path among them leads to one in which the event is done or cannot be done. With no event: to any. */
static bool keep_fair(const struct naive *v, uint8_t *in, uint32_t what)
{
    uint8_t *can = mem_new(v->count), *good = mem_new(v->count);
    bool more = true, less = false;

    for (size_t e = 0; e < v->edges; e++)
        can[v->edge[e].from] |= v->edge[e].due == what;
    while (more) {
        more = false;
        for (size_t e = v->edges; e-- > 0;) {
            const struct edge *x = &v->edge[e];

            if (in[x->from] && in[x->to] && !good[x->from] &&
                (!what || good[x->to] || !can[x->to] || !can[x->from] || x->due == what))
                more = (good[x->from] = 1);
        }
    }
    for (uint32_t k = 0; k < v->count; k++) {
        less |= in[k] && !good[k];
        in[k] &= good[k];
    }
    free(can);
    free(good);
    return less;
}

/* Is there an endless run of states in which the site waits, and in which every event that can happen all the time does happen? */
static bool starves(const struct naive *v, uint32_t i)
{
    uint8_t *in = mem_new(v->count);
    struct world *w = mem_new(sizeof *w);
    bool less = true, any = false;

    for (uint32_t k = 0; k < v->count; k++) {
        unpack(v, v->bytes + v->at[k], w);
        in[k] = w->site[i].node.phase == DME_WAITING;
    }
    while (less) {
        less = false;
        for (uint32_t what = 0; what <= v->dues; what++)
            less |= keep_fair(v, in, what);
    }
    for (uint32_t k = 0; k < v->count; k++)
        any |= in[k];
    free(in);
    free(w);
    return any;
}

/* --------------------------------------------------------------------------------------------------------- a whole run */

static void search(struct naive *v, const struct check_task *task, uint32_t limit)
{
    memset(v, 0, offsetof(struct naive, before));
    v->after.msgs = v->after.side = 0;
    v->task = task;
    v->limit = limit;
    v->found_at = UINT32_MAX;
    for (v->slots = 1024; v->slots < 2 * limit; v->slots *= 2)
        ;
    v->slot = mem_new(v->slots * sizeof *v->slot);
    v->at = mem_new((limit + 1) * sizeof *v->at);
    v->depth = mem_new((limit + 1) * sizeof *v->depth);
    v->bytes = mem_new(v->room = TEXT);
    v->out = mem_new(dme_out_size(&task->conf));
    dme_out_init(v->out, dme_out_size(&task->conf));
    memcpy(v->after.may,
           (uint8_t[FAILURES]){task->lose, task->duplicate, task->crash, task->restart, task->resume, task->cut,
                               task->join, task->leave},
           FAILURES);
    for (uint32_t i = 0; i < task->conf.n; i++) {
        assert_true(dme_node_size(&task->conf, i) <= NODE);
        dme_init(&task->conf, &v->after.site[i].node, i, v->out);
        v->after.site[i].node.fence = 0;
        v->after.site[i].left = task->requests[i];
        v->after.site[i].overtaken = 0;
        memset(v->after.site[i].rounds, 0, DME_TIMERS);
        for (const struct dme_msg *m = NULL; (m = dme_next(v->out, i, m));)
            for (uint32_t j = 0; j < task->conf.n; j++)
                if (m->to == j || (m->to == DME_ALL && (j != i || task->conf.alg->needs & DME_SEQUENCED)))
                    post(v, &v->after, m, j);
    }
    add(v, &v->after, 0);
    for (uint32_t k = 0; k < v->count && !v->over && v->depth[k] < v->found_at; k++) {
        v->ticks = false;
        expand(v, k);
        v->ticks = task->canonical && task->conf.alg->clock;
        if (v->ticks)
            expand(v, k);
        v->ticks = false;
    }
}

static void forget(struct naive *v)
{
    free(v->slot);
    free(v->at);
    free(v->depth);
    free(v->bytes);
    free(v->out);
    free(v->edge);
    free(v->due);
}

#endif
