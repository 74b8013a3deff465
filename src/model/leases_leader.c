/* leases_leader.c - which views the leader of the model may propose: by the daemon's own functions, plan.h, promise.h and
 * next.h of src/member, called with all that the leader may know. See leases.h. */
#include "leases.h"

#include "member/next.h"
#include "member/promise.h"

#include <string.h>

static bool leases_gave_up(const struct model_task *t, const struct leases *s)
{
    return s->dropped && (s->belief >= t->lease || s->hold == LEASES_GHOST || leases_makes(t, LEASES_EARLY_GIVE_UP));
}

bool leases_owes_nothing(const struct model_task *t, const struct leases *s, uint32_t i)
{
    bool takes_part = leases_takes_part(s, i), dropped = s->droppers >> i & 1;
    uint64_t began_ms = LEASES_NOW - (leases_makes(t, LEASES_EARLY_RETURN) ? t->promise : s->began);

    if (i == t->observed)
        return promise_reports_itself(takes_part, leases_gave_up(t, s), began_ms, t->promise, LEASES_NOW);
    if (leases_makes(t, LEASES_EARLY_REPORT) && dropped)
        return true;
    return promise_owes_nothing(&(struct promise_debt){takes_part, dropped, LEASES_NOW - s->promised[i] + t->promise},
                                LEASES_NOW);
}

/* What one leader knows. The model chooses each of these freely, within what the members have reported. */
struct leases_look {
    const struct model_task *task;
    const struct leases *state;
    const struct model_out *out;
    uint32_t leader;
    uint32_t heard;    /* the set of members whose reports the leader has */
    bool hears_rest;   /* the others are heard, too, but have not reported this view */
    uint32_t unwanted; /* a member that is to leave for another reason; `members`: none */
    bool late;         /* the leader has not noticed that the observed member has started again */
    struct leases_real now, next;
    struct beat beat[MODEL_MEMBERS_MAX];
    struct plan_in in;
    struct plan plan;
    uint64_t incarnation[VIEW_MEMBERS_MAX], disk[VIEW_MEMBERS_MAX];
    /* The views that this state's leaders have proposed already. */
    struct leases_view seen[64];
    uint32_t seen_count;
};

static void leases_set_beat(struct leases_look *look, uint32_t k, bool owes_nothing, uint64_t hears)
{
    const struct model_task *t = look->task;
    uint32_t observed = look->now.place[t->observed];
    struct beat *beat = &look->beat[k];
    uint64_t bit = observed == VIEW_MEMBERS_MAX ? 0 : plan_bit(observed);

    /* Promises to members that are not observed have always run out. */
    *beat = (struct beat){.hears = hears, .owes_nothing = ~bit};
    if (owes_nothing)
        beat->owes_nothing |= bit;
    look->in.said[k] = beat;
}

/* Is the leader's link to the observed member still that of the process before? */
static bool leases_mistakes_incarnation(const struct leases_look *look, uint32_t i)
{
    return look->late && i == look->task->observed && i != look->leader;
}

static void leases_look_around(struct leases_look *look)
{
    const struct leases *s = look->state;
    const struct model_task *t = look->task;
    uint64_t hears = 0;

    memset(&look->in, 0, sizeof look->in);
    look->in.view = &look->now.view;
    look->in.self = look->now.place[look->leader];
    look->in.looks = true;
    for (uint32_t k = 0; k < look->now.view.count; k++)
        if (look->hears_rest || look->heard >> look->now.member[k] & 1)
            hears |= plan_bit(k);
    for (uint32_t k = 0; k < look->now.view.count; k++) {
        uint32_t i = look->now.member[k];
        uint64_t part = look->now.view.member[k].incarnation;
        bool owes_nothing = s->owes_nothing >> i & 1 || (i == look->leader && leases_makes(t, LEASES_MINORITY));

        look->incarnation[k] = leases_mistakes_incarnation(look, i) ? part : s->incarnation[i];
        if (look->heard >> i & 1)
            leases_set_beat(look, k, owes_nothing, hears);
        if (look->now.view.member[k].standing == VIEW_REMOVED)
            look->in.unwilling |= plan_bit(k);
        if (look->incarnation[k] > part)
            look->in.renewed |= plan_bit(k);
        if (look->incarnation[k] == part)
            look->in.present |= plan_bit(k);
        if (i == look->unwanted)
            look->in.drops |= plan_bit(k);
    }
}

/* The view is agreed when it is proposed. That it may take longer makes no difference: until a member installs it, it goes on as
 * if the view were not agreed. */
static void leases_propose(struct leases_look *look, const struct view *view)
{
    struct leases to;
    struct leases_view next;
    uint8_t bytes[MODEL_STATE_MAX];

    leases_from_real(view, &next);
    for (uint32_t k = 0; k < look->seen_count; k++)
        if (memcmp(&look->seen[k], &next, sizeof next) == 0)
            return;
    if (look->seen_count < sizeof look->seen / sizeof look->seen[0])
        look->seen[look->seen_count++] = next;
    to = *look->state;
    leases_agree(look->task, &to, &next);
    look->out->emit(look->out->user, (struct model_move){LEASES_AGREE, (uint8_t)look->leader, 0}, bytes,
                    leases_put(look->task, &to, bytes), NULL);
}

