/* kept.c - the clients of a soak whose sessions are kept (node/keep.h). They speak the protocol themselves, as those of
 * clients.c do, and confirm their locks.
 *
 * A client with a kept session whose connection ends goes on believing in its lock until its validity is over. It connects
 * anew, at any machine, shows the id of its session, and goes on holding the locks that RESUMED lists. Such clients also detach,
 * end their sessions, and die. Now and then one of them shows the id of another one's session, as a second process of the same
 * program would: then both want the same session.
 *
 * Checks, besides those of clients.c: a lock that a client was told of is lost only if the keep time has passed since
 * the client last knew that its session had a connection; or if an operator took the lock away; or if every process
 * that should have had a record has crashed or was excluded. And when a client is told of a lock, every process in the
 * view of its daemon knows of it. No two sessions have an exclusive lock, also if they have no clients at the moment. */
#include "world.h"

#include "base/memory.h"
#include "node/keep_inside.h"

#include <stdlib.h>

enum { KEEP_FIRST_MS = 1000, KEEP_MORE_MS = 4000, CHECK_RECORDS_EACH = 16 };

struct soak_kept {
    char id[33];
    bool known;    /* the client has heard the session's id */
    bool shared;   /* another client has the id as well, and may have released the lock */
    bool expects;  /* the client expects that the session, which it has taken from another client, holds a lock */
    bool detached; /* the client has sent DETACH, and believes in no lock until it has resumed the session */
    bool excused;  /* the session may be lost: a process has ended, and no other process that knew it is left */
    uint32_t keep_ms;
    uint32_t key;         /* of the client that has begun the session (allowed.c) */
    uint64_t attached_us; /* the last time at which its session certainly had a connection */
    uint64_t lapses_us;   /* the TTL of its lock ends at this time or later; UINT64_MAX: it has none */
};

/* Reads the text of an id that a client was told. */
static struct keep_id kept_shown(const char *text)
{
    struct keep_id id;
    char half[17] = "";

    memcpy(half, text, 16);
    id.high = strtoull(half, NULL, 16);
    memcpy(half, text + 16, 16);
    id.low = strtoull(half, NULL, 16);
    return id;
}

/* The id by which members know the session. */
static struct keep_id kept_id(const struct world *w, const struct soak_kept *q)
{
    return allowed_session(w, q->key, kept_shown(q->id));
}

/* ------------------------------------------------------------------------------------------------------------- checks */

/* Does this process take part in the view? */
bool kept_is_in_view(const struct world *w, uint32_t j, const struct view *view)
{
    uint32_t place = view_find_name(view, w->machine[j].name, strlen(w->machine[j].name));

    return w->machine[j].runs && place != VIEW_MEMBERS_MAX &&
           view->member[place].incarnation == w->machine[j].node.self.incarnation;
}

bool kept_find_move(const struct world *w, uint32_t *owner, uint32_t *next)
{
    for (uint32_t k = 0; k < w->clients; k++)
        for (uint32_t i = 0; i < w->n && w->client[k].kept; i++) {
            const struct node *node = &w->machine[i].node;
            const struct keep_session *e = w->machine[i].runs && w->client[k].kept->known
                                               ? keep_find(&node->keep, kept_id(w, w->client[k].kept))
                                               : NULL;

            for (uint32_t j = 0; e && e->session && e->moves_to && j < w->n; j++)
                if (w->machine[j].runs &&
                    view_find(&node->view, e->moves_to) ==
                        view_find_name(&node->view, w->machine[j].name, strlen(w->machine[j].name))) {
                    *owner = i;
                    *next = j;
                    return true;
                }
        }
    return false;
}

/* The session of this client, as members know it. Returns false if it has none, or has not heard of it. */
static bool kept_session(const struct world *w, uint32_t k, struct keep_id *id)
{
    const struct soak_client *c = &w->client[k];

    if (c->kept && c->kept->known)
        *id = kept_id(w, c->kept);
    else if (c->library && *library_session(c))
        *id = allowed_session(w, allowed_key(w, k), kept_shown(library_session(c)));
    else
        return false;
    return true;
}

/* Does this process know that the session holds something? */
static bool kept_knows(const struct world *w, uint32_t i, struct keep_id id)
{
    return kept_is_in_view(w, i, &w->newest) && keep_knows(&w->machine[i].node, id);
}

