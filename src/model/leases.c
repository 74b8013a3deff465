/* leases.c - see leases.h: what the time, the observed member, its client and the others do next. Comments cite the protocol
 * of member/README.md by number. */
#include "leases.h"

#include "member/promise.h"

#include <string.h>

enum { LEASES_MEMBERS = 3 };

static const char *const leases_two = "two clients believe that they hold an exclusive lock";

/* The state after a move, to be changed and emitted. */
struct leases_step {
    const struct model_task *task;
    const struct model_out *out;
    const struct leases *from;
    struct leases to;
};

static struct leases *leases_begin_step(struct leases_step *step)
{
    step->to = *step->from;
    return &step->to;
}

static void leases_emit(struct leases_step *step, enum leases_move what, uint32_t who, uint32_t arg, const char *broken)
{
    uint8_t bytes[MODEL_STATE_MAX];
    struct model_move move = {(uint8_t)what, (uint8_t)who, (uint8_t)arg};
    size_t len = leases_put(step->task, &step->to, bytes);

    step->out->emit(step->out->user, move, bytes, len, broken);
}

/* --------------------------------------------------------------------------------------------------------------- time */

static void leases_age(uint8_t *age, uint32_t limit)
{
    *age = (uint8_t)(*age + (*age < limit));
}

static void leases_pass_time(struct leases_step *step)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);

    for (uint32_t i = 0; i < t->members; i++) {
        leases_age(&s->promised[i], t->promise);
        leases_age(&s->acked[i], t->lease);
        leases_age(&s->sent[i], t->lease);
    }
    leases_age(&s->began, t->promise);
    leases_age(&s->belief, t->lease);
    leases_age(&s->counted, t->promise); /* promise + 1 stays */
    leases_emit(step, LEASES_TIME, 0, 0, NULL);
}

/* --------------------------------------------------------------------------------------------------- promises and leases */

/* Is the process of member `i` the one that takes part in the view that member `of` has installed? */
static bool leases_is_part(const struct leases *s, uint32_t of, uint32_t i)
{
    uint8_t part = s->view[s->at[of]].part[i];

    return part && part == s->incarnation[i];
}

/* Protocol 2. Member `i` receives a heartbeat of the observed member. The heartbeat has no delay: a later one gives a
 * lease that ends later, and the same promise. */
static void leases_beat(struct leases_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);
    bool dropped = s->droppers >> i & 1 && !leases_makes(t, LEASES_ACK_DROPPED);

    if (!promise_is_given(leases_takes_part(s, i), leases_is_part(s, i, t->observed), dropped))
        return;
    s->promised[i] = 0;
    if (leases_takes_part(s, t->observed) && leases_is_part(s, t->observed, i)) {
        s->acked[i] = 0;
        s->sent[i] = (uint8_t)t->lease;
    } else { /* the observed member may have to install a view before the acknowledgement counts */
        s->sent[i] = 0;
        s->sent_by[i] = s->incarnation[i];
    }
    leases_emit(step, LEASES_BEAT, i, 0, NULL);
}

static void leases_take_ack(struct leases_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);

    if (s->sent[i] >= t->lease || !leases_takes_part(s, t->observed) ||
        s->view[s->at[t->observed]].part[i] != s->sent_by[i])
        return;
    s->acked[i] = s->sent[i] < s->acked[i] ? s->sent[i] : s->acked[i];
    s->sent[i] = (uint8_t)t->lease;
    leases_emit(step, LEASES_ACK, i, 0, NULL);
}

/* Protocol 3. Returns the age of the heartbeat from which the lease of the observed member counts; `lease` if it has
 * none. */
static uint8_t leases_lease_age(const struct model_task *t, const struct leases *s)
{
    static struct leases_real real;
    uint64_t acked_ms[MODEL_MEMBERS_MAX] = {0}, from, end;

    leases_make_real(t, &s->view[s->at[t->observed]], &real);
    for (uint32_t k = 0; k < real.view.count; k++)
        if (s->acked[real.member[k]] < t->lease)
            acked_ms[k] = LEASES_NOW - s->acked[real.member[k]];
    from = promise_lease_from(&real.view, real.place[t->observed], acked_ms);
    end = promise_lease_end(from, LEASES_NOW, t->lease);
    return (uint8_t)(end > LEASES_NOW ? t->lease - (end - LEASES_NOW) : t->lease);
}

/* ------------------------------------------------------------------------------------------------- the observed member */

