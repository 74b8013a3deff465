/* keep_letters.c - see keep.h: letters about kept sessions, as they are sent and as they are heard. */
#include "keep_inside.h"

#include "base/memory.h"
#include "base/pack.h"
#include "base/plain.h"

#include <stdlib.h>
#include <string.h>

enum {
    ID = 16,
    TOKEN_LEN_MAX = 255,
    LOCK_MAX = 8 + 4 + 2 + 4 + 1 + LOCK_NAME_MAX,
    LETTER_MAX = 1 + 8 + ID + 4 + 2 + VALUE_MAX + LOCK_MAX + ID + 4 * 8
};

/* ------------------------------------------------------------------------------------------------------------ letters */

static uint8_t *keep_pack_id(uint8_t *at, struct keep_id id)
{
    return pack_number(pack_number(at, id.high, 8), id.low, 8);
}

static uint8_t *keep_pack_lock(uint8_t *at, uint64_t fence, uint64_t ttl_ms, uint32_t slots, uint32_t mode,
                               const char *name, size_t len)
{
    at = pack_number(pack_number(at, fence, 8), ttl_ms, 4);
    return pack_text(pack_number(pack_number(at, slots, 2), mode, 4), name, len);
}

/* The claim that was withdrawn before this one was granted, or zeroes. */
static uint8_t *keep_pack_after(uint8_t *at, uint64_t high, uint64_t low, uint64_t fence)
{
    return pack_number(keep_pack_id(at, fence ? (struct keep_id){high, low} : (struct keep_id){0}), fence, 8);
}

/* The keep time of a session, and the value of a lock. */
static uint8_t *keep_pack_terms(uint8_t *at, uint32_t keep_ms, const struct lock_value *value)
{
    return pack_long(pack_number(at, keep_ms, 4), value ? value->text : "", value ? value->len : 0);
}

static void keep_say(struct member *m, const uint8_t *bytes, const uint8_t *end)
{
    memcpy(link_send(&m->link, (size_t)(end - bytes)), bytes, (size_t)(end - bytes));
}

static void keep_say_all(struct node *node, const uint8_t *bytes, const uint8_t *end)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k))
            keep_say(keep_peer(node, k), bytes, end);
}

static uint8_t *keep_grant(uint8_t *at, uint64_t number, const struct keep_session *e, const struct claim *c)
{
    at = keep_pack_id(pack_number(pack_number(at, KEEP_GRANT, 1), number, 8), e->id);
    at = keep_pack_terms(at, e->keep_ms, keep_claim_value(e, c));
    at = keep_pack_lock(at, c->fence, c->ttl_ms, c->slots, keep_mode(c), c->name, c->name_len);
    return keep_pack_after(at, c->kept_id[0], c->kept_id[1], c->after);
}

/* Sends a record of the claim to all others. */
void keep_record_claim(struct claim *c)
{
    struct node *node = c->session->node;
    uint8_t letter[LETTER_MAX];

    if (!keep_is_recorded(c)) {
        node->keep.claims++;
        c->session->kept->claims++;
    }
    c->kept = ++node->keep.made;
    c->freed = false;
    keep_say_all(node, letter, keep_grant(letter, c->kept, c->session->kept, c));
}

/* The others have at most one letter about the TTL of a claim to acknowledge at a time: a client may change its TTL again and again while one
 * of the members receives nothing. A claim that was adopted has no letter, and this member may not have made any. */
void keep_renew_claim(struct claim *c)
{
    struct node *node = c->session->node;

    ring_cut(&c->in_renewed);
    if (!session_kept(c->session) || !keep_is_recorded(c))
        return;
    keep_count_acks(node);
    if (c->kept > node->keep.acked && node->keep.made) {
        ring_push(&node->keep.renewed, &c->in_renewed);
        return;
    }
    keep_finish_share(c);
    keep_record_claim(c);
}

/* A patient letter: if a client waits for the lock, lock_hurry makes haste. That of a token is not: a client of another member that does not
 * wait is refused by the record alone, and would never see that the lock is free if the next record came with the withdrawal. */
uint64_t keep_say_free(struct node *node, const struct keep_session *e, const struct claim *c, uint64_t fence)
{
    uint8_t letter[LETTER_MAX], *at = letter;

    at = keep_pack_id(pack_number(pack_number(at, KEEP_FREE, 1), ++node->keep.made, 8), e->id);
    at = pack_number(pack_text(at, c->name, c->name_len), fence, 8);
    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k))
            memcpy((e->keep_ms ? link_send_patient : link_send)(&keep_peer(node, k)->link, (size_t)(at - letter)),
                   letter, (size_t)(at - letter));
    return node->keep.made;
}

