/* query.c - see query.h. */
#include "query.h"

#include "base/glob.h"
#include "base/memory.h"
#include "base/pack.h"
#include "base/plain.h"
#include "link/registry.h"
#include "session.h"

#include <assert.h>
#include <stdlib.h>

/* -------------------------------------------------------------------------------------------------------------- rows */

static enum row_state query_state(const struct claim *c)
{
    return c->state == CLAIM_LINGERS                             ? ROW_LINGERS
           : keep_is_token(c->session->kept) || c->session->poll ? ROW_TOKEN
           : c->session->orphan                                  ? ROW_ORPHANED
                                                                 : ROW_HELD;
}

/* See struct claim_row. The TTL of a token is counted with a margin for the clock of its client; the margin is left out here. The keep
 * time of a session that has just moved has not begun. */
static uint64_t query_left_ms(const struct claim *c)
{
    const struct keep_session *e = c->session->kept;
    uint64_t now_ms = c->session->node->now_ms,
             due_ms = c->state != CLAIM_WAITING && c->due_slot ? c->due_ms : UINT64_MAX;
    uint64_t left_ms;

    if (c->session->orphan && e && !keep_is_token(e) && e->due_ms < due_ms)
        due_ms = e->due_ms;
    if (due_ms == UINT64_MAX)
        return 0;
    left_ms = due_ms > now_ms ? due_ms - now_ms : 0;
    if (keep_is_token(e) && c->state == CLAIM_HELD && left_ms)
        left_ms = (left_ms - 1) * 19 / 21; /* see promise_stretch_ms */
    return left_ms ? left_ms : 1;
}

static void query_add_claim(struct bytes *rows, const struct claim *c)
{
    const char *from = c->session->from;
    size_t len = strlen(c->session->who), from_len = plain_text(from, strlen(from)) ? strlen(from) : 0;
    const struct lock_value *value = c->state == CLAIM_WAITING ? NULL : c->value;
    size_t value_len = value ? value->len : 0;
    uint8_t *at = bytes_add(rows, 8 + 8 + 8 + 8 + 1 + 1 + 1 + 1 + len + 1 + from_len + 2 + value_len);

    at = pack_number(pack_number(at, c->session->id, 8), c->state == CLAIM_WAITING ? 0 : c->fence, 8);
    at = pack_number(at, c->session->node->now_ms - c->since_ms, 8);
    at = pack_number(at, query_left_ms(c), 8);
    at = pack_number(pack_number(pack_number(at, claim_mode(c), 1), query_state(c), 1), c->priority, 1);
    at = pack_text(pack_text(at, c->session->who, len), from, from_len);
    pack_long(at, value ? value->text : "", value_len);
}

bool query_claim_row(struct unpack *u, struct claim_row *row)
{
    row->client = unpack_number(u, 8);
    row->fence = unpack_number(u, 8);
    row->age_ms = unpack_number(u, 8);
    row->left_ms = unpack_number(u, 8);
    row->mode = (uint8_t)unpack_number(u, 1);
    row->state = (uint8_t)unpack_number(u, 1);
    row->priority = (uint8_t)unpack_number(u, 1);
    row->who = unpack_text(u, &row->who_len);
    row->from = unpack_text(u, &row->from_len);
    row->value = unpack_long(u, &row->value_len);
    u->wrong |= !plain_text(row->who, row->who_len) || !plain_text(row->from, row->from_len);
    return !u->wrong && row->mode < LOCK_MODES && row->state < ROW_STATES && row->priority <= LOCK_PRIORITY_MAX &&
           row->who_len <= SESSION_WHO_MAX && row->from_len < SESSION_FROM_MAX && row->value_len <= VALUE_MAX;
}

/* The age of the first of these claims that is not withdrawn; or 0. */
static uint64_t query_age(const struct ring *claims, uint64_t now_ms)
{
    const struct ring *r = claims->next;

    while (r != claims && RING_OF(r, struct claim, in_lock)->state == CLAIM_WITHDRAWN)
        r = r->next;
    return r == claims ? 0 : now_ms - RING_OF(r, struct claim, in_lock)->since_ms;
}