/* A daemon is about to tell a client that it is granted a lock. */
void kept_check_grant(struct world *w, const struct soak_conn *x)
{
    const struct node *node = &w->machine[x->machine].node;
    const struct soak_client *c = &w->client[x->client];

    if (!x->end->session->kept)
        return;
    if (c->kept && c->conn >= 0 && &w->conn[c->conn] == x)
        c->kept->excused = c->kept->shared; /* the session knows this lock now: earlier excuses no longer apply */
    if (w->mix.wild_clocks)
        return;
    for (uint32_t j = 0; j < w->n; j++)
        if (kept_is_in_view(w, j, &node->view) && !w->machine[j].doomed &&
            w->machine[j].node.view.number == node->view.number &&
            !keep_knows(&w->machine[j].node, x->end->session->kept->id))
            world_fail(w, "client %u of %s is told of a lock of its kept session, and %s does not know", x->client,
                       w->machine[x->machine].name, w->machine[j].name);
}

/* Does this process have one record of the lock that the session holds, with this fence and mode, and no other? */
static bool kept_knows_mode(const struct node *node, struct keep_id id, const char *name, uint64_t fence, uint32_t mode)
{
    const struct keep_session *e = keep_find(&node->keep, id);
    uint32_t right = 0, wrong = 0;

    for (const struct ring *r = e ? e->records.next : NULL; e && r != &e->records; r = r->next) {
        const struct keep_record *x = RING_OF(r, struct keep_record, in_session);

        if (x->name_len != strlen(name) || memcmp(x->name, name, x->name_len) != 0)
            continue;
        if (x->fence == fence && x->mode == mode)
            right++;
        else
            wrong++;
    }
    return right == 1 && wrong == 0;
}

void kept_check_change(struct world *w, const struct soak_conn *x, const struct node_event *e)
{
    const struct node *node = &w->machine[x->machine].node;
    const struct keep_session *own = x->end->session->kept;
    uint32_t mode = e->state == CLAIM_UPGRADED ? LOCK_ALONE : LOCK_SHARED;

    if (!own || w->mix.wild_clocks || (e->state != CLAIM_UPGRADED && e->state != CLAIM_DOWNGRADED))
        return;
    for (uint32_t j = 0; j < w->n; j++)
        if (j != x->machine && kept_is_in_view(w, j, &node->view) && !w->machine[j].doomed &&
            w->machine[j].node.view.number == node->view.number &&
            !kept_knows_mode(&w->machine[j].node, own->id, e->name, e->fence, mode))
            world_fail(w, "client %u of %s is told that the mode of \"%s\" has changed, and %s does not know",
                       x->client, w->machine[x->machine].name, e->name, w->machine[j].name);
}

static bool kept_is_claim(const struct claim *c, const struct keep_record *x)
{
    return c->fence == x->fence && c->name_len == x->name_len && memcmp(c->name, x->name, x->name_len) == 0;
}

/* Is this a record of the claim from before its upgrade? Or, if the claim was lost before its client was told of the upgrade, a record of the upgrade? A
 * withdrawn claim knows the fence of its last record; the record before it may still be there, too. */
static bool kept_is_former(const struct claim *c, const struct keep_record *x)
{
    return (c->freed ? x->fence <= c->after : c->after && c->after == x->fence) && c->name_len == x->name_len &&
           memcmp(c->name, x->name, x->name_len) == 0;
}

/* May the withdrawn claim be one of this session? Some withdrawn claims do not know their session. */
static bool kept_is_of(const struct claim *c, struct keep_id id)
{
    return (c->kept_id[0] == id.high && c->kept_id[1] == id.low) || (!c->kept_id[0] && !c->kept_id[1]);
}

