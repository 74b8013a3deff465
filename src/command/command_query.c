/* command_query.c - queries about locks, which all members answer. See query.h. */
#include "base/pack.h"
#include "command.h"
#include "permit.h"

#include "node/audit.h"

#include <stdio.h>

/* ------------------------------------------------------------------------------------------------------------ asking */

static void command_ask(struct client *c, enum query_about about, struct resp_word name)
{
    if (!command_is_name(c, name) || !permit(c, about == ASK_EVICT ? RIGHT_FORCE : RIGHT_WATCH, name))
        return;
    if (about == ASK_EVICT)
        audit_tell(&(struct audit){
            .what = AUDIT_FORCE_UNLOCK, .session = c->session, .name = name.at, .name_len = name.len, .text = ""});
    query_ask(c->session, about, name.at, name.len, 0, 0);
}

void command_holders(struct client *c, const struct resp_request *r)
{
    command_ask(c, ASK_HOLDERS, r->word[1]);
}

void command_waiters(struct client *c, const struct resp_request *r)
{
    command_ask(c, ASK_WAITERS, r->word[1]);
}

void command_replay(struct client *c, const struct resp_request *r)
{
    command_ask(c, ASK_REPLAY, r->word[1]);
}

void command_force_unlock(struct client *c, const struct resp_request *r)
{
    command_ask(c, ASK_EVICT, r->word[1]);
}

/* LOCKS works in pages, like SCAN of Redis, one member after the other. A cursor consists of a member's id and a place
 * in that member's table. It has the id, not the place in the roster, since it can outlast a view. Members are sorted
 * by id. */
enum { CURSOR_MEMBER = 40 /* the bits below are the place in that member's table */ };

void command_locks(struct client *c, const struct resp_request *r)
{
    const struct view *view = &c->session->node->view;
    struct resp_word pattern = {"*", 1};
    enum query_about about = ASK_LOCKS;
    size_t words = r->count;
    uint64_t cursor = 0, from;
    uint32_t place = 0;

    if (words >= 3 && resp_is(r->word[words - 2], "CURSOR") && command_number(r->word[words - 1], UINT64_MAX, &cursor))
        words -= 2;
    if (words == 3 && resp_is(r->word[2], "USED")) {
        about = ASK_USED;
        words--;
    }
    if (words == 2)
        pattern = r->word[1];
    if (words > 2)
        resp_error(&c->out, "ERR", "usage: LOCKS [pattern [USED]] [CURSOR c]");
    if (words > 2 || !command_is_name(c, pattern))
        return;
    while (place < view->count && view->member[place].id < cursor >> CURSOR_MEMBER)
        place++;
    if (place == view->count) { /* the member was the last one and has been removed */
        resp_array(&c->out, 2);
        resp_integer(&c->out, 0);
        resp_array(&c->out, 0);
        return;
    }
    from = view->member[place].id == cursor >> CURSOR_MEMBER ? cursor & ((UINT64_C(1) << CURSOR_MEMBER) - 1) : 0;
    query_ask(c->session, about, pattern.at, pattern.len, place, from);
}

/* ----------------------------------------------------------------------------------------------------------- answers */

static size_t command_count_rows(const struct client *c, const struct query *q)
{
    struct claim_row claim;
    struct lock_row lock;
    bool lists = query_lists_locks(q->about);
    size_t count = 0;

    for (uint32_t k = 0; k < q->count; k++) {
        struct unpack u = unpack_bytes(&q->answer[k].rows);

        count += q->answer[k].state != ANSWER_HEARD || (!lists && q->answer[k].more);
        while (u.at < u.end && (lists ? query_lock_row(&u, q->about, &lock) : query_claim_row(&u, &claim)))
            count += !lists || permit_sees(c, lock.name, lock.name_len, false);
    }
    return count;
}

static void command_show_member(struct client *c, const struct answer *a, size_t pairs)
{
    resp_map(&c->out, c->protocol, 1 + pairs);
    resp_text(&c->out, "member");
    resp_text(&c->out, a->name);
}

/* Shows which rows are missing from a member's answer, or that the member has not answered. */
static void command_show_gap(struct client *c, const struct answer *a)
{
    char line[64];

    snprintf(line, sizeof line, "and %llu more", (unsigned long long)a->more);
    command_show_member(c, a, 1);
    resp_text(&c->out, "error");
    resp_text(&c->out, a->state == ANSWER_HEARD ? line : "not heard: it is not connected, or did not answer in time");
}