/* The longest time for which a client has held the lock. Each ring has its holders in the order of their grants. */
static uint64_t query_longest_hold(const struct lock *lock, uint64_t now_ms)
{
    uint64_t longest = lock->carried ? query_age(&lock->carried->holders, now_ms) : 0;

    for (uint32_t s = 0; lock->site && s < lock_sites(lock); s++) {
        uint64_t age = query_age(&lock->site[s].holders, now_ms);

        longest = longest < age ? age : longest;
    }
    return longest;
}

/* The longest time for which a client has waited. Clients at the head of the queue may have come later than others. The search ends at a turn so late
 * that no client behind it can have come before the oldest one found so far. */
static uint64_t query_longest_wait(const struct lock *lock, uint64_t now_ms)
{
    const struct claim *oldest = NULL;

    for (const struct ring *r = lock->waiting.next; r != &lock->waiting; r = r->next) {
        const struct claim *c = RING_OF(r, struct claim, in_lock);

        if (oldest && claim_turn(c) > oldest->arrival + LOCK_PRIORITY_STEP * LOCK_PRIORITY_MAX)
            break;
        if (!oldest || c->arrival < oldest->arrival)
            oldest = c;
    }
    return oldest ? now_ms - oldest->since_ms : 0;
}

static void query_add_lock(struct bytes *rows, const struct lock *lock, enum query_about about, uint64_t now_ms)
{
    uint32_t holders = lock_count_holders(lock);
    uint8_t *at;

    if (about == ASK_USED && !holders && !lock->waiters)
        return;
    at = pack_text(bytes_add(rows, 1 + lock->name_len + 2 + 4 + 4 + (about == ASK_USED ? 8 + 8 : 0)), lock->name,
                   lock->name_len);
    at = pack_number(pack_number(pack_number(at, lock->slots, 2), holders, 4), lock->waiters, 4);
    if (about == ASK_USED)
        pack_number(pack_number(at, query_longest_wait(lock, now_ms), 8),
                    holders ? query_longest_hold(lock, now_ms) : 0, 8);
}

bool query_lock_row(struct unpack *u, enum query_about about, struct lock_row *row)
{
    row->name = unpack_text(u, &row->name_len);
    row->slots = (uint32_t)unpack_number(u, 2);
    row->holders = (uint32_t)unpack_number(u, 4);
    row->waiters = (uint32_t)unpack_number(u, 4);
    row->wait_ms = about == ASK_USED ? unpack_number(u, 8) : 0;
    row->hold_ms = about == ASK_USED ? unpack_number(u, 8) : 0;
    return !u->wrong && plain_text(row->name, row->name_len);
}

static bool query_rows_are_right(enum query_about about, struct unpack u)
{
    struct claim_row claim;
    struct lock_row lock;

    if (about == ASK_REPLAY) { /* lines of text */
        while (u.at < u.end && (*u.at == '\n' || (*u.at >= ' ' && *u.at <= '~')))
            u.at++;
        return u.at == u.end;
    }
    while (u.at < u.end)
        if (query_lists_locks(about) ? !query_lock_row(&u, about, &lock) : !query_claim_row(&u, &claim))
            return false;
    return true;
}

/* ----------------------------------------------------------------------------------------- what this member knows */

static void query_list_claims(const struct lock *lock, bool holders, uint64_t fence, struct answer *a)
{
    uint32_t count = 0, shown = 0;

    for (const struct claim *c = holders ? lock_next_holder(lock, NULL) : NULL; c; c = lock_next_holder(lock, c))
        if (c->fence <= fence && c->state != CLAIM_WITHDRAWN && count++ < QUERY_ROWS_MAX &&
            bytes_len(&a->rows) < QUERY_BYTES_MAX) {
            query_add_claim(&a->rows, c);
            shown++;
        }
    for (const struct ring *r = lock->waiting.next; !holders && r != &lock->waiting; r = r->next)
        if (count++ < QUERY_ROWS_MAX) {
            query_add_claim(&a->rows, RING_OF(r, struct claim, in_lock));
            shown++;
        }
    a->more = count - shown;
}

/* Lists one page of the locks, from place `cursor` of the table on; a->more becomes the place of the next page, or 0. A
 * page ends when it is full, or when the search for matching names has cost enough for one turn: so it may be empty and
 * not the last. */