/* Does the owner of the session have a claim for this record, held or withdrawn? */
static bool kept_has_claim(const struct node *owner, struct keep_id id, const struct keep_record *x)
{
    const struct keep_session *e = keep_find(&owner->keep, id);
    const struct ring *claims = e && e->session ? &e->session->claims : NULL, *withdrawn = &owner->keep.withdrawn;
    bool found = false;

    for (const struct ring *r = claims ? claims->next : NULL; r != claims && !found; r = r->next) {
        const struct claim *c = RING_OF(r, struct claim, in_session);

        found = kept_is_claim(c, x) ||
                ((e->changed > owner->keep.acked || (c->freed && c->kept > owner->keep.acked)) && kept_is_former(c, x));
    }
    for (const struct ring *r = withdrawn->next; r != withdrawn && !found; r = r->next) {
        const struct claim *c = RING_OF(r, struct claim, in_session);

        found = kept_is_claim(c, x) || (kept_is_of(c, id) && kept_is_former(c, x));
    }
    return found;
}

static const struct keep_record *kept_find_record(const struct keep_session *e, const struct claim *c)
{
    for (const struct ring *r = e ? e->records.next : NULL; e && r != &e->records; r = r->next)
        if (kept_is_claim(c, RING_OF(r, struct keep_record, in_session)))
            return RING_OF(r, struct keep_record, in_session);
    return NULL;
}

static bool kept_same_value(const struct lock_value *a, const struct lock_value *b)
{
    return a && b ? a->len == b->len && memcmp(a->text, b->text, a->len) == 0 : a == b;
}

/* The machine of the member that owns the session, if the same view is open there as at machine `i`; or null. */
static const struct soak_machine *kept_owner(const struct world *w, uint32_t i, const struct keep_session *e)
{
    const struct view *view = &w->machine[i].node.view;
    uint32_t place = view_find(view, e->owner);

    for (uint32_t j = 0; j < w->n && place != VIEW_MEMBERS_MAX; j++)
        if (strcmp(w->machine[j].name, view->member[place].name) == 0)
            return j != i && kept_is_in_view(w, j, view) && w->machine[j].node.view.number == view->number &&
                           w->machine[j].node.locks.open
                       ? &w->machine[j]
                       : NULL;
    return NULL;
}

/* Was another client, of any process in this view, granted the lock of the record `x` after session `e` was, and told of the grant? */
static bool kept_is_granted_behind(const struct world *w, const struct view *view, const struct keep_session *e,
                                   const struct keep_record *x)
{
    for (uint32_t j = 0; j < w->n; j++) {
        const struct node *node = &w->machine[j].node;
        const struct lock *lock = kept_is_in_view(w, j, view) && node->view.number == view->number && node->locks.open
                                      ? locks_find(&node->locks, x->name, x->name_len)
                                      : NULL;

        for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
            if (c->state == CLAIM_HELD && c->session->waiting != c && c->fence > x->fence &&
                (c->mode == LOCK_ALONE || x->mode == LOCK_ALONE) && !c->slots &&
                !(c->session->kept && c->session->kept->id.high == e->id.high &&
                  c->session->kept->id.low == e->id.low && !keep_is_token(e))) /* kept_check_change */
                return true;
    }
    return false;
}

/* Checks that each record has a claim, and that no other client was granted the lock since (I33). A record without a claim would keep the lock
 * from others when the owner is excluded. With a record of a lock that another client was granted since, two clients would hold the lock. */
static void kept_check_records(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;

    for (const struct ring *all = node->keep.all.next; all != &node->keep.all; all = all->next) {
        const struct keep_session *e = RING_OF(all, struct keep_session, in_all);
        const struct soak_machine *owner;

        if (all == &node->keep.walk)
            continue;
        owner = e->session || keep_is_unsure(node, e) ? NULL : kept_owner(w, i, e);

        for (const struct ring *r = e->records.next; owner && r != &e->records; r = r->next) {
            const struct keep_record *x = RING_OF(r, struct keep_record, in_session);

            if (!kept_has_claim(&owner->node, e->id, x))
                world_fail(w, "%s has a record of \"%.*s\" (fence %llu), and its owner %s has no such claim",
                           w->machine[i].name, x->name_len, x->name, (unsigned long long)x->fence, owner->name);
            if (!w->mix.wild_clocks && kept_is_granted_behind(w, &node->view, e, x))
                world_fail(w, "%s has a record of \"%.*s\" (fence %llu), and it is held by another client since",
                           w->machine[i].name, x->name_len, x->name, (unsigned long long)x->fence);
        }
    }
}

