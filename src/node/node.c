/* node.c - see node.h. This file installs views. lease.c decides which members take part; messages.c has the messages
 * between members. */
#include "node.h"

#include "agreed.h"
#include "base/memory.h"
#include "inside.h"
#include "lease.h"
#include "messages.h"
#include "policies.h"
#include "roster.h"
#include "rules.h"
#include "session.h"

#include <assert.h>
#include <stdlib.h>

enum { NODE_LATE = 1 << 12 /* letters that have waited, for each turn: more than can come in one */ };

/* ------------------------------------------------------------------------------------------------------------- roster */

static struct member *node_new_member(struct node *node, const struct view_member *v)
{
    struct member *m = mem_new(sizeof *m);

    memcpy(m->name, v->name, sizeof m->name);
    link_init(&m->link, &node->self, m->name);
    query_line_init(&m->queries);
    /* An earlier incarnation may have promised that (protocol 2). */
    m->promised_ms = node->now_ms + node->promise_ms;
    if (m->promised_ms < node->began_ms + node->earlier_ms)
        m->promised_ms = node->began_ms + node->earlier_ms;
    return m;
}

static void node_free_member(struct member *m)
{
    query_line_end(&m->queries);
    link_free(&m->link);
    bytes_free(&m->late);
    bytes_free(&m->interest.list);
    free(m);
}

void node_forget_retired(struct node *node)
{
    struct member *m = node->retired;

    if (m) {
        node->retired = m->next_retired;
        node_free_member(m);
    }
}

/* Makes the members of this roster. A member that was in the roster before keeps its state. */
static void node_set_roster(struct node *node, const struct view *view)
{
    struct member *before[NODE_MEMBERS_MAX];
    uint32_t count = node->view.count;

    memcpy(before, node->member, sizeof before);
    memset(node->member, 0, sizeof node->member);
    node->place = view_find_name(view, node->conf.name, strlen(node->conf.name));
    for (uint32_t k = 0; k < view->count; k++) {
        const struct view_member *v = &view->member[k];
        struct member *m = NULL;

        if (k == node->place)
            continue;
        for (uint32_t i = 0; i < count; i++)
            if (before[i] && strcmp(before[i]->name, v->name) == 0 && (before[i]->id == v->id || !view->number)) {
                m = before[i];
                before[i] = NULL;
            }
        if (!m) {
            m = node_new_member(node, v);
            node->roster_version++;
        }
        m->id = v->id;
        m->link.peer_disk = v->disk;
        memcpy(m->address, v->address, sizeof m->address);
        node->member[k] = m;
    }
    for (uint32_t i = 0; i < count; i++)
        if (before[i]) {
            before[i]->next_retired = node->retired;
            node->retired = before[i];
            node->roster_version++;
        }
    node->view = *view;
    node->self.cluster = view->cluster;
}

/* -------------------------------------------------------------------------------------------------------------- views */

uint64_t node_longest_lease_ms(const struct node *node)
{
    bool owes = node->owed_lease_ms > node->promised_lease_ms && node->now_ms < node->owed_until_ms;

    return owes ? node->owed_lease_ms : node->promised_lease_ms;
}

/* A member that was excluded forgets everything and begins a new incarnation, which waits to be let in. */
void node_begin_incarnation(struct node *node)
{
    if (node->agree) {
        node->self.incarnation = agree_begin_incarnation(node->agree, 0, node_longest_lease_ms(node));
        node->self.mute = !agree_incarnation_is_durable(node->agree);
    } else {
        node->self.incarnation++;
    }
    node->incarnation_ms = node->now_ms;
    fence_forget(&node->fence);
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k]) {
            link_begin_anew(&node->member[k]->link);
            node->member[k]->acked_ms = 0;
            node->member[k]->heard_ms = 0; /* the new incarnation is let in only when it hears all others again */
        }
    lease_count_acks(node);
}

void node_try_open(struct node *node)
{
    if (node->locks.open || !node->takes_part || !node->announced)
        return;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k] && node->view.member[k].incarnation && !node->member[k]->announced)
            return;
    fence_open(&node->fence, node->view.fence, node->locks.fence, node->installed_ms, node->now_ms);
    lease_refresh(node);
    locks_open(&node->locks);
    history_open(node);
    keep_open(node);
    for (uint32_t k = 0; k < node->view.count; k++) /* letters that have waited for this */
        node->late_again |= node->member[k] && bytes_len(&node->member[k]->late);
}