void keep_free_claim(struct claim *c)
{
    struct node *node = c->session->node;
    struct keep_session *e = session_kept(c->session);

    if (!c->kept || c->freed || !e) /* !e: the session was forgotten, and its claims will be discarded */
        return;
    c->freed = true;
    node->keep.claims--;
    if (--e->claims == 0 && node->keep.phase == KEEP_TELLS)
        e->leaves = false; /* the others hear of the withdrawal before MARK */
    c->kept = keep_say_free(node, e, c, c->fence);
    c->after = c->fence; /* a claim that follows names the record; its client may know the previous fence only */
}

/* Is the claim one of which other members have records? */
bool keep_is_recorded(const struct claim *c)
{
    return c->kept && !c->freed;
}

void keep_say_number(struct member *m, enum message_type type, uint64_t number)
{
    uint8_t letter[1 + 8];

    keep_say(m, letter, pack_number(pack_number(letter, type, 1), number, 8));
}

void keep_say_id(struct member *m, enum message_type type, uint64_t number, struct keep_id id, uint64_t to)
{
    uint8_t letter[1 + 8 + ID + 8];

    keep_say(m, letter, pack_number(keep_pack_id(pack_number(pack_number(letter, type, 1), number, 8), id), to, 8));
}

void keep_say_move(const struct node *node, const struct keep_session *e, uint64_t number)
{
    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k))
            keep_say_id(keep_peer(node, k), KEEP_MOVE, number, e->id, e->moves_to);
}

void keep_say_ask(struct member *m, struct keep_id id)
{
    uint8_t letter[1 + ID];

    keep_say(m, letter, keep_pack_id(pack_number(letter, KEEP_ASK, 1), id));
}

void keep_say_mark(struct member *m, uint64_t view, uint64_t opened)
{
    uint8_t letter[1 + 2 * 8];

    keep_say(m, letter, pack_number(pack_number(pack_number(letter, KEEP_MARK, 1), view, 8), opened, 8));
}

/* Tells one member that has just begun to take part all that the session holds, and where the session is to move. */
static uint32_t keep_greet_one(struct member *m, const struct keep_session *e)
{
    uint8_t letter[LETTER_MAX];
    uint32_t count = 0;

    for (struct ring *r = e->session->claims.next; r != &e->session->claims; r = r->next)
        if (keep_is_recorded(RING_OF(r, struct claim, in_session))) {
            keep_say(m, letter, keep_grant(letter, 0, e, RING_OF(r, struct claim, in_session)));
            count++;
        }
    return count;
}

uint32_t keep_greet(struct node *node, const struct keep_session *e)
{
    uint32_t count = 0;

    for (uint32_t k = 0; k < node->view.count; k++)
        if (keep_peer(node, k) && !keep_peer(node, k)->keep.greeted)
            count += keep_greet_one(keep_peer(node, k), e);
    return count;
}

uint32_t keep_report(struct node *node, const struct keep_session *e)
{
    uint8_t letter[LETTER_MAX];

    for (struct ring *r = e->records.next; r != &e->records; r = r->next) {
        const struct keep_record *x = RING_OF(r, struct keep_record, in_session);
        uint8_t *at = keep_pack_id(pack_number(letter, KEEP_REPORT, 1), e->id);

        at = keep_pack_terms(at, e->keep_ms, x->value);
        at = keep_pack_lock(at, x->fence, x->ttl_ms, x->slots, x->mode, x->name, x->name_len);
        at = keep_pack_after(at, x->after_id.high, x->after_id.low, x->after);
        at = pack_number(pack_number(pack_number(at, e->owner, 8), e->owner_tenure, 8), e->chosen, 8);
        keep_say_all(node, letter, at);
    }
    return e->count;
}

/* ------------------------------------------------------------------------------------------------------------- hearing */

static struct keep_id keep_unpack_id(struct unpack *u)
{
    struct keep_id id = {.high = unpack_number(u, 8)};

    id.low = unpack_number(u, 8);
    return id;
}

/* The keep time of a session, and the value of a lock, as they are read. */
struct keep_terms {
    uint32_t keep_ms;
    const char *value;
    size_t value_len;
};

/* Returns false if the bytes are not valid: a session has either a keep time or a token. */
static bool keep_unpack_terms(struct unpack *u, struct keep_terms *t)
{
    t->keep_ms = (uint32_t)unpack_number(u, 4);
    t->value = unpack_long(u, &t->value_len);
    return !u->wrong && t->keep_ms <= KEEP_MS_MAX &&
           (t->keep_ms ? t->value_len <= VALUE_MAX : t->value_len && t->value_len <= TOKEN_LEN_MAX);
}