/* Machine `j` must have the record of the claim `c` of the session `e`, which all members have acknowledged, with its token, its mode and its TTL. */
static void kept_check_claim(struct world *w, uint32_t i, uint32_t j, const struct keep_session *e,
                             const struct claim *c)
{
    const struct keep_session *known = keep_find(&w->machine[j].node.keep, e->id);
    const struct keep_record *x = kept_find_record(known, c);

    if (!x)
        world_fail(w, "%s has no record of \"%.*s\" (fence %llu), which a session of %s holds", w->machine[j].name,
                   c->name_len, c->name, (unsigned long long)c->fence, w->machine[i].name);
    else if (!kept_same_value(keep_claim_value(e, c), x->value))
        world_fail(w, "%s has another value, or token, of \"%.*s\" (fence %llu) than its owner %s does",
                   w->machine[j].name, c->name_len, c->name, (unsigned long long)c->fence, w->machine[i].name);
    else if (x->mode != keep_mode(c))
        world_fail(w, "%s has another mode of \"%.*s\" (fence %llu) than its owner %s does", w->machine[j].name,
                   c->name_len, c->name, (unsigned long long)c->fence, w->machine[i].name);
    else if (x->ttl_ms != c->ttl_ms && ring_empty(&c->in_renewed))
        world_fail(w, "%s has another TTL of \"%.*s\" (fence %llu) than its owner %s does", w->machine[j].name,
                   c->name_len, c->name, (unsigned long long)c->fence, w->machine[i].name);
}

/* Checks that each claim that all members have acknowledged is in the records of all; otherwise it would be lost with its owner. */
static void kept_check_claims(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;

    for (const struct ring *r = node->keep.own.next; r != &node->keep.own; r = r->next) {
        const struct keep_session *e = RING_OF(r, struct keep_session, in_own);

        for (const struct ring *q = e->session->claims.next; q != &e->session->claims; q = q->next) {
            const struct claim *c = RING_OF(q, struct claim, in_session);

            for (uint32_t j = 0; j < w->n && keep_is_recorded(c) && c->kept <= node->keep.acked; j++)
                if (j != i && !w->machine[j].doomed && kept_is_in_view(w, j, &node->view) &&
                    w->machine[j].node.view.number == node->view.number && w->machine[j].node.locks.open)
                    kept_check_claim(w, i, j, e, c);
        }
    }
}

/* The exclusive claim `c` is held. Does another claim, of a client of machine `j`, hold the same lock? */
static bool kept_is_held_at(const struct world *w, uint32_t j, const struct claim *c)
{
    const struct lock *lock = locks_find(&w->machine[j].node.locks, c->name, c->name_len);

    for (const struct claim *x = lock ? lock_next_holder(lock, NULL) : NULL; x; x = lock_next_holder(lock, x))
        if (x != c && x->state == CLAIM_HELD && !x->slots)
            return true;
    return false;
}

/* Checks that no two claims hold a lock exclusively. beliefs.c compares what clients believe, and a session without a client believes nothing. */
static void kept_check_alone(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;

    for (const struct ring *r = node->keep.own.next; r != &node->keep.own && !w->mix.wild_clocks; r = r->next) {
        const struct session *s = RING_OF(r, struct keep_session, in_own)->session;

        for (const struct ring *q = s->claims.next; q != &s->claims; q = q->next) {
            const struct claim *c = RING_OF(q, struct claim, in_session);

            for (uint32_t j = 0; j < w->n && c->state == CLAIM_HELD && c->mode == LOCK_ALONE && !c->slots; j++)
                if (!w->machine[j].doomed && kept_is_in_view(w, j, &node->view) && w->machine[j].node.locks.open &&
                    w->machine[j].node.view.number == node->view.number && kept_is_held_at(w, j, c))
                    world_fail(w, "\"%.*s\" is held by a kept session of %s, and by another client, of %s", c->name_len,
                               c->name, w->machine[i].name, w->machine[j].name);
        }
    }
}

/* From now on the session may be lost, if no process but that of machine `i` knows it. */
static void kept_excuse(struct world *w, uint32_t i, uint32_t k, struct keep_id id)
{
    struct soak_client *c = &w->client[k];
    bool known = false;

    for (uint32_t j = 0; j < w->n; j++)
        known |= j != i && kept_knows(w, j, id);
    if (c->kept)
        c->kept->excused |= !known;
    else if (!known)
        library_excuse(w, c);
}