/* If the whole digest of this member has been sent, announces that to all others. */
static void node_announce(struct node *node)
{
    if (node->announced || !node->takes_part || !node->locks.told)
        return;
    node->announced = true;
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k] && node->view.member[k].incarnation)
            message_send_announced(node->member[k], node->locks.fence);
}

static void node_begin_view(struct node *node)
{
    struct locks_view view = {.fence = node->agree ? node->view.fence : node->conf.fence};

    for (uint32_t k = 0; node->takes_part && k < node->view.count; k++) {
        struct member *m = node->member[k];

        if (!node->view.member[k].incarnation)
            continue;
        if (m) {
            m->announced = false;
            link_expect(&m->link, node->view.member[k].incarnation);
            message_send_view(m, node->view.number);
            view.link[view.n] = &m->link;
        } else {
            view.self = view.n;
        }
        node->part[k] = view.n++;
    }
    policies_begin_view(node);
    locks_begin_view(&node->locks, &view);
    keep_begin_view(node);
    node->announced = false;
    node_announce(node);
}

bool node_is_removed(const struct node *node)
{
    return !node->takes_part && (node->replaced || (node->place < node->view.count &&
                                                    node->view.member[node->place].standing == VIEW_REMOVED));
}

void node_install(struct node *node, const struct view *view)
{
    bool took_part = node->takes_part, next = view->number == node->view.number + 1;
    uint64_t before = node->view.number;

    if (!policies_fit(node, view) || !rules_fit(node, view))
        return;
    roster_follow(node, view);
    agreed_install(node, view);
    policies_install(node, view);
    rules_install(node, view);
    if (view->counted_since != node->view.counted_since)
        node->counted_ms = 0;
    node_set_roster(node, view);
    node->takes_part = node->place < view->count && view->member[node->place].incarnation == node->self.incarnation;
    node->installed_ms = node->now_ms;
    history_install(node);
    node->news = true;
    if (next && took_part && node->takes_part)
        fence_install(&node->fence, view->fence, node->now_ms);
    else
        fence_forget(&node->fence);
    lease_begin_view(node);
    lease_refresh(node); /* if this member was excluded, its clients hear of it before anything else happens */
    if (took_part && (!node->takes_part || view->member[node->place].since > before))
        keep_forget_all(node); /* it was excluded, perhaps in a view that is over, too */
    node_begin_view(node);
    if (took_part && !node->takes_part)
        node_begin_incarnation(node);
    if (node_is_removed(node))
        locks_send_away(&node->locks);
    node_try_open(node);
    for (uint32_t k = 0; node->takes_part && k < view->count; k++)
        if (node->member[k] && view->member[k].standing == VIEW_REMOVED && !view->member[k].incarnation)
            message_send_roster(node, k);
    node->next_beat_ms = node->now_ms; /* the next heartbeat tells the others that the view is installed */
}

/* ----------------------------------------------------------------------------------------------- begin and the end */

/* A build that stands for the next version, in a test, has another number. */
#ifndef NODE_VERSION
#define NODE_VERSION LINK_VERSION
#endif

void node_init(struct node *node, const struct node_conf *conf)
{
    unsigned version = conf->version ? conf->version : NODE_VERSION;

    *node = (struct node){.conf = *conf, .place = NODE_MEMBERS_MAX};
    node->self = (struct link_self){.name = conf->name,
                                    .incarnation = conf->incarnation,
                                    .newest = (uint8_t)version,
                                    .oldest = (uint8_t)(version > LINK_VERSION_FIRST ? version - 1 : version)};
    policies_init(node);
    rules_init(node);
    agreed_init(node);
    parties_init(&node->parties);
    node->fence.leap = conf->fence_leap ? conf->fence_leap : FENCE_LEAP;
    locks_init(&node->locks, &(struct locks_conf){.policy = conf->policy,
                                                  .policies = conf->policies,
                                                  .algorithm = conf->algorithm,
                                                  .slots_algorithm = conf->slots_algorithm,
                                                  .names_max = conf->names_max,
                                                  .piece = conf->piece,
                                                  .recent = conf->recent,
                                                  .digest_bits = conf->digest_bits,
                                                  .secret = conf->secret,
                                                  .lingers = session_lingers,
                                                  .follows = keep_follows,
                                                  .upgraded = keep_upgrade_claim});
    ring_init(&node->turn.clients);
    for (unsigned k = 0; k < CLIENT_URGENCIES; k++)
        ring_init(&node->turn.news[k]);
    ring_init(&node->turn.hungry);
    node->turn.state = NODE_STARTS;
    ring_init(&node->sessions);
    ring_init(&node->holding);
    ring_init(&node->confirming);
    ring_init(&node->tasks);
    admin_init(&node->admin);
    deadlocks_init(&node->deadlocks);
    keep_init(node);
    tokens_init(node);
}