/* Have all members that take part in the view installed it? */
static bool leases_is_open(const struct model_task *t, const struct leases *s, uint32_t v)
{
    return !s->view[v].missing || leases_makes(t, LEASES_NOT_OPEN);
}

/* Does the lock's instance of view `v` know of a client that was granted the lock in one view, and has carried it to
 * another? */
static bool leases_knows(const struct model_task *t, uint32_t v, uint8_t granted, uint8_t carried)
{
    return granted <= v && v <= carried && !(leases_makes(t, LEASES_NO_DIGEST) && granted < v);
}

static bool leases_may_grant(const struct model_task *t, const struct leases *s, uint8_t *age)
{
    *age = leases_lease_age(t, s);
    if (leases_makes(t, LEASES_NO_LEASE))
        *age = 0;
    return leases_takes_part(s, t->observed) && !s->dropped && *age < t->lease;
}

static void leases_grant(struct leases_step *step)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);
    uint8_t v = s->at[t->observed], age;
    bool believes = s->belief < t->lease, wrong = false;

    if (!leases_may_grant(t, s, &age) || !leases_is_open(t, s, v))
        return;
    if (believes && (s->hold != LEASES_GHOST || leases_knows(t, v, s->granted, s->carried)))
        return;
    wrong = believes || s->rival;
    s->belief = age;
    s->hold = LEASES_HELD;
    s->granted = s->carried = v;
    leases_emit(step, LEASES_GRANT, t->observed, 0, wrong ? leases_two : NULL);
}

/* The client asks for the validity of its lock. */
static void leases_vouch(struct leases_step *step)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);
    uint8_t age;

    if (s->belief >= t->lease || s->hold != LEASES_HELD || !leases_may_grant(t, s, &age))
        return;
    s->belief = leases_makes(t, LEASES_LONG_VALIDITY) ? 0 : age;
    leases_emit(step, LEASES_VOUCH, t->observed, 0, NULL);
}

static void leases_lose(const struct model_task *t, struct leases *s, enum leases_hold hold)
{
    if (s->belief < t->lease && s->hold < hold)
        s->hold = (uint8_t)hold;
}

/* The old process knows no client any more, and its acknowledgements do not count for the new incarnation. */
static void leases_renew_observed(const struct model_task *t, struct leases *s)
{
    s->incarnation[t->observed]++;
    s->dropped = false;
    leases_lose(t, s, LEASES_GHOST);
    for (uint32_t i = 0; i < t->members; i++)
        s->acked[i] = s->sent[i] = (uint8_t)t->lease;
}

/* ---------------------------------------------------------------------------------------------------- the other members */

/* A client of member `i` is granted the lock. If the client of the observed member was granted it in a later view, then member
 * `i` is the observed one of another search. */
static void leases_grant_rival(struct leases_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);
    uint8_t v = s->at[i];
    bool believes = s->belief < t->lease;

    if (!leases_takes_part(s, i) || !leases_is_open(t, s, v))
        return;
    if (believes ? s->granted > v || leases_knows(t, v, s->granted, s->carried) : v <= s->at[t->observed] || s->rival)
        return;
    s->rival = v;
    leases_emit(step, LEASES_RIVAL_GRANT, i, 0, believes ? leases_two : NULL);
}

/* ------------------------------------------------------------------------------------------------------- every member */

/* Protocol 4 and 5. Member `i` has heard that the observed member is to leave, and reports that it owes it nothing. A leader may
 * tell this at any time, whatever its reason. That a member heard of it earlier makes no difference: the member would only have
 * acknowledged less. */
static void leases_report(struct leases_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);

    if (s->at[i] != leases_latest(s) || !s->view[s->at[i]].part[t->observed] || s->owes_nothing >> i & 1)
        return;
    if (leases_takes_part(s, i) && i == t->observed) {
        s->dropped = true;
        leases_lose(t, s, LEASES_LINGERS);
    } else if (leases_takes_part(s, i)) {
        s->droppers |= (uint8_t)(1 << i);
    }
    if (!leases_owes_nothing(t, s, i))
        return;
    s->owes_nothing |= (uint8_t)(1 << i);
    leases_emit(step, LEASES_REPORT, i, 0, NULL);
}

static void leases_restart(const struct model_task *t, struct leases *s, uint32_t i)
{
    if (i == t->observed) {
        leases_renew_observed(t, s);
        s->began = 0;
    } else {
        s->incarnation[i]++;
        s->droppers &= (uint8_t) ~(1 << i);
        s->promised[i] = (uint8_t)(leases_makes(t, LEASES_FORGET_PROMISES) ? t->promise : 0);
    }
}