/* The process of machine `i` is about to end. From now on those sessions may be lost that no other process knows, unless another process
 * should have known them. */
void kept_forgotten(struct world *w, uint32_t i)
{
    const struct node *node = &w->machine[i].node;
    bool expected = false;

    for (uint32_t j = 0; j < w->n; j++)
        expected |= j != i && kept_is_in_view(w, j, &node->view);
    for (uint32_t k = 0; k < w->clients; k++) {
        struct keep_id id;

        if (kept_session(w, k, &id) && !(expected && node->locks.open && kept_knows(w, i, id)))
            kept_excuse(w, i, k, id);
        if (w->client[k].agent && !(expected && node->locks.open && tokens_knows(w, k, i)))
            tokens_excuse(w, k, i);
    }
}

/* The same for a process that was excluded, and has forgotten all sessions. A process that takes part both in its last view and in the view that excludes
 * it should know these sessions. */
void kept_look(struct world *w, uint32_t i)
{
    struct soak_machine *m = &w->machine[i];
    bool expected = false;

    changes_look(w, i);
    barriers_look(w, i);
    if (m->opened != m->node.keep.opened) {
        m->opened = m->node.keep.opened;
        faults_opened(w, i);
    }
    if (m->node.takes_part && m->node.locks.open && !m->doomed && w->report->events % CHECK_RECORDS_EACH == 0) {
        kept_check_records(w, i);
        kept_check_claims(w, i);
        kept_check_alone(w, i);
    }
    if (m->incarnation != m->node.self.incarnation && m->incarnation) {
        for (uint32_t j = 0; j < w->n; j++) {
            uint32_t place = view_find_name(&m->before, w->machine[j].name, strlen(w->machine[j].name));

            expected |= j != i && kept_is_in_view(w, j, &m->node.view) && place != VIEW_MEMBERS_MAX &&
                        m->before.member[place].incarnation == w->machine[j].node.self.incarnation;
        }
        for (uint32_t k = 0; k < w->clients && !expected; k++) {
            struct keep_id id;

            if (kept_session(w, k, &id))
                kept_excuse(w, i, k, id);
            if (w->client[k].agent)
                tokens_excuse(w, k, i);
        }
    }
    m->incarnation = m->node.self.incarnation;
    if (m->before.number != m->node.view.number)
        m->before = m->node.view;
}

void kept_follow(struct world *w, const struct view *next)
{
    for (uint32_t k = 0; k < next->count; k++)
        if (next->member[k].incarnation && next->member[k].since <= w->opened)
            return;
    kept_excuse_all(w);
}

void kept_excuse_all(struct world *w)
{
    for (uint32_t k = 0; k < w->clients; k++) {
        if (w->client[k].kept)
            w->client[k].kept->excused = true;
        library_excuse(w, &w->client[k]);
        if (w->client[k].agent)
            tokens_excuse_all(&w->client[k]);
    }
}

/* The keep time of the client's session, on its own clock: for this time it may go on without a connection, and no
 * other client is granted its lock. */
static uint64_t kept_time_us(const struct soak_client *c)
{
    return (uint64_t)c->kept->keep_ms * (c->slow ? 20000 : 19000) / 19;
}

uint64_t kept_lapses_us(const struct world *w, uint64_t ttl_ms)
{
    return ttl_ms ? w->now_us + 950 * (ttl_ms - 1) : UINT64_MAX;
}

/* The client requests a lock with this TTL, or (0) with none. */
void kept_note_ttl(const struct world *w, struct soak_client *c, uint64_t ttl_ms)
{
    c->kept->lapses_us = kept_lapses_us(w, ttl_ms);
}

/* The client hears that it has lost its lock. */
void kept_check_loss(struct world *w, uint32_t k)
{
    const struct soak_client *c = &w->client[k];
    const struct soak_kept *q = c->kept;

    if (!q || !c->holds || q->excused || q->shared || c->dazed || w->mix.wild_clocks || w->mix.standstill ||
        w->now_us >= q->lapses_us || (w->alone && w->conf->focus != SOAK_ALONE))
        return;
    if (w->now_us < q->attached_us + kept_time_us(c) && !clients_may_be_evicted(w, c->name, c->since_us))
        world_fail(w, "client %u has lost %s, which its session should have kept", k, clients_names[c->name]);
}

