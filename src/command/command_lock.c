/* command_lock.c - LOCK, of one name or of several.
 *
 * Several locks at once are all granted, or none is. The member requests one after the other, in the order of the bytes of their
 * names, whatever the order in the command: so clients that request their locks in this way never wait for each other in a circle.
 * All share one time limit. The client is told when it holds all of them; until then it has been told of none. The TTL
 * of each begins at that moment. If one request is refused or times out, or a granted lock is lost, before that, the granted locks are released, and the
 * answer says why (I35). A session waits for one lock at a time (session.h), so this file requests the next lock when one is granted. Each request
 * costs the client some of its credit (client.h), and more if the lock has many holders: if the credit is used up, the next request
 * waits for the client's next turn. */
#include "command.h"
#include "permit.h"

#include "base/memory.h"
#include "base/slab.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct client_part {
    uint32_t slots, mode;
    uint64_t fence;
    struct lock_value *value; /* or null */
    uint8_t place;            /* in the command, from 0 on */
    uint8_t name_len;
    char name[LOCK_NAME_MAX];
};

struct client_many {
    uint64_t until_ms; /* when the wait ends; SESSION_FOREVER; 0: it only tries */
    uint64_t ttl_ms;
    uint8_t priority;
    uint32_t count, granted;   /* the first `granted` of the parts are held */
    bool disturbed;            /* the client has done something meanwhile: perhaps not all of these are held any more */
    struct client_part part[]; /* in the order of their names */
};

static const char command_lock_usage[] =
    "usage: LOCK name [SHARED | GROUP g | SLOTS k | TOKEN t] [VALUE v] [AND name [SHARED | "
    "GROUP g | SLOTS k] [VALUE v]]... [WAIT ms] [TTL ms] [PRIORITY n] [REENTRANT]";

/* Parses a name from word *at on, and what follows it up to AND or the end. WAIT, TTL, PRIORITY and REENTRANT are written to `limits`. Returns null,
 * or what is wrong. */
static const char *command_part(const struct resp_request *r, size_t *at, struct session_wish *wish,
                                struct session_wish *limits)
{
    const char *wrong = command_objects_to(r->word[*at]);
    unsigned kinds = 0;
    uint64_t x;
    size_t k;

    if (wrong)
        return wrong;
    wish->name = r->word[*at].at;
    wish->name_len = r->word[*at].len;
    for (k = *at + 1; k < r->count && !resp_is(r->word[k], "AND"); k++) {
        struct resp_word word = r->word[k], value = k + 1 < r->count ? r->word[k + 1] : (struct resp_word){"", 0};

        if (resp_is(word, "SHARED")) {
            wish->mode = LOCK_SHARED;
            kinds++;
            continue;
        }
        if (resp_is(word, "REENTRANT")) {
            limits->reentrant = true;
            continue;
        }
        k++; /* all others have a value */
        if (resp_is(word, "GROUP")) {
            if ((wrong = command_objects_to(value)))
                return wrong;
            wish->mode = lock_group_mode(wish->name, wish->name_len, value.at, value.len);
            kinds++;
        } else if (resp_is(word, "SLOTS")) {
            if (!command_number(value, LOCK_SLOTS_MAX, &x) || x == 0)
                return "SLOTS takes a number from 1 to 256";
            wish->slots = (uint32_t)x;
            kinds++;
        } else if (resp_is(word, "VALUE")) {
            if (k == r->count || value.len > VALUE_MAX)
                return "VALUE takes at most 4096 bytes";
            wish->value = value.at;
            wish->value_len = value.len;
        } else if (resp_is(word, "WAIT")) {
            if (!command_number(value, COMMAND_MS_MAX, &limits->wait_ms))
                return "WAIT takes milliseconds, at most 1000000000";
        } else if (resp_is(word, "TTL")) {
            if (!command_number(value, COMMAND_MS_MAX, &limits->ttl_ms) || limits->ttl_ms == 0)
                return "TTL takes milliseconds, from 1 to 1000000000";
        } else if (resp_is(word, "PRIORITY")) {
            if (!command_number(value, LOCK_PRIORITY_MAX, &x))
                return "PRIORITY takes a number from 0 to 9";
            limits->priority = (uint8_t)x;
        } else {
            return command_lock_usage;
        }
    }
    *at = k;
    return kinds > 1 ? "only one of SHARED, GROUP and SLOTS is possible" : NULL;
}