static void command_show_claim(struct client *c, const struct answer *a, const struct claim_row *row, bool held)
{
    static const char *const states[] = {"held", "lingers", "orphaned", "token"};
    _Static_assert(sizeof states / sizeof states[0] == ROW_STATES, "a state of a holder has a name");

    char value[VALUE_TEXT_MAX + 1];

    command_show_member(c, a, held ? 9 : 6);
    resp_text(&c->out, "client");
    resp_integer(&c->out, row->client);
    resp_text(&c->out, "who");
    resp_string(&c->out, row->who, row->who_len);
    resp_text(&c->out, "from");
    resp_string(&c->out, row->from, row->from_len);
    resp_text(&c->out, "mode");
    resp_text(&c->out, lock_mode_name[row->mode]);
    if (held) {
        resp_text(&c->out, "fence");
        resp_integer(&c->out, row->fence);
        resp_text(&c->out, "state");
        resp_text(&c->out, states[row->state]);
        resp_text(&c->out, "value");
        resp_string(&c->out, value, value_show(row->value, row->value_len, value));
        resp_text(&c->out, "left_ms");
        resp_integer(&c->out, row->left_ms);
    } else {
        resp_text(&c->out, "priority");
        resp_integer(&c->out, row->priority);
    }
    resp_text(&c->out, "age_ms");
    resp_integer(&c->out, row->age_ms);
}

static void command_show_lock(struct client *c, const struct answer *a, const struct lock_row *row, bool ages)
{
    const struct locks *l = &c->session->node->locks;

    command_show_member(c, a, ages ? 7 : 5);
    resp_text(&c->out, "name");
    resp_string(&c->out, row->name, row->name_len);
    resp_text(&c->out, "algorithm");
    resp_text(&c->out, locks_algorithm(l, row->name, row->name_len, row->slots)->name);
    resp_text(&c->out, "slots");
    resp_integer(&c->out, row->slots);
    resp_text(&c->out, "holders");
    resp_integer(&c->out, row->holders);
    resp_text(&c->out, "waiters");
    resp_integer(&c->out, row->waiters);
    if (!ages)
        return;
    resp_text(&c->out, "wait_ms");
    resp_integer(&c->out, row->wait_ms);
    resp_text(&c->out, "hold_ms");
    resp_integer(&c->out, row->hold_ms);
}

/* What each member has recorded (lock/trace.h). */
static void command_show_traces(struct client *c, const struct query *q)
{
    resp_array(&c->out, q->count);
    for (uint32_t k = 0; k < q->count; k++) {
        const struct answer *a = &q->answer[k];

        if (a->state != ANSWER_HEARD || a->more) {
            command_show_member(c, a, 1);
            resp_text(&c->out, "error");
            resp_text(&c->out, a->state != ANSWER_HEARD ? "not heard: it is not connected, or did not answer in time"
                                                        : "it does not take part, or its trace is too long");
            continue;
        }
        command_show_member(c, a, 1);
        resp_text(&c->out, "trace");
        resp_string(&c->out, (const char *)a->rows.at + a->rows.start, bytes_len(&a->rows));
    }
}

/* The cursor of the next page. */
static uint64_t command_next_page(const struct client *c, const struct answer *a)
{
    const struct view *view = &c->session->node->view;

    if (a->state == ANSWER_HEARD && a->more)
        return a->member << CURSOR_MEMBER | a->more;
    for (uint32_t k = 0; k < view->count; k++)
        if (view->member[k].id > a->member)
            return view->member[k].id << CURSOR_MEMBER;
    return 0;
}

void command_answer(struct client *c, const struct query *q)
{
    struct claim_row claim;
    struct lock_row lock;
    bool lists = query_lists_locks(q->about);

    if (q->about == ASK_REPLAY) {
        command_show_traces(c, q);
        return;
    }
    if (lists) {
        resp_array(&c->out, 2);
        resp_integer(&c->out, command_next_page(c, &q->answer[0]));
    }
    resp_array(&c->out, command_count_rows(c, q));
    for (uint32_t k = 0; k < q->count; k++) {
        struct unpack u = unpack_bytes(&q->answer[k].rows);

        while (!lists && u.at < u.end && query_claim_row(&u, &claim))
            command_show_claim(c, &q->answer[k], &claim, q->about != ASK_WAITERS);
        while (lists && u.at < u.end && query_lock_row(&u, q->about, &lock))
            if (permit_sees(c, lock.name, lock.name_len, false))
                command_show_lock(c, &q->answer[k], &lock, q->about == ASK_USED);
        if (q->answer[k].state != ANSWER_HEARD || (!lists && q->answer[k].more))
            command_show_gap(c, &q->answer[k]);
    }
}