static void node_send_agreement(void *user, uint64_t to, const uint8_t *bytes, size_t len)
{
    struct node *node = user;
    uint32_t k = view_find(&node->view, to);

    if (k != VIEW_MEMBERS_MAX && node->member[k])
        message_send_agreement(node->member[k], bytes, len);
}

static uint64_t node_random(void *user)
{
    const struct node *node = user;

    return node->conf.random(node->conf.user);
}

bool node_agree(struct node *node, const struct disk *disk, const uint8_t *journal, size_t len,
                const struct view *roster, bool joins, uint64_t now_ms, struct dme_text *why)
{
    struct agree_conf conf = {.disk = disk,
                              .patient = node->conf.patient,
                              .election_ms = node->conf.lease_ms / 4,
                              .user = node,
                              .random = node_random,
                              .send = node_send_agreement};
    bool known;

    node->now_ms = node->began_ms = node->incarnation_ms = node->granted_ms = now_ms;
    node->agree = agree_new(&conf, journal, len, why);
    if (!node->agree)
        return false;
    agreed_begin(node);
    if (agree_journal(node->agree)->lease_ms > node->promised_lease_ms)
        node->earlier_ms = promise_stretch_ms(agree_journal(node->agree)->lease_ms);
    node->owed_lease_ms = agree_journal(node->agree)->lease_ms;
    node->owed_until_ms = node->began_ms + node->earlier_ms;
    node->self.incarnation = agree_begin_incarnation(node->agree, node->conf.incarnation, node_longest_lease_ms(node));
    node->self.mute = !agree_incarnation_is_durable(node->agree);
    known = agree_knows_itself(node->agree);
    if (!known && !joins) {
        uint32_t place = view_find_name(roster, node->conf.name, strlen(node->conf.name));

        known = agree_found(node->agree, roster, roster->member[place].id, why);
        if (!known)
            return false;
        node->self.mute = !agree_incarnation_is_durable(node->agree);
    }
    node_install(node, known ? agree_view(node->agree) : roster);
    if (*node->unfit) {
        dme_print(why, "%s", node->unfit);
        return false;
    }
    if (!known)
        node->self.cluster = 0; /* another member will tell it, with its roster */
    node->self.disk = agree_journal(node->agree)->disk_id;
    return !known || agree_begin(node->agree, now_ms, why);
}

void node_free_parts(struct node *node)
{
    assert(ring_empty(&node->turn.clients));
    keep_free(node);
    tokens_free(node);
    session_forget_orphans(node);
    assert(ring_empty(&node->sessions));
    if (node->agree)
        agree_free(node->agree);
    locks_free(&node->locks);
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k])
            node_free_member(node->member[k]);
    while (node->retired)
        node_forget_retired(node);
    bytes_free(&node->turn.log);
    deadlines_free(&node->due);
    admin_free(&node->admin);
    history_free(&node->history);
    agreed_free(node);
    policies_free(node);
    rules_free(node);
}

/* --------------------------------------------------------------------------------------------------------- as it goes */

enum node_state node_state(const struct node *node)
{
    if (node_grants(node))
        return NODE_GRANTS;
    if (node->leaves)
        return NODE_LEAVES;
    if (node->drainer || node->drained)
        return NODE_DRAINS;
    if (node_is_removed(node))
        return NODE_OUTSIDE;
    if (!node->conf.lease_ms ||
        node->now_ms - node->granted_ms < 2 * node->conf.lease_ms) /* after a view change, or at the beginning */
        return NODE_STARTS;
    return node->takes_part ? NODE_NO_QUORUM : NODE_OUTSIDE;
}

