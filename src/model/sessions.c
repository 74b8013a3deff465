/* sessions.c - see sessions.h: what members, clients and the agreement do next. Comments cite the rules of README.md of src/node. */
#include "sessions.h"

#include <string.h>

static const char *const sessions_early = "a client is told of a lock of which a member of the view has no record",
                         *const sessions_two = "two clients hold an exclusive lock",
                         *const sessions_lost = "a lock that a kept session holds is granted to another client",
                         *const sessions_unknown = "a session that holds a lock is not known at a member",
                         *const sessions_emptied = "a session is resumed without its lock",
                         *const sessions_former = "a session is resumed with its lock as it was before the upgrade",
                         *const sessions_behind = "a client is told of a lock, and a member has the record of before";

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

/* --lost: may member `i` be out of the next view (0), stay (1) or be a new process (2)? */
static bool sessions_may_be(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t does)
{
    char letter = t->lost ? t->lost[(s->views - 1u) * (t->members + 1) + i] : 0;
    uint32_t stays = s->view[s->views].since[i] != 0;

    return !t->lost || does == (letter == 's' ? stays : letter == 'n' ? 2 : 0);
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
        if (!sessions_may_be(t, s, i, does))
            return;
        if (does == 1 || !before->since[i])
            continue;
        if (s->rival == i + 1) /* I18 */
            s->rival = 0;
    }
    if (!any || (t->calm && changes > 1))
        return;
    s->view[++s->views] = next;
    if (!sessions_is_remembered(t, s))
        s->kept = 0;
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

/* May the lock be granted, shared or exclusively, at member `i`? */
static bool sessions_is_free(const struct sessions *s, uint32_t i, bool shared)
{
    const struct sessions_view *v = &s->view[s->member[i].at];

    return shared ? !v->alone : !v->claims && !v->rivals;
}

/* Does member `i` have the only claim in the cluster? */
static bool sessions_is_only(const struct sessions *s, uint32_t i)
{
    const struct sessions_view *v = &s->view[s->member[i].at];

    return v->claims == 1 << i && !v->rivals;
}

/* Does the client believe that it has the lock alone? */
static bool sessions_believes_alone(const struct model_task *t, const struct sessions *s)
{
    return t->change == MODEL_UPGRADE ? s->kept & 2 : s->kept && !s->shares;
}

/* May member `i` do anything with its session `q`? */
static bool sessions_may_act(const struct sessions *s, uint32_t i, uint32_t q)
{
    const struct sessions_member *m = &s->member[i];

    return m->session[q].own && !sessions_is_unsure(m, q) && !m->session[q].leaves && !m->session[q].moves_to;
}

/* ------------------------------------------------------------------------------------------------------------- members */

/* Is it a letter by which a member begins a view? */
static bool sessions_begins_view(const struct sessions_letter *letter)
{
    return letter->type == SESSIONS_REPORT || letter->type == SESSIONS_SYNC || letter->type == SESSIONS_MARK ||
           (letter->number == 0 && (letter->type == SESSIONS_GRANT || letter->type == SESSIONS_MOVE));
}

/* Member `i` hears one letter of member `j`; or all by which `j` begins a view, in one move. Nothing else can be heard from `j`
 * meanwhile, and that MARK has come allows only what need not happen. But a view may begin between two reports. */
static bool sessions_hear_some(const struct model_task *t, struct sessions *s, uint32_t j, uint32_t i)
{
    struct sessions_letter first = s->letter[j][i][0], *next = &s->letter[j][i][0];

    if (!sessions_hear(t, s, j, i))
        return false;
    while (sessions_begins_view(&first) && first.type != SESSIONS_MARK && s->letters[j][i] &&
           next->view == first.view && sessions_begins_view(next) &&
           !(first.type == SESSIONS_REPORT && next->type == SESSIONS_REPORT)) {
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
static void sessions_begin_move(struct sessions_step *step, uint32_t i, uint32_t q)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];
    struct sessions_kept *e = &m->session[q];

    if (!e->own || !e->wanted_by || !sessions_has_claim(t, m, q) || m->awaits)
        return;
    e->moves_to = e->wanted_by;
    e->wanted_by = 0;
    m->made++;
    sessions_say_all(
        t, s, i,
        (struct sessions_letter){.type = SESSIONS_MOVE, .number = m->made, .to = e->moves_to, .which = (uint8_t)q});
    sessions_emit(step, SESSIONS_BEGIN_MOVE, i, q, NULL);
}

/* --------------------------------------------------------------------------------------------------- the session's client */