static void query_list_locks(const struct node *node, enum query_about about, const char *pattern, size_t len,
                             uint64_t cursor, struct answer *a)
{
    const struct locks *l = &node->locks;
    uint64_t cost = 0;
    unsigned count = 0;

    for (; cursor < l->room && count < QUERY_PAGE && cost < QUERY_COST_MAX; cursor++, cost++)
        for (const struct lock *lock = l->table[cursor]; lock; lock = lock->next) {
            size_t before = bytes_len(&a->rows);

            cost += 8;
            if (glob_matches(pattern, len, lock->name, lock->name_len, &cost))
                query_add_lock(&a->rows, lock, about, node->now_ms);
            count += bytes_len(&a->rows) > before;
        }
    a->more = cursor < l->room ? cursor : 0;
}

/* Answers a query at this member. For ASK_EVICT, `by` describes the client that gave the order. */
static void query_answer(struct node *node, enum query_about about, const char *text, size_t len, uint64_t cursor,
                         const char *by, struct answer *a)
{
    const struct lock *lock = query_lists_locks(about) ? NULL : locks_find(&node->locks, text, len);

    a->state = ANSWER_HEARD;
    if (query_lists_locks(about))
        query_list_locks(node, about, text, len, cursor, a);
    else if (about == ASK_REPLAY && node->takes_part)
        trace_print(&node->locks, lock, text, len, node->view.number, &a->rows);
    else if (about == ASK_REPLAY)
        a->more = 1;
    else if (lock)
        query_list_claims(lock, about != ASK_WAITERS, about == ASK_EVICT ? cursor : UINT64_MAX, a);
    if (about == ASK_EVICT)
        session_evict(node, text, len, cursor, by);
}

/* ------------------------------------------------------------------------------------------------------------- asking */

void queries_init(struct queries *q)
{
    ring_init(&q->open);
    ring_init(&q->finished);
}

void query_line_init(struct query_line *line)
{
    ring_init(&line->queued);
}

void query_line_end(struct query_line *line)
{
    while (!ring_empty(&line->queued))
        ring_cut(line->queued.next); /* queries_follow_roster knows them by the member's id */
}

/* Does the window have room? A query that has not been answered for two deadlines will not be: it, or its answer, was lost. */
static bool query_line_has_room(struct query_line *line, uint64_t now_ms)
{
    if (now_ms >= line->put_ms + 2 * QUERY_MS)
        line->unanswered = 0;
    return line->unanswered < QUERY_WINDOW;
}

static void query_send(struct node *node, uint32_t place, struct answer *a)
{
    const struct query *q = a->query;
    struct query_line *line = &node->member[place]->queries;
    uint8_t bytes[1 + 8 + 1 + 8 + 256 + 256], *at = bytes;
    char by[LOSS_BY_MAX + 1];

    session_describe(q->session, by);
    at = pack_number(pack_number(at, ADMIN_ASK, 1), q->id, 8);
    at = pack_number(pack_number(at, q->about, 1), a->cursor, 8);
    at = pack_text(at, q->text, q->text_len);
    at = pack_text(at, by, q->about == ASK_EVICT ? strlen(by) : 0);
    admin_say(node, place, bytes, (size_t)(at - bytes));
    a->state = ANSWER_AWAITED;
    line->unanswered++;
    line->put_ms = node->now_ms;
}

/* Sends the queries in the line for which the window has room now. */
static void query_send_queued(struct node *node, uint32_t place)
{
    struct query_line *line = &node->member[place]->queries;

    while (!ring_empty(&line->queued) && admin_reaches(node, place) && query_line_has_room(line, node->now_ms)) {
        struct answer *a = RING_OF(line->queued.next, struct answer, in_line);

        ring_cut(&a->in_line);
        query_send(node, place, a);
    }
}

/* Puts the query to one member. This member answers at once, another one later or not at all. */
static void query_put(struct query *q, struct answer *a, uint64_t cursor)
{
    struct node *node = q->session->node;
    uint32_t place = view_find(&node->view, a->member);
    char by[LOSS_BY_MAX + 1];

    if (place == admin_self(node)) {
        session_describe(q->session, by);
        query_answer(node, q->about, q->text, q->text_len, cursor, by, a);
        return;
    }
    a->state = place != VIEW_MEMBERS_MAX && admin_reaches(node, place) ? ANSWER_QUEUED : ANSWER_NONE;
    if (a->state == ANSWER_NONE)
        return;
    a->cursor = cursor;
    ring_push(&node->member[place]->queries.queued, &a->in_line);
    query_send_queued(node, place);
}