/* May the client request this lock? If not, it is sent an error. If the rights change while it waits, they decide again (node/rules.h). */
static bool command_permits(struct client *c, const struct session_wish *wish)
{
    c->session->ruled = c->session->node->rules.version;
    return permit(c, wish->mode == LOCK_SHARED ? RIGHT_SHARED : RIGHT_LOCK,
                  (struct resp_word){wish->name, wish->name_len});
}

/* ----------------------------------------------------------------------------------------------------------- several */

static int many_compare(const void *a, const void *b)
{
    const struct client_part *x = a, *y = b;
    int differ = memcmp(x->name, y->name, x->name_len < y->name_len ? x->name_len : y->name_len);

    return differ ? differ : x->name_len - y->name_len;
}

/* Parses LOCK name .. AND name .. into `m`. Returns null, or what is wrong. */
static const char *many_parse(const struct resp_request *r, struct client_many *m, struct session_wish *limits)
{
    const char *wrong;

    for (size_t at = 1; at < r->count; at++) { /* behind AND */
        struct session_wish wish = {0};
        struct client_part *part = &m->part[m->count];

        if (m->count == CLIENT_MANY_MAX)
            return "LOCK takes at most 32 names";
        if ((wrong = command_part(r, &at, &wish, limits)))
            return wrong;
        *part = (struct client_part){.slots = wish.slots,
                                     .mode = wish.mode,
                                     .value = value_new(wish.value, wish.value_len),
                                     .place = (uint8_t)m->count,
                                     .name_len = (uint8_t)wish.name_len};
        memcpy(part->name, wish.name, wish.name_len);
        m->count++;
        if (at + 1 == r->count)
            return "a name must follow AND";
    }
    if (limits->reentrant)
        return "REENTRANT is possible with one name only";
    qsort(m->part, m->count, sizeof m->part[0], many_compare);
    for (uint32_t k = 1; k < m->count; k++)
        if (many_compare(&m->part[k - 1], &m->part[k]) == 0)
            return "a name is given twice; LOCK grants each lock once";
    return NULL;
}

void many_forget(struct client *c)
{
    for (uint32_t k = 0; c->many && k < c->many->count; k++)
        slab_free(c->many->part[k].value);
    free(c->many);
    c->many = NULL;
}

static void many_end(struct client *c)
{
    party_promise(c->session, 0);
    many_forget(c);
}

/* Releases what has been granted so far. The client has been told of none of it. */
static void many_release(struct client *c)
{
    struct client_many *m = c->many;

    for (uint32_t k = 0; k < m->granted; k++)
        session_unlock(c->session, m->part[k].name, m->part[k].name_len, m->part[k].fence);
    many_end(c);
}

/* All locks are granted: tells the client. */
static void many_finish(struct client *c)
{
    struct client_many *m = c->many;

    resp_array(&c->out, 2 * m->count);
    for (uint32_t place = 0; place < m->count; place++)
        for (uint32_t k = 0; k < m->count; k++)
            if (m->part[k].place == place) {
                resp_string(&c->out, m->part[k].name, m->part[k].name_len);
                resp_integer(&c->out, m->part[k].fence);
            }
    for (uint32_t k = 0; m->ttl_ms && k < m->count; k++)
        session_renew(c->session, m->part[k].name, m->part[k].name_len, m->part[k].fence, m->ttl_ms);
    many_end(c);
}