unsigned node_version(const struct node *node)
{
    unsigned version = node->self.newest;

    for (uint32_t k = 0; k < node->view.count; k++)
        while (k != node->place && !link_speaks(&node->member[k]->link, version))
            version--;
    return version;
}

const char *node_why_not(const struct node *node)
{
    static const char *const names[] = {"",
                                        "not all members have met",
                                        "no majority can be reached",
                                        "this process does not take part; it waits for a majority to let it in",
                                        "this member is being drained",
                                        "it is about to end"};
    enum node_state state = node_state(node);

    _Static_assert(sizeof names / sizeof names[0] == NODE_LEAVES + 1, "a state has a text");
    if (state == NODE_OUTSIDE && node_is_removed(node))
        return node->replaced ? "this member has been removed from the cluster, and another one has its name; to take "
                                "part again it needs an empty data directory and --join"
                              : "this member has been removed from the cluster";
    return names[state];
}

bool node_is_over(const struct node *node)
{
    return node->leaves || node->drainer || node->drained || (!node->takes_part && node_is_removed(node));
}

void node_say_no_quorum(const struct node *node, struct dme_text *why)
{
    dme_print(why, "locks are not granted just now; %s", node_why_not(node));
}

bool node_is_open(const struct node *node)
{
    return node->locks.open && node->locks.grants;
}

uint64_t node_vouches_ms(const struct node *node)
{
    if (!node->locks.grants)
        return 0;
    /* The clock counts whole milliseconds: most of another one may have passed. */
    return node->lease_end_ms == UINT64_MAX ? UINT64_MAX : node->lease_end_ms - node->now_ms - 1;
}

const char *node_broken(const struct node *node)
{
    if (*node->unfit)
        return node->unfit;
    return node->agree && agree_is_broken(node->agree) ? agree_why_broken(node->agree) : NULL;
}

void node_leave(struct node *node)
{
    node->leaves = true;
    node->news = true;
    lease_refresh(node);
    keep_leave(node);
    if (node->agree)
        lease_send_beats(node);
}

bool node_has_left(const struct node *node)
{
    return !node->takes_part ||
           ((view_taking_part(&node->view) == 1 || !node->agree) && !keep_is_believed(node) && keep_has_parted(node));
}

bool node_is_busy(const struct node *node)
{
    return locks_is_busy(&node->locks) || !ring_empty(&node->tasks) ||
           (!keep_is_idle(&node->keep) && keep_is_busy(node)) || node->late_again || node->tokens.more ||
           (node->takes_part && node->locks.told && !node->announced);
}

uint64_t node_due_ms(const struct node *node)
{
    const struct claim *c = deadlines_first(&node->due);
    uint64_t due = c ? c->due_ms : UINT64_MAX, other;

    if (!ring_empty(&node->confirming) && (other = session_lapse_ms(node)) < due)
        due = other;
    if ((!ring_empty(&node->deadlocks.young) || !ring_empty(&node->deadlocks.old)) &&
        (other = deadlocks_due_ms(node)) < due)
        due = other;
    if (due <= node->now_ms) /* there were more than a piece */
        due = node->now_ms + 1;
    if ((node->admin.watch.count || !ring_empty(&node->admin.queries.open)) && (other = admin_due_ms(node)) < due)
        due = other;
    if (!keep_is_idle(&node->keep) && (other = keep_due_ms(node)) < due)
        due = other;
    if (node->tokens.poll_due_ms < due)
        due = node->tokens.poll_due_ms;
    if (node_is_busy(node) && node->now_ms + 1 < due)
        due = node->now_ms + 1;
    if (!node->agree)
        return due;
    if (node->next_beat_ms < due)
        due = node->next_beat_ms;
    if (node->locks.fences_are_out && node->now_ms + 1 < due)
        due = node->now_ms + 1;
    if (node->locks.grants && node->lease_end_ms < due)
        due = node->lease_end_ms;
    if ((other = agree_due_ms(node->agree)) < due)
        due = other;
    if ((node->has_dropped || !node->takes_part) && (other = lease_due_ms(node)) < due)
        due = other;
    if (node->renew_ms > node->now_ms && node->renew_ms < due)
        due = node->renew_ms;
    return due;
}