/* The member will not answer this query. */
static void query_give_up(struct answer *a)
{
    ring_cut(&a->in_line);
    a->state = ANSWER_NONE;
}

static bool query_expects(const struct answer *a)
{
    return a->state == ANSWER_QUEUED || a->state == ANSWER_AWAITED;
}

/* The largest fence among the holders that a member has named. */
static uint64_t query_largest_fence(const struct answer *a)
{
    struct unpack u = unpack_bytes(&a->rows);
    struct claim_row row;
    uint64_t largest = 0;

    while (u.at < u.end && query_claim_row(&u, &row))
        largest = largest < row.fence ? row.fence : largest;
    return largest;
}

/* The holders are known: asks the members to evict them. */
static void query_evict(struct query *q)
{
    struct node *node = q->session->node;

    q->about = ASK_EVICT;
    q->evicts = false;
    q->due_ms = node->now_ms + QUERY_MS;
    ring_cut(&q->in_node);
    ring_push(&node->admin.queries.open, &q->in_node);
    for (uint32_t k = 0; k < q->count; k++) {
        uint64_t fence = q->answer[k].more ? UINT64_MAX : query_largest_fence(&q->answer[k]);

        bytes_free(&q->answer[k].rows);
        if (fence)
            query_put(q, &q->answer[k], fence);
    }
}

static bool query_is_open(const struct query *q)
{
    for (uint32_t k = 0; k < q->count; k++)
        if (query_expects(&q->answer[k]))
            return true;
    return false;
}

/* An answer has arrived, or will not arrive any more: if none is awaited, the query is finished. */
static void query_look(struct query *q)
{
    struct queries *all = &q->session->node->admin.queries;

    if (!query_is_open(q) && q->evicts)
        query_evict(q);
    if (query_is_open(q))
        return;
    ring_cut(&q->in_node);
    ring_push(&all->finished, &q->in_node);
}

void query_ask(struct session *s, enum query_about about, const char *text, size_t len, uint32_t member,
               uint64_t cursor)
{
    struct node *node = s->node;
    bool one = query_lists_locks(about);
    uint32_t first = one ? member : 0, count = one ? 1 : admin_members(node);
    struct query *q = mem_new(sizeof *q + count * sizeof q->answer[0]);

    assert(!s->query && len <= LOCK_NAME_MAX);
    s->query = q;
    q->session = s;
    q->about = about == ASK_EVICT ? ASK_HOLDERS : about;
    q->evicts = about == ASK_EVICT;
    q->id = ++node->admin.queries.last_id;
    q->due_ms = node->now_ms + QUERY_MS;
    q->count = count;
    q->text_len = len;
    memcpy(q->text, text, len);
    ring_push(&node->admin.queries.open, &q->in_node);
    for (uint32_t k = 0; k < count; k++) {
        q->answer[k].query = q;
        ring_init(&q->answer[k].in_line);
        q->answer[k].member = node->view.member[first + k].id;
        memcpy(q->answer[k].name, admin_name(node, first + k), sizeof q->answer[k].name);
        query_put(q, &q->answer[k], cursor);
    }
    query_look(q);
}

void query_end(struct session *s)
{
    struct query *q = s->query;

    if (!q)
        return;
    for (uint32_t k = 0; k < q->count; k++) {
        bytes_free(&q->answer[k].rows);
        ring_cut(&q->answer[k].in_line);
    }
    ring_cut(&q->in_node);
    free(q);
    s->query = NULL;
}

/* ------------------------------------------------------------------------------------------------------ among members */

const char *query_hear_ask(struct node *node, uint32_t from, struct unpack *u)
{
    uint64_t id = unpack_number(u, 8), about = unpack_number(u, 1), cursor = unpack_number(u, 8);
    char text[LOCK_NAME_MAX + 1], by[LOSS_BY_MAX + 1] = "";
    size_t len, by_len;
    const char *at = unpack_text(u, &len), *by_at = unpack_text(u, &by_len);
    struct answer a = {0};
    uint8_t head[1 + 8 + 1 + 8];
    struct bytes message = {0};

    if (u->wrong || u->at != u->end || about >= ASK_ABOUTS || len == 0 || !plain_text(at, len) ||
        !plain_text(by_at, by_len))
        return "an invalid query";
    memcpy(text, at, len);
    text[len] = '\0';
    memcpy(by, by_at, by_len);
    if (!admin_reaches(node, from)) /* too many bytes wait to be sent there */
        return NULL;
    query_answer(node, (enum query_about)about, text, len, cursor, by, &a);
    pack_number(pack_number(pack_number(pack_number(head, ADMIN_ANSWER, 1), id, 8), about, 1), a.more, 8);
    memcpy(bytes_add(&message, sizeof head), head, sizeof head);
    if (bytes_len(&a.rows))
        memcpy(bytes_add(&message, bytes_len(&a.rows)), a.rows.at + a.rows.start, bytes_len(&a.rows));
    admin_say(node, from, message.at, bytes_len(&message));
    bytes_free(&message);
    bytes_free(&a.rows);
    return NULL;
}