/* Requests the next lock. */
static void many_ask(struct client *c)
{
    struct client_many *m = c->many;
    const struct client_part *part = &m->part[m->granted];
    uint64_t now_ms = c->session->node->now_ms;
    struct session_wish wish = {.name = part->name,
                                .name_len = part->name_len,
                                .slots = part->slots,
                                .mode = part->mode,
                                .value = part->value ? part->value->text : "",
                                .value_len = part->value ? part->value->len : 0,
                                .priority = m->priority,
                                .wait_ms = m->until_ms == SESSION_FOREVER ? SESSION_FOREVER
                                           : m->until_ms > now_ms         ? m->until_ms - now_ms
                                                                          : 0};
    const char *code;
    char line[512];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    party_promise(c->session, m->count - m->granted - 1);
    if ((code = session_lock(c->session, &wish, &why))) {
        many_release(c);
        resp_error(&c->out, code, line);
    }
}

void many_disturb(struct client *c)
{
    if (c->many)
        c->many->disturbed = true;
}

/* Do the present rights still allow all of the locks? If not, the client is sent an error. */
static bool many_is_permitted(struct client *c)
{
    const struct client_many *m = c->many;
    bool good = true;

    for (uint32_t k = 0; good && c->session->ruled != c->session->node->rules.version && k < m->count; k++)
        good = permit(c, m->part[k].mode == LOCK_SHARED ? RIGHT_SHARED : RIGHT_LOCK,
                      (struct resp_word){m->part[k].name, m->part[k].name_len});
    return good;
}

void many_go_on(struct client *c)
{
    struct client_many *m = c->many;
    bool all = m->granted == m->count;
    char line[LOCK_NAME_MAX + 96];

    for (uint32_t k = 0; (all || m->disturbed) && k < m->granted; k++) {
        const struct client_part *part = &m->part[k];

        if (!session_holds(c->session, part->name, part->name_len, part->fence)) {
            snprintf(line, sizeof line, "\"%.*s\", one of several, was released meanwhile", part->name_len, part->name);
            many_release(c);
            resp_error(&c->out, "NOTHELD", line);
            return;
        }
    }
    m->disturbed = false;
    if (!all)
        many_ask(c);
    else if (many_is_permitted(c))
        many_finish(c);
    else
        many_release(c);
}

/* A lock that was granted is lost while the client waits for another one. */
static void many_lose(struct client *c, const struct node_event *event)
{
    char line[LOCK_NAME_MAX + CLIENT_WHY_MAX + 64], why[CLIENT_WHY_MAX];

    client_tell_why(event->loss, event->why, why);
    snprintf(line, sizeof line, "\"%.*s\", one of several, was lost before all were granted: %s", event->name_len,
             event->name, why);
    if (c->session->waiting)
        session_withdraw(c->session);
    many_release(c);
    resp_error(&c->out, "LOST", line);
}

bool many_hear(struct client *c, const struct node_event *event)
{
    struct client_many *m = c->many;

    if (event->answers && event->state == CLAIM_HELD) {
        m->part[m->granted++].fence = event->fence;
        return true;
    }
    if (event->answers) {
        many_release(c);
        return false;
    }
    for (uint32_t k = 0; k < m->granted; k++)
        if (m->part[k].fence == event->fence && m->part[k].name_len == event->name_len &&
            memcmp(m->part[k].name, event->name, event->name_len) == 0) {
            many_lose(c, event);
            return true;
        }
    return false;
}