/* If this member has given up its locks since the last look, it sends a heartbeat at once, to tell the
 * others. */
static void node_mind_giving_up(struct node *node)
{
    bool gave_up = node->gave_up;

    node->gave_up = lease_gave_up(node);
    if (node->gave_up && !gave_up)
        node->next_beat_ms = node->now_ms;
}

/* Does the work that does not depend on clients. */
static void node_keep_up(struct node *node)
{
    const struct view *agreed = agree_view(node->agree);

    if (agreed->number > node->view.number)
        node_install(node, agreed);
    /* The lease and the leader's decisions depend on the time, views and notes. Each of these sets `news`, or changes
     * the time. */
    if (node->news || node->looked_ms != node->now_ms) {
        node->news = false;
        node->looked_ms = node->now_ms;
        lease_refresh(node);
        lease_lead(node);
        node->news |=
            agreed->number > node->view.number; /* if the leader is the only member, its proposal is agreed at once */
    }
    if (node->leaves || node->dropped || node->gave_up)
        node_mind_giving_up(node);
    if (node->now_ms >= node->next_beat_ms) {
        roster_mind_wishes(node);
        agreed_mind_wish(node);
        policies_mind_wish(node);
        rules_mind_wish(node);
        lease_send_beats(node);
    }
}

void node_advance(struct node *node, uint64_t now_ms)
{
    assert(node->now_ms <= now_ms);
    if (node->agree && lease_due_ms(node) <= now_ms)
        node->next_beat_ms = now_ms; /* the leader waits to hear that */
    node->now_ms = node->locks.trace.now_ms = now_ms;
    lease_refresh(node);
    session_all_due(node);
    session_lapse(node);
    admin_advance(node);
    deadlocks_advance(node);
    if (node->agree) {
        agree_advance(node->agree, node->now_ms);
        node_keep_up(node);
        if (agree_journal(node->agree)->lease_ms > node_longest_lease_ms(node))
            agree_shorten_lease(node->agree, node->promised_lease_ms);
    }
    if (keep_has_work(&node->keep))
        keep_go_on(node);
    if (!tokens_are_idle(&node->tokens, node->now_ms))
        tokens_go_on(node);
}

/* Takes the next message from this member's link, which is not up. When the link comes up, a heartbeat is sent to the other member first,
 * which may wait to hear all others (member/README.md, protocol 7). */
static enum link_sort node_take_first(struct node *node, struct member *m, const uint8_t **bytes, size_t *len)
{
    enum link_sort sort = link_take(&m->link, bytes, len);

    if (m->link.state == LINK_UP) {
        lease_greet(node, m);
        message_send_ability(node, m);
    }
    return sort;
}

void node_pump(struct node *node)
{
    node->late_left = node->conf.piece ? node->conf.piece : NODE_LATE;
    node->late_again = false;
    for (uint32_t k = 0; k < node->view.count; k++) {
        enum link_sort sort = LINK_NOTE;
        const uint8_t *bytes;
        size_t len;

        if (!node->member[k] || bytes_len(&node->member[k]->link.in) == 0)
            continue;
        while (node->member[k] && sort != LINK_NOTHING && bytes_len(&node->member[k]->link.in)) {
            uint64_t version = node->roster_version;
            struct link *link = &node->member[k]->link;

            sort = link->state == LINK_UP ? link_take(link, &bytes, &len)
                                          : node_take_first(node, node->member[k], &bytes, &len);
            if (sort == LINK_LETTER)
                message_letter(node, k, bytes, len);
            else if (sort == LINK_NOTE) {
                message_note(node, k, bytes, len);
                node->news = true;
            }
            if (version != node->roster_version) /* the members have other places now */
                k = 0, sort = LINK_NOTE;
        }
        if (node->member[k])
            bytes_consume(&node->member[k]->link.in, 0); /* frees the bytes of the last message, if no others follow */
    }
    if (node->agree && (node->news || node->looked_ms != node->now_ms || node->now_ms >= node->next_beat_ms ||
                        node->leaves || node->dropped || node->gave_up))
        node_keep_up(node);
    if (!ring_empty(&node->tasks))
        session_go_on(node);
    locks_go_on(&node->locks);
    if (!node->locks.open) {
        node_announce(node);
        node_try_open(node);
    }
    for (uint32_t k = 0; k < node->view.count; k++)
        if (node->member[k] && bytes_len(&node->member[k]->late))
            message_take_late(node, k);
    if (keep_has_work(&node->keep))
        keep_go_on(node);
    if (!node->locks.open) {
        node_announce(node); /* a late MARK, or the last kept session, may have completed the digest */
        node_try_open(node);
    }
    if (!tokens_are_idle(&node->tokens, node->now_ms))
        tokens_go_on(node);
}