static struct query *query_of(struct node *node, uint64_t id)
{
    struct ring *open = &node->admin.queries.open;

    for (struct ring *r = open->next; r != open; r = r->next)
        if (RING_OF(r, struct query, in_node)->id == id)
            return RING_OF(r, struct query, in_node);
    return NULL;
}

/* The answer that is awaited from this member, or null. */
static struct answer *query_awaits(struct query *q, uint64_t member)
{
    for (uint32_t k = 0; k < q->count; k++)
        if (q->answer[k].member == member && q->answer[k].state == ANSWER_AWAITED)
            return &q->answer[k];
    return NULL;
}

static size_t query_bytes(const struct query *q)
{
    size_t sum = 0;

    for (uint32_t k = 0; k < q->count; k++)
        sum += bytes_len(&q->answer[k].rows);
    return sum;
}

const char *query_hear_answer(struct node *node, uint32_t from, struct unpack *u)
{
    uint64_t id = unpack_number(u, 8), about = unpack_number(u, 1), more = unpack_number(u, 8);
    struct query_line *line = &node->member[from]->queries;
    struct query *q = query_of(node, id);
    struct answer *a;

    if (u->wrong || about >= ASK_ABOUTS || !query_rows_are_right((enum query_about)about, *u))
        return "an invalid answer";
    line->unanswered -= line->unanswered > 0;
    query_send_queued(node, from);
    a = q && q->about == about ? query_awaits(q, node->view.member[from].id) : NULL;
    if (!a) /* too late */
        return NULL;
    a->state = ANSWER_HEARD;
    a->more = more;
    if (about == ASK_REPLAY && query_bytes(q) + (size_t)(u->end - u->at) > QUERY_TRACES_MAX)
        a->more = 1;
    else if (u->at < u->end)
        memcpy(bytes_add(&a->rows, (size_t)(u->end - u->at)), u->at, (size_t)(u->end - u->at));
    query_look(q);
    return NULL;
}

/* --------------------------------------------------------------------------------------------------------------- time */

uint64_t queries_due_ms(const struct node *node)
{
    const struct ring *open = &node->admin.queries.open;

    return ring_empty(open) ? UINT64_MAX : RING_OF(open->next, struct query, in_node)->due_ms;
}

/* Members that are no longer in the roster will not answer. */
static void queries_follow_roster(struct node *node)
{
    struct queries *all = &node->admin.queries;
    struct ring *next;

    if (all->roster_version == node->roster_version)
        return;
    all->roster_version = node->roster_version;
    for (struct ring *r = all->open.next; r != &all->open; r = next) {
        struct query *q = RING_OF(r, struct query, in_node);

        next = r->next;
        for (uint32_t k = 0; k < q->count; k++)
            if (query_expects(&q->answer[k]) && view_find(&node->view, q->answer[k].member) == VIEW_MEMBERS_MAX)
                query_give_up(&q->answer[k]);
        query_look(q);
    }
}

void queries_advance(struct node *node)
{
    struct ring *open = &node->admin.queries.open;

    queries_follow_roster(node);
    while (node->now_ms >= queries_due_ms(node)) {
        struct query *q = RING_OF(open->next, struct query, in_node);

        for (uint32_t k = 0; k < q->count; k++)
            if (query_expects(&q->answer[k]))
                query_give_up(&q->answer[k]);
        query_look(q);
    }
}

bool queries_next(struct node *node, struct node_event *event)
{
    struct ring *finished = &node->admin.queries.finished;
    struct query *q;

    if (ring_empty(finished))
        return false;
    q = RING_OF(finished->next, struct query, in_node);
    ring_cut(&q->in_node);
    event->session = q->session;
    event->answered = q;
    return true;
}