bool keep_unpack_lock(struct unpack *u, union keep_buffer *b)
{
    const char *name;
    size_t len;

    b->record = (struct keep_record){.fence = unpack_number(u, 8)};
    b->record.ttl_ms = (uint32_t)unpack_number(u, 4);
    b->record.slots = (uint32_t)unpack_number(u, 2);
    b->record.mode = (uint32_t)unpack_number(u, 4);
    name = unpack_text(u, &len);
    if (u->wrong || len == 0 || !plain_text(name, len) || b->record.slots > LOCK_SLOTS_MAX)
        return false;
    b->record.name_len = (uint8_t)len;
    memcpy(b->record.name, name, len);
    return true;
}

/* Returns false if the bytes are not valid: fences grow (I6, I29). */
static bool keep_unpack_after(struct unpack *u, struct keep_record *x)
{
    x->after_id = keep_unpack_id(u);
    x->after = unpack_number(u, 8);
    return !u->wrong && (x->after ? x->after < x->fence : !x->after_id.high && !x->after_id.low);
}

static const char *const keep_nonsense = "a letter about a kept session that cannot be";

static const char *keep_hear_grant(struct node *node, uint32_t place, struct unpack *u)
{
    struct keep *k = &node->keep;
    struct keep_id id = keep_unpack_id(u);
    struct keep_session *e = keep_find(k, id);
    struct keep_terms terms;
    union keep_buffer b;

    if (!keep_unpack_terms(u, &terms) || !keep_unpack_lock(u, &b) || !keep_unpack_after(u, &b.record) ||
        u->at != u->end || k->records >= KEEP_RECORDS_MAX)
        return keep_nonsense;
    if (e && e->session) /* another member has no session with this id by chance */
        return NULL;
    if (!e)
        e = keep_add(k, id, terms.keep_ms);
    /* If a report of this view has named the next owner, the sender does not know that yet. */
    if (!e->owner || e->unsure_in != node->view.number)
        keep_set_owner(node, e, node->view.member[place].id);
    keep_add_record(k, e, &b.record, terms.value, terms.value_len, false);
    return NULL;
}

static const char *keep_hear_free(struct node *node, struct unpack *u)
{
    struct keep_session *e = keep_find(&node->keep, keep_unpack_id(u));
    struct keep_record *x;
    size_t len;
    const char *name = unpack_text(u, &len);
    uint64_t fence = unpack_number(u, 8);

    if (u->wrong || u->at != u->end)
        return keep_nonsense;
    if (!e || e->session)
        return NULL; /* the session belongs to this member now */
    if ((x = keep_find_record(e, name, len, fence)))
        keep_forget_record(&node->keep, e, x);
    if (ring_empty(&e->records))
        keep_remove(&node->keep, e);
    keep_stir(node);
    return NULL;
}

/* The owner repeats in every view which sessions are to move. A letter of an earlier view that comes late may be about a move that the
 * owner has forgotten since, and would make this member choose another owner than the others do. */
static const char *keep_hear_move(struct node *node, uint32_t place, struct unpack *u)
{
    struct keep_session *e = keep_find(&node->keep, keep_unpack_id(u));
    uint64_t to = unpack_number(u, 8);

    if (u->wrong || u->at != u->end)
        return keep_nonsense;
    if (e && !e->session && e->owner == node->view.member[place].id &&
        node->member[place]->letters_view == node->view.number)
        e->moves_to = to;
    return NULL;
}

/* A record that another member has: its owner does not take part; or that member is not sure that all know the owner,
 * which was chosen in a view that has not opened there. In the second case a receiver that has passed the barrier of the view of the
 * choice knows the owner, and has heard from it what has become of the lock since. Any other receiver finds out at the barrier of
 * this view whether the owner has opened the view of the choice (keep_is_outdated). */