void node_written(struct node *node, bool good)
{
    agree_written(node->agree, good);
    node->news = true;
    node->self.mute = !agree_incarnation_is_durable(node->agree);
    node_keep_up(node);
}

/* Returns the next claim of which a client has to be told, or null. */
static struct claim *node_next_outcome(struct node *node)
{
    struct claim *c;

    for (;;) {
        while ((c = locks_next_outcome(&node->locks))) {
            if (session_is_forgotten(c->session)) {
                session_discard(c);
                continue;
            }
            if ((c->session->poll || c->session->serves) && token_hear_outcome(c))
                continue;
            if (c->session->kept && keep_holds_back(c))
                continue;
            if (!c->session->orphan)
                return c;
            node->losses += c->state >= CLAIM_LOST; /* there is no client to be told */
            session_note_outcome(c);
        }
        c = keep_take_ready(node);
        if (!c || !c->session->orphan)
            return c;
        token_granted(c); /* and other claims may have an outcome now */
    }
}

/* The client has waited for this claim, but the rights have changed meanwhile: the client is refused. */
static void node_refuse(struct claim *c, struct node_event *event)
{
    struct session *s = c->session;

    event->state = CLAIM_REFUSED;
    event->refusal = REFUSAL_RIGHT;
    event->right = c->mode == LOCK_SHARED ? RIGHT_SHARED : RIGHT_LOCK;
    event->fence = 0;
    s->node->stats.refusals++;
    if (c->state == CLAIM_UPGRADED)
        session_undo_upgrade(c);
    else
        session_withdraw(s);
}

bool node_next(struct node *node, struct node_event *event)
{
    struct claim *c;
    const struct lock *lock; /* looked up by name: the lock of the claim may have been removed */
    struct dme_text why;

    event->watched = NULL;
    event->answered = NULL;
    event->token = NULL;
    event->keep = KEEP_NOTHING;
    if (!ring_empty(&node->keep.news) && keep_next(node, event))
        return true;
    c = node_next_outcome(node);
    if (!c)
        return tokens_next(node, event) || admin_next(node, event);
    event->session = c->session;
    event->answers = c == c->session->waiting;
    event->state = c->state == CLAIM_LINGERS ? CLAIM_LOST : c->state;
    event->fence = c->state == CLAIM_UPGRADED ? c->other->fence : c->fence;
    event->loss = c->loss;
    event->refusal = c->refusal;
    event->no_quorum = node_state(node) >= NODE_NO_QUORUM;
    event->cycle = event->answers && c->state == CLAIM_TIMED_OUT ? c->session->cycle : NULL;
    event->name_len = c->name_len;
    memcpy(event->name, c->name, c->name_len);
    event->name[c->name_len] = '\0';
    dme_text_init(&why, event->why, sizeof event->why);
    if (c->session->ruled != node->rules.version && !rules_allow_outcome(c)) {
        node_refuse(c, event);
        return true;
    }
    if (c->state == CLAIM_REFUSED && c->refusal == REFUSAL_KIND &&
        (lock = locks_find(&node->locks, c->name, c->name_len)))
        lock_describe(&node->locks, lock, &why);
    else if (event->state == CLAIM_LOST)
        dme_print(&why, "%s", c->by ? c->by : "");
    else if (event->no_quorum)
        node_say_no_quorum(node, &why);
    node->grants += c->state == CLAIM_HELD || c->state == CLAIM_UPGRADED;
    node->losses += event->state == CLAIM_LOST;
    session_note_outcome(c);
    return true;
}
