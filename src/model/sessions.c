/* sessions.c - see sessions.h: what members, clients and the agreement do next. Comments cite the rules of README.md of src/node. */
#include "sessions.h"

#include <string.h>

static const char *const sessions_early = "a client is told of a lock of which a member of the view has no record",
                         *const sessions_two = "two clients hold an exclusive lock",
                         *const sessions_lost = "a lock that a kept session holds is granted to another client",
                         *const sessions_unknown = "a session that holds a lock is not known at a member",
                         *const sessions_emptied = "a session is resumed without its lock";

struct sessions_step {
    const struct model_task *task;
    const struct model_out *out;
    const struct sessions *from;
    struct sessions to;
};

static struct sessions *sessions_begin_step(struct sessions_step *step)
{
    step->to = *step->from;
    return &step->to;
}

static void sessions_emit(struct sessions_step *step, enum sessions_move what, uint32_t who, uint32_t arg,
                          const char *broken)
{
    uint8_t bytes[MODEL_STATE_MAX];
    struct model_move move = {(uint8_t)what, (uint8_t)who, (uint8_t)arg};
    size_t len = sessions_put(step->task, &step->to, bytes);

    step->out->emit(step->out->user, move, bytes, len, broken);
}

/* -------------------------------------------------------------------------------------------------------- the agreement */

/* The record is lost if no member of the new view has taken part without a break since the last view that opened. */
static bool sessions_is_remembered(const struct model_task *t, const struct sessions *s)
{
    for (uint32_t i = 0; i < t->members; i++)
        if (s->view[s->views].since[i] && s->view[s->views].since[i] <= s->complete)
            return true;
    return false;
}

/* The next view. `how` has two bits for each member: it is out (0), stays (1) or is a new process (2). */
static void sessions_agree(struct sessions_step *step, uint32_t how)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    const struct sessions_view *before = &s->view[s->views];
    struct sessions_view next = {0};
    bool any = false;
    uint32_t changes = 0;

    for (uint32_t i = 0; i < t->members; i++) {
        uint32_t does = how >> 2 * i & 3;

        if (does == 3 || (does == 1 && !before->since[i]))
            return;
        next.since[i] = (uint8_t)(does == 1 ? before->since[i] : does == 2 ? s->views + 1 : 0);
        any |= does != 0;
        changes += next.since[i] != before->since[i];
        if (does == 1 || !before->since[i])
            continue;
        if (s->rival == i + 1) /* I18 */
            s->rival = 0;
    }
    if (!any || (t->calm && changes > 1))
        return;
    s->view[++s->views] = next;
    if (!sessions_is_remembered(t, s))
        s->kept = false;
    sessions_emit(step, SESSIONS_AGREE, 0, how, NULL);
}

/* Has the member a lease? It has none if an agreed view excludes it (I18). */
static bool sessions_has_lease(const struct sessions *s, uint32_t i)
{
    return s->member[i].part && s->view[s->views].since[i] == sessions_since(s, i, i);
}

static bool sessions_grants(const struct sessions *s, uint32_t i)
{
    return sessions_has_lease(s, i) && s->member[i].opened == s->member[i].at;
}

static bool sessions_is_free(const struct sessions *s, uint32_t i)
{
    const struct sessions_view *v = &s->view[s->member[i].at];

    return !v->claims && !v->rivals;
}

/* ------------------------------------------------------------------------------------------------------------- members */

/* Is it a letter by which a member begins a view? */
static bool sessions_begins_view(const struct sessions_letter *letter)
{
    return letter->type == SESSIONS_REPORT || letter->type == SESSIONS_SYNC || letter->type == SESSIONS_MARK ||
           (letter->number == 0 && (letter->type == SESSIONS_GRANT || letter->type == SESSIONS_MOVE));
}

/* Member `i` hears one letter of member `j`; or all by which `j` begins a view, in one move. Nothing else can be heard from `j`
 * meanwhile, and that MARK has come allows only what need not happen. */