static void leases_copy_view(struct leases_look *look)
{
    leases_make_real(look->task, &look->state->view[leases_latest(look->state)], &look->next);
    look->next.view.number = 2;
}

static void leases_change_roster(struct leases_look *look, const struct next_wish *wish, uint64_t taken_back)
{
    const struct model_task *t = look->task;
    uint8_t counted = look->state->counted;
    struct plan plan = look->plan;
    struct next_in in = {.look = &look->in,
                         .plan = &plan,
                         .old_leases_over = counted <= t->promise &&
                                            promise_old_leases_are_over(LEASES_NOW - counted, t->promise, LEASES_NOW),
                         .caught_up = UINT64_MAX,
                         .forgotten = UINT64_MAX,
                         .taken_back = taken_back,
                         .wish = wish};

    if (leases_makes(t, LEASES_EARLY_CHANGE))
        in.old_leases_over = true;
    if (leases_makes(t, LEASES_UNREPORTED))
        plan.stay = 0;
    leases_copy_view(look);
    if (next_change_roster(&in, &look->next.view))
        leases_propose(look, &look->next.view);
}

static void leases_change_rosters(struct leases_look *look)
{
    static const char *const names[] = {"ant", "bee", "cat", "dog", "elk"}, *const hosts[] = {"a", "b", "c", "d", "e"};

    leases_change_roster(look, NULL, 0);
    leases_change_roster(look, NULL, UINT64_MAX);
    for (uint32_t i = 0; i < look->task->members; i++) {
        struct next_wish wish = {!look->state->view[leases_latest(look->state)].standing[i], true, names[i], hosts[i]};

        leases_change_roster(look, &wish, 0);
    }
}

/* Protocol 8: the time in which older leases run out begins. */
static void leases_begin_count(struct leases_look *look)
{
    struct leases to = *look->state;
    uint8_t bytes[MODEL_STATE_MAX];

    if (to.counted <= look->task->promise ||
        !(next_all_report(&look->in, &look->plan) || leases_makes(look->task, LEASES_UNREPORTED)))
        return;
    to.counted = 0;
    look->out->emit(look->out->user, (struct model_move){LEASES_COUNTED, (uint8_t)look->leader, 0}, bytes,
                    leases_put(look->task, &to, bytes), NULL);
}

/* As lease_lead in node/lease.c. */
static void leases_decide(struct leases_look *look)
{
    leases_look_around(look);
    plan_make(&look->in, &look->plan);
    if (look->plan.leave && !plan_is_due(&look->in, &look->plan))
        return;
    leases_copy_view(look);
    next_let_in(&look->plan, look->incarnation, look->disk, &look->next.view);
    leases_propose(look, &look->next.view); /* if no member comes or leaves: a view with the same members */
    if (look->plan.leave || look->plan.come || !look->task->roster)
        return;
    leases_begin_count(look);
    leases_change_rosters(look);
}

static void leases_lead_with(struct leases_look *look)
{
    const struct model_task *t = look->task;
    uint8_t part = look->state->view[leases_latest(look->state)].part[t->observed];
    bool may_be_late = part && part < look->state->incarnation[t->observed];

    for (look->unwanted = 0; look->unwanted <= t->members; look->unwanted++)
        for (uint32_t late = 0; late <= may_be_late; late++)
            for (uint32_t rest = t->calm; rest < 2; rest++) {
                if (t->calm && look->unwanted != t->observed && look->unwanted != t->members)
                    continue;
                look->late = late;
                look->hears_rest = rest;
                leases_decide(look);
            }
}

void leases_lead(const struct model_task *t, const struct leases *s, const struct model_out *out)
{
    static struct leases_look look;
    bool all_heard = t->calm && t->prompt; /* only the observed member is late, or not heard */
    uint32_t said = 0;

    look.task = t;
    look.state = s;
    look.out = out;
    look.seen_count = 0;
    leases_make_real(t, &s->view[leases_latest(s)], &look.now);
    for (uint32_t i = 0; i < t->members; i++)
        said |= s->at[i] == leases_latest(s) ? 1u << i : 0; /* it may have reported the view, and may not */
    for (look.leader = 0; look.leader < t->members; look.leader++) {
        if (s->at[look.leader] != leases_latest(s) || look.now.place[look.leader] == VIEW_MEMBERS_MAX)
            continue;
        for (uint32_t heard = 0; heard < 1u << t->members; heard++)
            if ((heard & ~said & ~(1u << look.leader)) == 0 && heard >> look.leader & 1 &&
                (!all_heard || (said & ~heard & ~(1u << t->observed)) == 0)) {
                look.heard = heard;
                leases_lead_with(&look);
            }
    }
}