/* The claim of record `k` is granted. All others get the record. */
static void sessions_grant(const struct model_task *t, struct sessions *s, uint32_t i, uint32_t k)
{
    struct sessions_member *m = &s->member[i];
    struct sessions_record *x = &m->lock[k];

    s->granted |= (uint8_t)(1 << k);
    x->claim = SESSIONS_PENDING;
    x->shared = t->change == MODEL_UPGRADE && k == 0;
    x->alone = !x->shared;
    x->kept = ++m->made;
    sessions_say_all(
        t, s, i,
        (struct sessions_letter){.type = SESSIONS_GRANT, .number = m->made, .which = (uint8_t)k, .shared = x->shared});
}

/* The lock is granted to the session; its client is not told yet (rule 1). */
static void sessions_lock(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (s->granted & 1 || !m->session[0].own || m->lock[0].claim != SESSIONS_NONE || m->lock[0].withdrawn ||
        sessions_is_unsure(m, 0) || !sessions_grants(s, i) || !sessions_is_free(s, i, t->change == MODEL_UPGRADE))
        return;
    sessions_grant(t, s, i, 0);
    sessions_count_acks(t, s, i);
    sessions_emit(step, SESSIONS_LOCK, i, 0, NULL);
}

/* Rule 2: the lock is passed on to the second session, behind the withdrawal of the first one's record. */
static void sessions_follow(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (t->change != MODEL_FOLLOW || s->granted & 2 || !m->lock[0].withdrawn || !sessions_may_act(s, i, 1) ||
        !sessions_grants(s, i) || !sessions_is_only(s, i))
        return;
    sessions_grant(t, s, i, 1);
    sessions_count_acks(t, s, i);
    sessions_emit(step, SESSIONS_FOLLOW, i, 0, NULL);
}

/* Rule 11: the claim, the only one in the cluster, is exclusive from now on. Its client is told when all members have withdrawn the record of
 * before. */
static void sessions_upgrade(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (t->change != MODEL_UPGRADE || s->granted & 2 || s->kept != 1 || m->lock[0].claim != SESSIONS_HELD ||
        !sessions_may_act(s, i, 0) || !sessions_grants(s, i) || !sessions_is_only(s, i))
        return;
    m->lock[0] = (struct sessions_record){0};
    sessions_grant(t, s, i, 1);
    m->made++;
    sessions_say_all(t, s, i, (struct sessions_letter){.type = SESSIONS_FREE, .number = m->made});
    m->lock[1].kept = (uint8_t)(m->made - sessions_makes(t, SESSIONS_UPGRADE_EARLY));
    sessions_count_acks(t, s, i);
    sessions_emit(step, SESSIONS_UPGRADE, i, 0, NULL);
}

/* Rule 11: the client shares the lock from now on. The claim does when all members know it. */
static void sessions_downgrade(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (t->change != MODEL_DOWNGRADE || s->shares || !s->kept || m->lock[0].claim != SESSIONS_HELD ||
        !sessions_may_act(s, i, 0) || !sessions_grants(s, i))
        return;
    s->shares = true;
    m->lock[0].claim = SESSIONS_SHARES;
    m->lock[0].shared = true;
    m->lock[0].kept = ++m->made;
    sessions_say_all(t, s, i, (struct sessions_letter){.type = SESSIONS_GRANT, .number = m->made, .shared = true});
    sessions_count_acks(t, s, i);
    sessions_emit(step, SESSIONS_DOWNGRADE, i, 0, NULL);
}

/* I33: has every member of the view of member `i` record `k`, unless it has installed a later view without that? And has none the one
 * before it? */
static const char *sessions_all_know(const struct model_task *t, const struct sessions *s, uint32_t i, uint32_t k)
{
    for (uint32_t j = 0; j < t->members; j++) {
        const struct sessions_member *m = &s->member[j];

        if (!sessions_is_peer(t, s, i, j) || m->at > s->member[i].at)
            continue;
        if (!m->session[sessions_of(t, k)].known || sessions_since(s, j, j) != sessions_since(s, i, j) ||
            (t->change && !m->lock[k].record && m->lock[k].claim == SESSIONS_NONE))
            return sessions_early;
        if (k && m->lock[0].record && !m->lock[0].hearsay)
            return sessions_behind;
    }
    return NULL;
}