static bool sessions_hear_some(const struct model_task *t, struct sessions *s, uint32_t j, uint32_t i)
{
    struct sessions_letter first = s->letter[j][i][0], *next = &s->letter[j][i][0];

    if (!sessions_hear(t, s, j, i))
        return false;
    while (sessions_begins_view(&first) && first.type != SESSIONS_MARK && s->letters[j][i] &&
           next->view == first.view && sessions_begins_view(next)) {
        first = *next;
        if (!sessions_hear(t, s, j, i))
            break;
    }
    return true;
}

static void sessions_go_on(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (sessions_may_pass(t, s, i)) {
        bool chooses = sessions_must_choose(t, s, i) && !s->view[m->at].choice;
        uint32_t parts = 0;

        for (uint32_t j = 0; j < t->members; j++)
            parts += sessions_since(s, i, j) != 0;
        for (uint32_t k = 0; k < (chooses ? parts : 1); k++) {
            s = sessions_begin_step(step);
            if (chooses)
                s->view[s->member[i].at].choice = (uint8_t)(k + 1);
            sessions_emit(step, SESSIONS_PASS, i, k, sessions_pass(t, s, i));
        }
    }
    s = sessions_begin_step(step);
    if (m->part && !m->awaits && m->opened < m->at && s->complete >= m->at) {
        m->opened = m->at;
        sessions_emit(step, SESSIONS_OPEN, i, 0, NULL);
    }
    for (uint32_t v = s->member[i].at + 1u; v <= s->views; v++) {
        s = sessions_begin_step(step);
        sessions_install(t, s, i, (uint8_t)v);
        sessions_emit(step, SESSIONS_INSTALL, i, v, NULL);
    }
    for (uint32_t j = 0; j < t->members; j++) {
        s = sessions_begin_step(step);
        if (j != i && sessions_hear_some(t, s, j, i))
            sessions_emit(step, SESSIONS_HEAR, i, j, NULL);
    }
}

/* Rule 6: the owner has cut the client off, and lets the session move to the member that wants it. */
static void sessions_begin_move(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (!m->own || !m->wanted_by || m->claim == SESSIONS_NONE || m->awaits)
        return;
    m->moves_to = m->wanted_by;
    m->wanted_by = 0;
    m->made++;
    sessions_say_all(t, s, i, (struct sessions_letter){.type = SESSIONS_MOVE, .number = m->made, .to = m->moves_to});
    sessions_emit(step, SESSIONS_BEGIN_MOVE, i, 0, NULL);
}

/* --------------------------------------------------------------------------------------------------- the session's client */

/* The lock is granted to the session; its client is not told yet (rule 1). */
static void sessions_lock(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (s->granted || !m->own || m->claim != SESSIONS_NONE || m->withdrawn || sessions_is_unsure(m) ||
        !sessions_grants(s, i) || !sessions_is_free(s, i))
        return;
    s->granted = true;
    m->claim = SESSIONS_PENDING;
    m->kept = ++m->made;
    s->view[m->at].claims |= (uint8_t)(1 << i);
    sessions_say_all(t, s, i, (struct sessions_letter){.type = SESSIONS_GRANT, .number = m->made});
    sessions_count_acks(t, s, i);
    sessions_emit(step, SESSIONS_LOCK, i, 0, NULL);
}

/* I33: has every member of the view of member `i` a record, unless it has installed a later view without that? */
static bool sessions_all_know(const struct model_task *t, const struct sessions *s, uint32_t i)
{
    for (uint32_t j = 0; j < t->members; j++) {
        const struct sessions_member *m = &s->member[j];

        if (sessions_is_peer(t, s, i, j) && m->at <= s->member[i].at &&
            !(m->known && sessions_since(s, j, j) == sessions_since(s, i, j)))
            return false;
    }
    return true;
}

/* The client is told that it holds the lock. */
static void sessions_tell(struct sessions_step *step, uint32_t i)
{
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (!m->own || m->claim != SESSIONS_READY || m->leaves || !sessions_has_lease(s, i))
        return;
    m->claim = SESSIONS_HELD;
    s->kept = true;
    sessions_emit(step, SESSIONS_TELL, i, 0,
                  s->rival                               ? sessions_two
                  : !sessions_all_know(step->task, s, i) ? sessions_early
                                                         : NULL);
}