static void command_lock_many(struct client *c, const struct resp_request *r)
{
    struct client_many *m = mem_new(sizeof *m + CLIENT_MANY_MAX * sizeof m->part[0]);
    struct session_wish limits = {.wait_ms = SESSION_FOREVER};
    const char *wrong = many_parse(r, m, &limits);
    bool fine = !wrong;

    c->many = m;
    if (wrong)
        resp_error(&c->out, "ERR", wrong);
    for (uint32_t k = 0; fine && k < m->count; k++) {
        struct session_wish wish = {.name = m->part[k].name, .name_len = m->part[k].name_len, .mode = m->part[k].mode};

        fine = command_permits(c, &wish);
    }
    if (!fine || !permit_more(c, m->count)) {
        many_forget(c);
        return;
    }
    m->ttl_ms = limits.ttl_ms;
    m->priority = limits.priority;
    m->until_ms = limits.wait_ms == SESSION_FOREVER ? SESSION_FOREVER
                  : limits.wait_ms                  ? c->session->node->now_ms + limits.wait_ms
                                                    : 0;
    for (uint32_t k = 0; k < m->count; k++) /* a client that requests a lock again knows of its loss */
        client_forget_loss(c, client_loss(c, m->part[k].name, m->part[k].name_len, 0));
    many_go_on(c);
}

/* --------------------------------------------------------------------------------------------------------------- one */

/* MEANWHILE CANCEL: the LOCK that waits is answered as if its time were over. Returns the number of waits that this has ended: 0 or 1. If
 * it is 0, the request was granted or failed just before, and the answer to LOCK says so. A LOCK of several names has no answer yet
 * if one of them was granted just before: it is cancelled before it requests the next one. */
void command_cancel(struct client *c, const struct resp_request *r)
{
    bool ended = session_cancel(c->session), several = !ended && c->many;

    (void)r;
    resp_integer(&c->out, ended || several);
    if (!several)
        return;
    if (c->session->waiting)
        session_withdraw(c->session);
    many_release(c);
    resp_null(&c->out, c->protocol);
}

static bool command_has_and(const struct resp_request *r)
{
    for (size_t k = 2; k < r->count; k += resp_is(r->word[k], "SHARED") || resp_is(r->word[k], "REENTRANT")
                                              ? 1
                                              : 2) /* a group or a token may be called so */
        if (resp_is(r->word[k], "AND"))
            return true;
    return false;
}

/* LOCK name REENTRANT of a lock that the connection holds. Returns false if it does not hold the lock. If the client has lost the lock and was not
 * told, it is told now: also a client that does not know of the loss requests the lock again (I20). */
static bool command_lock_again(struct client *c, const struct session_wish *wish)
{
    struct client_loss *loss = client_loss(c, wish->name, wish->name_len, 0);
    uint64_t fence;
    uint32_t count;
    const char *code;
    char line[LOCK_NAME_MAX + 128];
    struct dme_text why;

    if (loss) {
        command_tell_loss(c, loss);
        client_forget_loss(c, loss);
        return true;
    }
    dme_text_init(&why, line, sizeof line);
    count = session_hold_again(c->session, wish, &fence, &code, &why);
    if (code)
        resp_error(&c->out, code, line);
    if (code || !count)
        return code != NULL;
    resp_array(&c->out, 3);
    resp_string(&c->out, wish->name, wish->name_len);
    resp_integer(&c->out, fence);
    resp_integer(&c->out, count);
    return true;
}

void command_lock(struct client *c, const struct resp_request *r)
{
    struct session_wish wish = {.wait_ms = SESSION_FOREVER};
    const char *wrong, *code;
    size_t at = 1;
    char line[512];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (r->count > 2 && command_has_and(r)) {
        command_lock_many(c, r);
        return;
    }
    if (r->count > 2 && command_with_token(c, r))
        return;
    wrong = r->count > 13 ? command_lock_usage : command_part(r, &at, &wish, &wish);
    if (wrong)
        resp_error(&c->out, "ERR", wrong);
    else if (!command_permits(c, &wish) || (wish.reentrant && command_lock_again(c, &wish)) || !permit_more(c, 1))
        return;
    else if ((code = session_lock(c->session, &wish, &why)))
        resp_error(&c->out, code, line);
    else if (c->loss_count)
        client_forget_loss(
            c, client_loss(c, wish.name, wish.name_len, 0)); /* a client that requests a lock again knows of its loss */
}