/* The client is told that it holds the lock. */
static void sessions_tell(struct sessions_step *step, uint32_t i, uint32_t k)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];
    uint32_t q = sessions_of(t, k);

    if (!m->session[q].own || m->lock[k].claim != SESSIONS_READY || m->session[q].leaves || !sessions_has_lease(s, i))
        return;
    m->lock[k].claim = SESSIONS_HELD;
    s->kept = (uint8_t)(t->change == MODEL_FOLLOW ? s->kept | 1 << k : 1 << k);
    sessions_emit(step, SESSIONS_TELL, i, k,
                  s->kept == 3 || (s->rival && (!sessions_shares(t) || m->lock[k].alone))
                      ? sessions_two
                      : sessions_all_know(t, s, i, k));
}

/* Rule 2: the client releases the lock, or the keep time is over. In the second case the session ends; in the first it stays without
 * locks, and no other member knows it. */
static void sessions_end(struct sessions_step *step, uint32_t i, uint32_t q)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];

    if (!sessions_has_claim(t, m, q) || !sessions_may_act(s, i, q))
        return;
    s->kept &= (uint8_t)(t->change == MODEL_FOLLOW ? ~(1 << q) : 0);
    for (uint32_t k = 0; k < sessions_records(t); k++)
        if (sessions_of(t, k) == q && m->lock[k].claim != SESSIONS_NONE)
            sessions_withdraw(t, s, i, k);
    sessions_forget(t, m, q);
    sessions_emit(step, SESSIONS_RELEASE, i, q, NULL);
}

static bool sessions_is_asked(const struct sessions *s, uint32_t from, uint32_t owner, uint32_t q)
{
    for (uint32_t k = 0; k < s->letters[from][owner]; k++)
        if (s->letter[from][owner][k].type == SESSIONS_ASK && s->letter[from][owner][k].which == q)
            return true;
    return s->member[owner].session[q].wanted_by;
}

/* Rule 6: the client shows the session's id to member `i`. If the session is there, nothing that is modelled changes, unless its client hears of an
 * upgrade by that. */
static void sessions_resume(struct sessions_step *step, uint32_t i, uint32_t q)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);
    struct sessions_member *m = &s->member[i];
    const struct sessions_kept *e = &m->session[q];
    uint32_t owner = e->owner - 1u;

    if (!(t->change == MODEL_FOLLOW ? s->kept & 1 << q : s->kept) || !sessions_grants(s, i))
        return;
    if (!e->known) {
        sessions_emit(step, SESSIONS_RESUME, i, 0, sessions_unknown);
    } else if (e->own && !sessions_has_claim(t, m, q) && !sessions_is_unsure(m, q)) {
        sessions_emit(step, SESSIONS_RESUME, i, 2, sessions_emptied);
    } else if (t->change == MODEL_UPGRADE && e->own && s->kept == 2 && m->lock[0].claim != SESSIONS_NONE &&
               !sessions_is_unsure(m, q)) {
        sessions_emit(step, SESSIONS_RESUME, i, 3, sessions_former);
    } else if (t->change == MODEL_UPGRADE && e->own && s->kept == 1 && m->lock[1].claim == SESSIONS_HELD &&
               sessions_may_act(s, i, q)) {
        s->kept = 2;
        sessions_emit(step, SESSIONS_RESUME, i, 4, s->rival ? sessions_two : sessions_all_know(t, s, i, 1));
    } else if (!e->own && sessions_is_peer(t, s, i, owner) && !sessions_is_asked(s, i, owner, q)) {
        sessions_say(s, i, owner, (struct sessions_letter){.type = SESSIONS_ASK, .which = (uint8_t)q});
        sessions_emit(step, SESSIONS_RESUME, i, 1, NULL);
    }
}

/* ----------------------------------------------------------------------------------------------------------- the rival */