static const char *keep_hear_report(struct node *node, struct unpack *u)
{
    struct keep *k = &node->keep;
    struct keep_id id = keep_unpack_id(u);
    struct keep_session *e = keep_find(k, id);
    struct owner_known known = {.passed = k->passed};
    struct owner_report report;
    uint64_t owner, tenure;
    struct keep_terms terms;
    union keep_buffer b;

    if (!keep_unpack_terms(u, &terms) || !keep_unpack_lock(u, &b) || !keep_unpack_after(u, &b.record))
        return keep_nonsense;
    owner = unpack_number(u, 8);
    tenure = unpack_number(u, 8);
    report.chosen = unpack_number(u, 8);
    if (u->wrong || u->at != u->end || k->records >= KEEP_RECORDS_MAX)
        return keep_nonsense;
    report.ownerless = !keep_takes_part(node, owner, tenure);
    if (e) {
        known.known = e->owner;
        known.own = e->session;
        known.leaves = e->leaves;
        known.chosen = e->chosen;
    }
    if (!owner_heeds(&report, &known))
        return NULL;
    if (!e)
        e = keep_add(k, id, terms.keep_ms);
    b.record.reported = report.ownerless ? 0 : report.chosen;
    e->ownerless |= report.ownerless;
    if (owner_is_newer(&report, &known)) {
        if (!e->session && e->count && !e->before.owner &&
            (e->owner != owner || e->owner_tenure != tenure || e->chosen != report.chosen)) {
            e->before.owner = e->owner;
            e->before.tenure = e->owner_tenure;
            e->before.chosen = e->chosen;
            e->before.unsure_in = e->unsure_in;
        }
        if (e->owner != owner || e->owner_tenure != tenure) { /* a MOVE of the previous owner does not count */
            k->moving -= e->session && e->moves_to;
            e->moves_to = 0;
        }
        e->owner = owner;
        e->owner_tenure = tenure;
        e->chosen = report.chosen;
        e->unsure_in = node->view.number;
    }
    if (e->session) /* a session of this member, which has not heard that the session moved */
        return NULL;
    e->unsure_in = node->view.number;
    keep_add_record(k, e, &b.record, terms.value, terms.value_len, true);
    return NULL;
}

/* A client of another member resumes a session of this one. */
static const char *keep_hear_ask(struct node *node, uint32_t place, struct unpack *u)
{
    struct keep_session *e = keep_find(&node->keep, keep_unpack_id(u));

    if (u->wrong || u->at != u->end)
        return keep_nonsense;
    if (!e || !e->session || keep_is_token(e) || !keep_may_act(node, e) || e->moves_to)
        return NULL;
    e->wanted_by = node->view.member[place].id;
    node->keep.stirred = true;
    return NULL;
}

static const char *keep_hear_ack(struct node *node, struct member *m, struct unpack *u)
{
    uint64_t number = unpack_number(u, 8);

    if (u->wrong || u->at != u->end || number > node->keep.made || number < m->keep.acked)
        return keep_nonsense;
    m->keep.acked = number;
    keep_count_acks(node);
    return NULL;
}

static const char *keep_hear_mark(struct node *node, struct member *m, struct unpack *u)
{
    uint64_t number = unpack_number(u, 8), opened = unpack_number(u, 8);

    if (number != node->view.number || u->wrong || u->at != u->end || opened >= number || m->keep.marked)
        return keep_nonsense;
    m->keep.opened = opened;
    m->keep.marked = true;
    keep_try_barrier(node);
    return NULL;
}

/* Receives a letter of the stream (keep.h). */
static const char *keep_hear_stream(struct node *node, uint32_t k, uint64_t type, struct unpack *u)
{
    struct member *m = node->member[k];
    uint64_t number = unpack_number(u, 8);
    const char *wrong = NULL;

    if (u->wrong || (number && number < m->keep.seen) || (!number && type == KEEP_FREE))
        return keep_nonsense;
    if (type == KEEP_GRANT)
        wrong = keep_hear_grant(node, k, u);
    else if (type == KEEP_FREE)
        wrong = keep_hear_free(node, u);
    else if (type == KEEP_MOVE)
        wrong = keep_hear_move(node, k, u);
    else if (u->at != u->end)
        wrong = keep_nonsense;
    if (!wrong && number) {
        m->keep.seen = number;
        node->keep.owes = true;
    }
    m->keep.synced |= type == KEEP_SYNC;
    return wrong;
}

bool keep_hear(struct node *node, uint32_t k, const uint8_t *bytes, size_t len, const char **wrong)
{
    struct member *m = node->member[k];
    struct unpack u = {.at = bytes, .end = bytes + len};
    uint64_t type = unpack_number(&u, 1);

    *wrong = NULL;
    if (!keep_peer(node, k) || node->view.member[k].incarnation != m->letters_incarnation ||
        m->letters_view < node->view.member[k].since || m->letters_view < node->view.member[node->place].since)
        return true; /* sent by, or to, an incarnation that does not take part */
    if (!owner_hears(node->keep.phase == KEEP_TELLS, node->keep.phase == KEEP_PASSED, m->keep.marked))
        return false;
    if (type <= KEEP_SYNC)
        *wrong = keep_hear_stream(node, k, type, &u);
    else if (type == KEEP_ACK)
        *wrong = keep_hear_ack(node, m, &u);
    else if (m->letters_view != node->view.number)
        return true;
    else if (type == KEEP_MARK)
        *wrong = keep_hear_mark(node, m, &u);
    else if (type == KEEP_ASK)
        *wrong = keep_hear_ask(node, k, &u);
    else if (node->keep.phase == KEEP_AWAITS)
        *wrong = keep_hear_report(node, &u);
    return true;
}