/* Rule 2: the client releases the lock, or the keep time is over. In the second case the session ends; in the first it stays without
 * locks, and no other member knows it. */
static void sessions_end(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (!m->own || m->claim == SESSIONS_NONE || sessions_is_unsure(m) || m->leaves || m->moves_to)
        return;
    s->kept = false;
    sessions_withdraw(t, s, i);
    sessions_forget(m);
    sessions_emit(step, SESSIONS_RELEASE, i, 0, NULL);
}

static bool sessions_is_asked(const struct sessions *s, uint32_t from, uint32_t owner)
{
    for (uint32_t k = 0; k < s->letters[from][owner]; k++)
        if (s->letter[from][owner][k].type == SESSIONS_ASK)
            return true;
    return s->member[owner].wanted_by;
}

/* Rule 6: the client shows the session's id to member `i`. If the session is there, nothing that is modelled changes. */
static void sessions_resume(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];
    uint32_t owner = m->owner - 1u;

    if (!s->kept || !sessions_grants(s, i))
        return;
    if (!m->known) {
        sessions_emit(step, SESSIONS_RESUME, i, 0, sessions_unknown);
    } else if (m->own && m->claim == SESSIONS_NONE && !sessions_is_unsure(m)) {
        sessions_emit(step, SESSIONS_RESUME, i, 2, sessions_emptied);
    } else if (!m->own && sessions_is_peer(t, s, i, owner) && !sessions_is_asked(s, i, owner)) {
        sessions_say(s, i, owner, (struct sessions_letter){.type = SESSIONS_ASK});
        sessions_emit(step, SESSIONS_RESUME, i, 1, NULL);
    }
}

/* ----------------------------------------------------------------------------------------------------------- the rival */

static void sessions_rival(struct sessions_step *step, uint32_t i)
{
    struct sessions *s = sessions_begin_step(step);

    if (!s->rival && sessions_grants(s, i) && sessions_is_free(s, i)) {
        s->rival = (uint8_t)(i + 1);
        s->view[s->member[i].at].rivals |= (uint8_t)(1 << i);
        sessions_emit(step, SESSIONS_RIVAL, i, 0, s->kept ? sessions_lost : NULL);
    }
    s = sessions_begin_step(step);
    if (s->rival == i + 1) {
        s->rival = 0;
        s->view[s->member[i].at].rivals &= (uint8_t) ~(1 << i);
        sessions_emit(step, SESSIONS_RIVAL_LEAVES, i, 0, NULL);
    }
}

/* ----------------------------------------------------------------------------------------------------------- the model */

static void sessions_expand(const struct model_task *t, const uint8_t *state, const struct model_out *out)
{
    static struct sessions s;
    static struct sessions_step step;

    step.task = t;
    step.out = out;
    step.from = &s;
    sessions_get(t, &s, state);
    for (uint32_t how = 0; s.views <= t->views && how < 1u << 2 * t->members; how++)
        sessions_agree(&step, how);
    for (uint32_t i = 0; i < t->members; i++) {
        sessions_go_on(&step, i);
        sessions_begin_move(&step, i);
        sessions_lock(&step, i);
        sessions_tell(&step, i);
        sessions_end(&step, i);
        sessions_resume(&step, i);
        sessions_rival(&step, i);
    }
}

/* All members take part in the first view, which has opened, and the session is at the first of them. With `--founders N` only
 * these do. */