/* Does every member have a record of each lock that the kept sessions of the others hold, and no other record (I33)? That must be so when
 * all letters have arrived. */
bool kept_agree(const struct world *w)
{
    size_t claims = 0;

    for (uint32_t i = 0; i < w->n; i++)
        claims += world_is_member(w, i) ? w->machine[i].node.keep.claims : 0;
    for (uint32_t i = 0; i < w->n; i++)
        if (world_is_member(w, i) && w->machine[i].node.keep.records + w->machine[i].node.keep.claims != claims)
            return false;
    return true;
}

/* A daemon alone has crashed: its sessions are lost, while their clients may still believe in their locks. */
void kept_lose_all(struct world *w)
{
    kept_excuse_all(w);
    for (uint32_t k = 0; k < w->clients; k++) {
        w->client[k].dazed = true;
        library_daze(&w->client[k]);
    }
    for (uint32_t k = 0; k < SOAK_CONNS_MAX; k++) /* a client may not have heard of its grant yet */
        w->conn[k].dazed = true;
}

/* The daemon of machine `i` begins to shut down. If it has a lease, the sessions that have their clients now have had them until now. */
void kept_leave(struct world *w, uint32_t i)
{
    if (w->machine[i].node.keep.lapsed_ms)
        return;
    for (uint32_t k = 0; k < w->clients; k++) {
        const struct soak_client *c = &w->client[k];
        const struct soak_conn *x = c->kept && c->conn >= 0 ? &w->conn[c->conn] : NULL;
        struct keep_id id;

        if (!x || x->machine != i || !x->end || !x->end->session->kept || !c->kept->known)
            continue;
        id = kept_id(w, c->kept);
        if (x->end->session->kept->id.high == id.high && x->end->session->kept->id.low == id.low)
            c->kept->attached_us = w->now_us;
    }
}

/* Checks that no other client was granted a lock after the session that holds it exclusively. A client that was stopped may hear late from a daemon that was
 * excluded meanwhile; then the claims of that daemon, and the validities that it has told, are over, and nothing is checked. */
static void kept_check_fences(struct world *w, const struct soak_client *c)
{
    const struct session *s = w->conn[c->conn].end ? w->conn[c->conn].end->session : NULL;

    if (!s || w->mix.wild_clocks || w->mix.standstill || !kept_is_in_view(w, w->conn[c->conn].machine, &w->newest))
        return;
    for (const struct ring *r = s->claims.next; r != &s->claims; r = r->next) {
        const struct claim *claim = RING_OF((struct ring *)r, struct claim, in_session);
        int name = claim->state == CLAIM_HELD && claim->mode == LOCK_ALONE && !claim->slots
                       ? clients_find_name(claim->name, claim->name_len)
                       : -1;

        if (name >= 0 && claim->fence < w->history[name].highest_alone)
            world_fail(w, "a session is resumed with %s (fence %llu), which another client has held since",
                       clients_names[name], (unsigned long long)claim->fence);
    }
}

static bool kept_is_recorded(const struct node *node, const char *name)
{
    for (const struct ring *r = node->keep.all.next; r != &node->keep.all; r = r->next) {
        const struct keep_session *e = RING_OF((struct ring *)r, struct keep_session, in_all);

        for (const struct ring *i = r == &node->keep.walk ? NULL : e->records.next; i && i != &e->records;
             i = i->next) {
            const struct keep_record *x = RING_OF((struct ring *)i, struct keep_record, in_session);

            if (x->name_len == strlen(name) && memcmp(x->name, name, x->name_len) == 0)
                return true;
        }
    }
    return false;
}

bool kept_encumbers(const struct world *w, const char *name)
{
    for (uint32_t i = 0; i < w->n; i++) {
        const struct node *node = &w->machine[i].node;
        const struct lock *lock = w->machine[i].runs ? locks_find(&node->locks, name, strlen(name)) : NULL;

        for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
            if (!c->session || c->session->orphan || c->session->kept)
                return true;
        if (w->machine[i].runs && kept_is_recorded(node, name))
            return true;
    }
    return false;
}