static void leases_install_observed(const struct model_task *t, struct leases *s, uint8_t v, bool took_part)
{
    s->dropped = false;
    for (uint32_t i = 0; i < t->members; i++)
        if (!s->view[v].standing[i])
            s->acked[i] = s->sent[i] = (uint8_t)t->lease;
    if (leases_takes_part(s, t->observed)) {
        if (s->belief < t->lease && s->hold != LEASES_GHOST)
            s->carried = v;
    } else if (took_part) {
        leases_renew_observed(t, s);
    }
}

void leases_install(const struct model_task *t, struct leases *s, uint32_t i, uint8_t v)
{
    bool took_part = leases_takes_part(s, i), is_new = !s->view[s->at[i]].standing[t->observed];

    s->at[i] = v;
    if (leases_takes_part(s, i))
        s->view[v].missing &= (uint8_t) ~(1 << i);
    if (i == t->observed) {
        leases_install_observed(t, s, v, took_part);
    } else {
        s->droppers &= (uint8_t) ~(1 << i);
        if (is_new && s->view[v].standing[t->observed])
            s->promised[i] = 0; /* a new member may be one that this one has forgotten */
        if (took_part && !leases_takes_part(s, i))
            s->incarnation[i]++;
    }
}

/* All members but the observed one install the latest view: several moves in one, so that stories are short and found soon. */
static void leases_install_all(struct leases_step *step)
{
    const struct model_task *t = step->task;
    struct leases *s = leases_begin_step(step);

    for (uint32_t i = 0; i < t->members; i++)
        if (i != t->observed && s->at[i] < leases_latest(s))
            leases_install(t, s, i, leases_latest(s));
    leases_emit(step, LEASES_INSTALL_ALL, 0, leases_latest(s), NULL);
}

/* A member that has been added is a new process. It may have been started long before. */
void leases_agree(const struct model_task *t, struct leases *s, const struct leases_view *next)
{
    static struct leases_real before, after;

    leases_make_real(t, &s->view[leases_latest(s)], &before);
    leases_make_real(t, next, &after);
    if (view_counted_changes(&before.view, &after.view))
        s->counted = (uint8_t)(t->promise + 1);
    s->view[s->views] = *next;
    for (uint32_t i = 0; i < t->members; i++) {
        if (next->part[i])
            s->view[s->views].missing |= (uint8_t)(1 << i);
        if (next->standing[i] && !s->view[leases_latest(s)].standing[i]) {
            s->at[i] = s->views;
            leases_restart(t, s, i);
            s->promised[i] = (uint8_t)t->promise;
        }
    }
    s->views++;
    s->owes_nothing = 0;
    for (uint32_t i = 0; t->prompt && i < t->members; i++)
        leases_install(t, s, i, leases_latest(s));
}

/* ----------------------------------------------------------------------------------------------------------- the model */

static void leases_expand(const struct model_task *t, const uint8_t *state, const struct model_out *out)
{
    struct leases s;
    struct leases_step step = {.task = t, .out = out, .from = &s};

    leases_get(t, &s, state);
    leases_grant(&step);
    leases_vouch(&step);
    leases_lead(t, &s, out);
    for (uint32_t i = 0; i < t->members; i++) {
        if (i != t->observed) {
            leases_beat(&step, i);
            leases_take_ack(&step, i);
            leases_grant_rival(&step, i);
        }
        leases_report(&step, i);
        if (!t->calm) {
            leases_restart(t, leases_begin_step(&step), i);
            leases_emit(&step, LEASES_RESTART, i, 0, NULL);
        }
        for (uint32_t v = s.at[i] + 1u; v < s.views; v++) {
            leases_install(t, leases_begin_step(&step), i, (uint8_t)v);
            leases_emit(&step, LEASES_INSTALL, i, v, NULL);
        }
    }
    leases_install_all(&step);
    leases_pass_time(&step);
}

static size_t leases_start(const struct model_task *t, uint8_t *state)
{
    struct leases s = {
        .views = 1, .began = (uint8_t)t->promise, .belief = (uint8_t)t->lease, .counted = (uint8_t)(t->promise + 1)};

    for (uint32_t i = 0; i < t->members; i++) {
        s.incarnation[i] = 1;
        s.promised[i] = (uint8_t)t->promise;
        s.acked[i] = s.sent[i] = (uint8_t)t->lease;
        if (i < t->founders) {
            s.view[0].standing[i] = VIEW_MEMBER + 1;
            s.view[0].part[i] = 1;
        }
    }
    return leases_put(t, &s, state);
}