static void sessions_rival(struct sessions_step *step, uint32_t i)
{
    const struct model_task *t = step->task;
    struct sessions *s = sessions_begin_step(step);

    if (!s->rival && sessions_grants(s, i) && sessions_is_free(s, i, sessions_shares(t))) {
        s->rival = (uint8_t)(i + 1);
        s->view[s->member[i].at].rivals |= (uint8_t)(1 << i);
        sessions_emit(step, SESSIONS_RIVAL, i, 0, sessions_believes_alone(t, s) ? sessions_lost : NULL);
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
        for (uint32_t q = 0; q < sessions_count(t); q++)
            sessions_begin_move(&step, i, q);
        sessions_lock(&step, i);
        for (uint32_t k = 0; k < sessions_records(t); k++)
            sessions_tell(&step, i, k);
        for (uint32_t q = 0; q < sessions_count(t); q++) {
            sessions_end(&step, i, q);
            sessions_resume(&step, i, q);
        }
        sessions_rival(&step, i);
        sessions_follow(&step, i);
        sessions_upgrade(&step, i);
        sessions_downgrade(&step, i);
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
        s.member[i].session[0] = (struct sessions_kept){.known = true, .owner = 1, .since = 1};
        s.member[i].lock[0] = (struct sessions_record){.record = 1, .shared = t->change == MODEL_UPGRADE};
    }
    if (t->held) {
        s.granted = s.kept = 1;
        s.member[0].lock[0] = (struct sessions_record){
            .claim = SESSIONS_HELD, .shared = t->change == MODEL_UPGRADE, .alone = t->change != MODEL_UPGRADE};
        sessions_note_claims(t, &s, 0);
    }
    for (uint32_t q = 0; q < sessions_count(t); q++)
        s.member[0].session[q] = (struct sessions_kept){.known = true, .own = true, .owner = 1, .since = 1};
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
    [SESSIONS_KEEP_BOTH] = {.name = "keep-both",
                            .what = "a record that names another one is not forgotten when that is reported",
                            .members = 3,
                            .views = 1,
                            .held = true,
                            .calm = true,
                            .change = MODEL_FOLLOW},
    [SESSIONS_UPGRADE_EARLY] = {.name = "upgrade-early",
                                .what = "a client is told of its upgrade before the record of before is withdrawn",
                                .members = 2,
                                .views = 1,
                                .held = true,
                                .change = MODEL_UPGRADE},
    [SESSIONS_SHARE_EARLY] = {.name = "share-early",
                              .what = "a lock is shared before all members know that it was downgraded",
                              .members = 2,
                              .views = 1,
                              .held = true,
                              .change = MODEL_DOWNGRADE},
    [SESSIONS_OWN_MODE] = {.name = "own-mode",
                           .what = "a member keeps its mode of a record when another mode is reported",
                           .members = 3,
                           .views = 1,
                           .held = true,
                           .calm = true,
                           .change = MODEL_DOWNGRADE},
    [SESSIONS_HEARSAY] = {.name = "hearsay",
                          .what = "a report without an owner counts though its view ends before the barrier",
                          .members = 3,
                          .held = true,
                          .lost = "sss,nss,sso",
                          .change = MODEL_DOWNGRADE},
    [SESSIONS_MISTAKES] = {0},
};

/* The number of views of --lost; or 0: it is not valid. */
static uint32_t sessions_count_lost(const struct model_task *t)
{
    size_t len = strlen(t->lost), word = t->members + 1;

    for (size_t k = 0; k < len; k++)
        if (!strchr(k % word == t->members ? "," : "son", t->lost[k]) ||
            (k % word == 0 && strspn(t->lost + k, "o") >= t->members)) /* a view needs a member */
            return 0;
    return len % word == t->members ? (uint32_t)(len / word) + 1 : 0;
}

static const char *sessions_set(struct model_task *t)
{
    uint32_t given;

    if (t->lease || t->roster || t->observed || t->prompt || t->clocks)
        return "this model has the options --members, --founders, --views, --begin-held, --calm, --lost, "
               "--change and --mistake only";
    model_set_bounds(t);
    t->members = t->members ? t->members : t->mistake < 0 ? SESSIONS_MEMBERS : 2;
    t->founders = t->founders ? t->founders : t->members;
    if (t->members > SESSIONS_MEMBERS)
        return "there are at most three members";
    given = t->lost ? sessions_count_lost(t) : 0;
    if (t->lost && (!given || (t->views && t->views != given)))
        return "--lost has a word for each change of the view, and in it a letter for each member: s, o or n, not o "
               "for "
               "all; as in sss,nss,sso";
    if (t->lost && t->calm)
        return "--lost says how each view changes, and --calm would rule some of them out: leave one of them out";
    t->views = given ? given : t->views ? t->views : t->mistake < 0 ? 1 : 2;
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
    static const char *const changes[] = {"", " and passes it on to another session", ", shared, and upgrades it",
                                          " and downgrades it"};

    fprintf(to, "%u members", t->members);
    if (t->founders < t->members)
        fprintf(to, ", %u in the first view", t->founders);
    fprintf(to, ", one session that %s%s, the view changes %u time%s at most%s%s",
            t->held ? "holds one lock" : "is granted one lock once", changes[t->change], t->views,
            t->views == 1 ? "" : "s",
            t->lost   ? ": "
            : t->calm ? ", by one member each"
                      : "",
            t->lost ? t->lost : "");
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