bool kept_holds(const struct world *w, uint32_t k, const char *id, const char *name, uint64_t fence)
{
    struct keep_id known = allowed_session(w, allowed_key(w, k), kept_shown(id));

    for (uint32_t i = 0; i < w->n; i++)
        if (kept_is_in_view(w, i, &w->newest) && w->machine[i].node.locks.open) {
            const struct lock *lock = locks_find(&w->machine[i].node.locks, name, strlen(name));

            for (const struct claim *c = lock ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
                if (c->state == CLAIM_HELD && c->fence == fence && c->session->kept &&
                    c->session->kept->id.high == known.high && c->session->kept->id.low == known.low)
                    return true;
        }
    return false;
}

/* --------------------------------------------------------------------------------------------------------------- doing */

void kept_begin(struct world *w, uint32_t k)
{
    w->client[k].kept = mem_new(sizeof *w->client[k].kept);
}

void kept_end(struct soak_client *c)
{
    free(c->kept);
    c->kept = NULL;
}

/* The session no longer belongs to this client. */
static void kept_forget(struct soak_client *c)
{
    *c->kept = (struct soak_kept){0};
    c->holds = c->upgrades = false;
    c->name = -1;
}

/* The client has a connection: it resumes its session, or asks for a new one. */
void kept_connect(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];
    char ms[24];
    const char *keep[] = {"SESSION", "KEEP", ms}, *resume[] = {"SESSION", "RESUME", c->kept->id},
               *confirm[] = {"CONFIRM"};

    c->waits = true;
    c->kept->detached = false;
    /* Too early: a validity covers all that is granted within it, so the client gets no session. */
    if (w->mix.hasty && world_below(w, 8) == 0)
        clients_say(w, c, SOAK_TO_CONFIRM, confirm, 1);
    if (c->kept->known) {
        world_trace(w, "client %u resumes its session at %s", k, w->machine[c->machine].name);
        clients_say(w, c, SOAK_TO_RESUME, resume, 3);
        return;
    }
    c->kept->keep_ms = KEEP_FIRST_MS + (uint32_t)world_below(w, KEEP_MORE_MS);
    snprintf(ms, sizeof ms, "%u", c->kept->keep_ms);
    clients_say(w, c, SOAK_TO_KEEP, keep, 3);
}

/* The connection is gone, or the client has ended it. */
void kept_be_gone(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k];

    c->conn = -1;
    c->waits = false;
    if (!c->kept->known || w->calm)
        kept_forget(c);
    if (world_below(w, 2))
        c->machine = (uint32_t)world_below(w, w->n);
}

/* The program ends. */
void kept_die(struct soak_client *c)
{
    if (c->kept)
        kept_forget(c);
}

/* The client takes the id of another client's session. */
static bool kept_steal(struct world *w, uint32_t k)
{
    struct soak_client *c = &w->client[k], *other = &w->client[world_below(w, w->clients)];

    if (other == c || !other->kept || !other->kept->known || !other->holds || c->holds)
        return false;
    world_trace(w, "client %u takes the session of client %u", k, (uint32_t)(other - w->client));
    /* With another key it is refused, and the other client loses nothing. */
    if (!allowed_is_foreign(w, k, other->kept->key, kept_shown(other->kept->id)))
        other->kept->shared = true;
    *c->kept = *other->kept;
    c->kept->expects = true;
    c->name = other->name;
    /* The other client may change the mode. */
    c->mode = w->mix.changes && other->mode == LOCK_ALONE ? LOCK_SHARED : other->mode;
    c->slots = other->slots;
    c->fence = other->fence;
    c->believes_to_us = 0;
    clients_hang_up(w, k);
    return true;
}

/* Client `k` has a connection and a kept session. Returns false if it is to do what all clients do. */
bool kept_act(struct world *w, uint32_t k)
{
    static const char *const end[] = {"SESSION", "END"}, *const detach[] = {"SESSION", "DETACH"};
    struct soak_client *c = &w->client[k];

    if (c->changing)
        return false;
    if (!c->holds)
        return world_below(w, 8) == 0 && kept_steal(w, k);
    if (world_below(w, 8) == 0) {
        world_trace(w, "client %u ends its session", k);
        clients_say(w, c, SOAK_TO_END, end, 2);
        c->holds = false;
        c->name = -1;
        c->waits = true;
        return true;
    }
    if (world_below(w, 6) == 0 && !w->calm) {
        world_trace(w, "client %u detaches", k);
        c->believes_to_us = 0;
        c->kept->detached = true;
        clients_say(w, c, SOAK_TO_END, detach, 2);
        c->waits = true;
        return true;
    }
    return false;
}