static const struct model_mistake leases_mistakes[] = {
    [LEASES_SHORT_PROMISE] = {.name = "short-promise", .what = "a promise is one round shorter than the longest lease"},
    [LEASES_FORGET_PROMISES] = {.name = "forget-promises", .what = "a process that starts has no promises"},
    [LEASES_MINORITY] = {.name = "minority", .what = "the leader excludes with one report less than a majority"},
    [LEASES_NO_LEASE] = {.name = "no-lease", .what = "a member grants and vouches without a lease"},
    [LEASES_LONG_VALIDITY] = {.name = "long-validity",
                              .what = "a member vouches for a whole lease, not for the rest of it"},
    [LEASES_ACK_DROPPED] = {.name = "ack-dropped",
                            .what = "a member acknowledges heartbeats of one that it has dropped"},
    [LEASES_EARLY_REPORT] = {.name = "early-report",
                             .what = "a member reports that it owes nothing while its promise lasts"},
    [LEASES_EARLY_GIVE_UP] = {.name = "early-give-up",
                              .what = "a dropped member says that it has given up before its client knows"},
    [LEASES_EARLY_RETURN] = {.name = "early-return",
                             .what = "a process that starts says at once that its old lease is over"},
    [LEASES_EARLY_CHANGE] = {.name = "early-change",
                             .what = "the roster changes again while older leases are valid",
                             .members = 5,
                             .lease = 1,
                             .roster = true,
                             .calm = true,
                             .prompt = true},
    [LEASES_UNREPORTED] = {.name = "unreported",
                           .what = "the roster changes again before all have installed the last change",
                           .founders = 1,
                           .roster = true,
                           .calm = true},
    [LEASES_NOT_OPEN] = {.name = "not-open", .what = "a member grants before all others have installed its view"},
    [LEASES_NO_DIGEST] = {.name = "no-digest",
                          .what = "members ask no other one what its clients have held since an earlier view"},
    [LEASES_MISTAKES] = {0},
};

/* A1, at its worst: the clocks of the observed member and of its client advance by 19 while 20 milliseconds pass, and those of
 * members that have promised by 21. A clock that counts whole milliseconds shows one more than has passed, at most. */
static void leases_set_clocks(struct model_task *t)
{
    t->lease_ms = t->lease;
    t->lease = (t->lease_ms * 20 + 18) / 19;
    t->promise = (uint32_t)(promise_stretch_ms(t->lease_ms) - 1) * 20 / 21;
}

static const char *leases_set(struct model_task *t)
{
    model_set_bounds(t);
    if (t->views || t->held || t->change || t->lost)
        return "this model has no options --views, --begin-held, --lost and --change";
    t->members = t->members ? t->members : LEASES_MEMBERS;
    t->founders = t->founders ? t->founders : t->members;
    t->lease = t->lease ? t->lease : t->clocks ? 19 : t->mistake < 0 ? 1 : 2;
    t->promise = t->lease;
    if (t->clocks)
        leases_set_clocks(t);
    t->promise -= leases_makes(t, LEASES_SHORT_PROMISE);
    if (t->founders > t->members)
        return "there are more founders than members";
    return t->observed >= t->members ? "the observed member is none of the members" : NULL;
}

static bool leases_is_time(struct model_move move)
{
    return move.what == LEASES_TIME;
}

static void leases_print_bounds(const struct model_task *t, FILE *to)
{
    fprintf(to, "%u members", t->members);
    if (t->founders < t->members)
        fprintf(to, ", %u in the first roster", t->founders);
    if (t->clocks)
        fprintf(to, ", a lease of %u ms on clocks that are wrong by a twentieth", t->lease_ms);
    else
        fprintf(to, ", a lease of %u round%s", t->lease, t->lease == 1 ? "" : "s");
    fprintf(to, ", the clients of member %u%s%s%s", t->observed, t->roster ? ", members are added and removed" : "",
            t->calm ? ", only that member is cut off" : "", t->prompt ? ", views are installed at once" : "");
}

const struct model model_leases = {
    .name = "leases",
    .about = "views, promises, leases and changes of the roster (src/member)",
    .property = "no two clients believe in an exclusive lock at the same time",
    .mistakes = leases_mistakes,
    .set = leases_set,
    .begin = leases_start,
    .expand = leases_expand,
    .tell = leases_tell,
    .is_time = leases_is_time,
    .print_bounds = leases_print_bounds,
};