static size_t sessions_start(const struct model_task *t, uint8_t *state)
{
    static struct sessions s;

    memset(&s, 0, sizeof s);
    s.views = s.complete = 1;
    for (uint32_t i = 0; i < t->members; i++)
        s.view[1].since[i] = i < t->founders;
    for (uint32_t i = 0; i < t->members; i++) {
        struct sessions_member *m = &s.member[i];

        m->at = 1;
        m->part = i < t->founders;
        if (!m->part)
            continue;
        m->passed = m->opened = 1;
        s.view[1].passed |= (uint8_t)(1 << i);
        for (uint32_t j = 0; j < t->founders; j++)
            if (j != i)
                m->peer[j] = (struct sessions_peer){.since = 1, .greeted = true, .synced = true};
    }
    for (uint32_t i = 1; t->held && i < t->founders; i++) {
        s.member[i].known = true;
        s.member[i].record = s.member[i].owner = s.member[i].since = 1;
    }
    if (t->held) {
        s.granted = s.kept = true;
        s.view[1].claims = 1;
        s.member[0].claim = SESSIONS_HELD;
    }
    s.member[0].known = s.member[0].own = true;
    s.member[0].owner = 1;
    s.member[0].since = 1;
    return sessions_put(t, &s, state);
}

static const struct model_mistake sessions_mistakes[] = {
    [SESSIONS_TELL_EARLY] = {.name = "tell-early",
                             .what = "a client is told of its lock before all members have the record"},
    [SESSIONS_LEAVE_EARLY] = {.name = "leave-early",
                              .what = "a site leaves before all members have withdrawn the record"},
    [SESSIONS_NO_GREETING] = {.name = "no-greeting", .what = "a member that comes is not told what sessions hold"},
    [SESSIONS_NO_DOUBT] = {.name = "no-doubt",
                           .what = "a grant that all knew is told after a member has come that does not know"},
    [SESSIONS_NO_REPORT] = {.name = "no-report", .what = "members do not report records that have no owner"},
    [SESSIONS_NO_BARRIER] = {.name = "no-barrier", .what = "a member chooses owners before all reports have come"},
    [SESSIONS_HEAR_EARLY] = {.name = "hear-early", .what = "letters behind a MARK are heard before the barrier"},
    [SESSIONS_SURE] = {.name = "sure", .what = "a member is certain of an owner of a view that has not opened"},
    [SESSIONS_MOVE_ORPHAN] = {.name = "move-orphan",
                              .what = "a session without an owner moves as that wanted",
                              .members = 3,
                              .views = 2,
                              .calm = true,
                              .held = true},
    [SESSIONS_REMEMBER] = {.name = "remember", .what = "a member that was excluded remembers its sessions"},
    [SESSIONS_NO_WITHDRAWAL] = {.name = "no-withdrawal", .what = "the record of a released lock stays"},
    [SESSIONS_MISTAKES] = {0},
};

static const char *sessions_set(struct model_task *t)
{
    if (t->lease || t->roster || t->observed || t->prompt || t->clocks)
        return "this model has the options --members, --founders, --views, --begin-held, --calm and --mistake only";
    model_set_bounds(t);
    t->members = t->members ? t->members : t->mistake < 0 ? SESSIONS_MEMBERS : 2;
    t->founders = t->founders ? t->founders : t->members;
    t->views = t->views ? t->views : t->mistake < 0 ? 1 : 2;
    if (t->members > SESSIONS_MEMBERS)
        return "there are at most three members";
    if (t->views >= SESSIONS_VIEWS)
        return "the view changes at most five times";
    return t->founders > t->members ? "there are more founders than members" : NULL;
}

static bool sessions_is_time(struct model_move move)
{
    (void)move;
    return false;
}

static void sessions_print_bounds(const struct model_task *t, FILE *to)
{
    fprintf(to, "%u members", t->members);
    if (t->founders < t->members)
        fprintf(to, ", %u in the first view", t->founders);
    fprintf(to, ", one session that %s, the view changes %u time%s at most%s",
            t->held ? "holds one lock" : "is granted one lock once", t->views, t->views == 1 ? "" : "s",
            t->calm ? ", by one member each" : "");
}

const struct model model_sessions = {
    .name = "sessions",
    .about = "kept sessions: records, owners, moves (src/node)",
    .property = "a lock of a kept session is not lost, and no other client is granted it",
    .mistakes = sessions_mistakes,
    .set = sessions_set,
    .begin = sessions_start,
    .expand = sessions_expand,
    .tell = sessions_tell_story,
    .is_time = sessions_is_time,
    .print_bounds = sessions_print_bounds,
};