/* Has the client detached, so that it ignores confirmations? */
bool kept_is_detached(const struct soak_client *c)
{
    return c->kept && c->kept->detached;
}

/* The client's daemon has confirmed that the session has this connection. */
void kept_attached(struct soak_client *c, const struct soak_awaited *a)
{
    if (c->kept && c->kept->attached_us < a->asked_us)
        c->kept->attached_us = a->asked_us;
}

/* ------------------------------------------------------------------------------------------------------------- hearing */

/* Another process may have resumed the session meanwhile, and have changed the mode of the lock. */
static bool kept_hear_mode(struct soak_client *c, const struct soak_word *mode)
{
    if (c->mode <= LOCK_SHARED && !c->slots)
        c->mode = mode->len == 6 && memcmp(mode->at, "shared", 6) == 0 ? LOCK_SHARED : LOCK_ALONE;
    return true;
}

static void kept_resumed(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];
    bool found = false;

    kept_check_fences(w, c);
    for (size_t j = 1, locks = (r->count - 1) / 3; j < 1 + 2 * locks; j += 2) {
        int name = clients_find_name(r->word[j].at, r->word[j].len);

        if (c->name == name && (c->holds || c->kept->expects) &&
            (c->fence == r->word[j + 1].number || (!c->kept->shared && changes_resumed(w, k, r->word[j + 1].number))))
            found = kept_hear_mode(c, &r->word[1 + 2 * locks + j / 2]);
        else /* the client has released this lock, or was never told of it */
            clients_say_unlock(w, c, name, r->word[j + 1].number, true);
    }
    world_trace(w, "client %u has its session again, and %s", k,
                found      ? "its lock"
                : c->holds ? "not its lock"
                           : "no lock");
    if (!found)
        kept_check_loss(w, k); /* the check needs the time at which it was last attached before */
    kept_attached(c, a);
    if (found && !c->holds)
        c->since_us = w->now_us;
    c->generation++;
    c->kept->expects = c->upgrades = false;
    c->waits = false;
    c->holds = found;
    if (!found)
        c->name = -1;
    if (found)
        beliefs_renew(w, k);
    if (found)
        world_plan(w, 0, SOAK_CONFIRM, k, 0)->generation = c->generation;
    clients_plan(w, k, world_below(w, 2 * (w->calm ? 50 : w->mix.hold_ms) + 1));
}

void kept_hear(struct world *w, uint32_t k, const struct soak_awaited *a, const struct soak_reply *r)
{
    struct soak_client *c = &w->client[k];

    if (a->to == SOAK_TO_KEEP && r->kind == '$') {
        memcpy(c->kept->id, r->word[0].at, 32);
        c->kept->key = allowed_key(w, k);
        c->kept->known = true;
        c->waits = false;
        kept_attached(c, a);
        clients_plan(w, k, 0);
    } else if (a->to == SOAK_TO_RESUME && r->kind == '*') {
        kept_resumed(w, k, a, r);
    } else if (r->kind == '-' && strncmp(r->word[0].at, "NOSESSION ", 10) == 0) {
        kept_check_loss(w, k);
        kept_forget(c);
        clients_hang_up(w, k);
    } else if (r->kind == '-' && strncmp(r->word[0].at, "NOQUORUM ", 9) == 0) {
        clients_hang_up(w, k);
    } else if (a->to == SOAK_TO_END && r->kind == '+') {
        if (!c->holds) /* else the client has detached, and the connection is about to end */
            kept_forget(c);
        clients_hang_up(w, k);
    } else if (r->kind == '-' && (strncmp(r->word[0].at, "ERR ", 4) != 0 || c->vouched_us)) {
        clients_hang_up(w, k);
    } else {
        world_fail(w, "client %u is told: %.*s", k, (int)r->word[0].len, r->word[0].at);
    }
}
