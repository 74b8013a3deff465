/* belief_say.c - see belief.h: requests as bytes. */
#include "belief.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Room for len bytes at the end, or null. */
static char *belief_make_room(struct belief_bytes *b, size_t len)
{
    if (b->room - b->end < len && b->start) {
        memmove(b->at, b->at + b->start, b->end - b->start);
        b->end -= b->start;
        b->start = 0;
    }
    if (b->room - b->end < len) {
        size_t room = 2 * b->room + len;
        char *more = realloc(b->at, room);

        if (!more)
            return NULL;
        b->at = more;
        b->room = room;
    }
    assert(b->start <= b->end && b->end <= b->room && len <= b->room - b->end);
    return b->at + b->end;
}

char *belief_room(struct belief *b, size_t *room)
{
    char *at = belief_make_room(&b->in, 4096);

    if (!at)
        belief_end(b, "out of memory");
    *room = b->in.room - b->in.end;
    return at;
}

void belief_received(struct belief *b, size_t len)
{
    assert(len <= b->in.room - b->in.end);
    b->in.end += len;
}

const char *belief_output(const struct belief *b, size_t *len)
{
    *len = b->out_of_memory ? 0 : b->out.end - b->out.start; /* a part of a request would be read as another request */
    return b->out.at ? b->out.at + b->out.start : NULL;
}

void belief_sent(struct belief *b, size_t len)
{
    assert(len <= b->out.end - b->out.start);
    b->out.start += len;
    if (b->out.start == b->out.end)
        b->out.start = b->out.end = 0;
}

/* ------------------------------------------------------------------------------------------------------------- words */

static void belief_put(struct belief *b, const char *text, size_t len)
{
    char *at = belief_make_room(&b->out, len);

    if (at)
        memcpy(at, text, len);
    else
        b->out_of_memory = true;
    b->out.end += at ? len : 0;
}

static void belief_put_head(struct belief *b, char type, size_t count)
{
    char line[32];

    belief_put(b, line, (size_t)snprintf(line, sizeof line, "%c%zu\r\n", type, count));
}

static void belief_put_bytes(struct belief *b, const char *bytes, size_t len)
{
    belief_put_head(b, '$', len);
    belief_put(b, bytes, len);
    belief_put(b, "\r\n", 2);
}

static void belief_put_word(struct belief *b, const char *word)
{
    belief_put_bytes(b, word, strlen(word));
}

void belief_say(struct belief *b, const char *const *words, size_t count)
{
    belief_put_head(b, '*', count);
    for (size_t k = 0; k < count; k++)
        belief_put_word(b, words[k]);
}

void belief_say_aside(struct belief *b, int type, const char *const *words, size_t count)
{
    assert(b->asides <= b->aside_room && count);
    if (b->asides == b->aside_room) {
        size_t room = 2 * b->aside_room + 8;
        struct belief_aside *more = realloc(b->aside, room * sizeof *more);

        if (!more) {
            b->out_of_memory = true;
            return;
        }
        b->aside = more;
        b->aside_room = room;
    }
    b->aside[b->asides].type = type;
    b->aside[b->asides].name = type == ASIDE_RENEW ? strdup(words[1]) : NULL;
    b->out_of_memory |= type == ASIDE_RENEW && !b->aside[b->asides].name;
    b->asides++;
    belief_put_head(b, '*', count + 1);
    belief_put_word(b, "MEANWHILE");
    for (size_t k = 0; k < count; k++)
        belief_put_word(b, words[k]);
}

/* ---------------------------------------------------------------------------------------------------------- requests */

void belief_say_hello(struct belief *b, const char *name)
{
    const char *words[] = {"HELLO", "3", "SETNAME", name, "UNDER", b->under};

    belief_say(b, words, b->under ? 6 : 4);
}

void belief_ask_confirm(struct belief *b, uint64_t now_ms)
{
    const char *words[] = {"CONFIRM"};

    if (b->asked_ms || b->phase != BELIEF_UP)
        return;
    b->asked_ms = now_ms;
    belief_say_aside(b, ASIDE_CONFIRM, words, 1);
}

void belief_say_lock(struct belief *b)
{
    const char *words[7 + 6 * DIBS_PARTS_MAX] = {"LOCK"};
    const struct belief_part *of[7 + 6 * DIBS_PARTS_MAX] = {NULL}; /* this word is the value of that lock */
    char slots[DIBS_PARTS_MAX][16], wait[24], ttl[24], priority[16];
    size_t count = 1;

    for (size_t k = 0; k < b->wants; k++) {
        const struct belief_part *part = &b->wanted[k];

        if (k)
            words[count++] = "AND";
        words[count++] = part->name;
        if (part->mode == DIBS_SHARED)
            words[count++] = "SHARED";
        if (part->mode == DIBS_GROUP) {
            words[count++] = "GROUP";
            words[count++] = part->group;
        }
        if (part->mode == DIBS_SLOTS) {
            snprintf(slots[k], sizeof slots[k], "%u", part->slots);
            words[count++] = "SLOTS";
            words[count++] = slots[k];
        }
        if (part->value_len) {
            words[count++] = "VALUE";
            of[count++] = part;
        }
    }
    if (b->wait_ms) {
        snprintf(wait, sizeof wait, "%" PRIu64, b->wait_ms == DIBS_NO_WAIT ? 0 : b->wait_ms);
        words[count++] = "WAIT";
        words[count++] = wait;
    }
    if (b->ttl_ms) {
        snprintf(ttl, sizeof ttl, "%" PRIu64, b->ttl_ms);
        words[count++] = "TTL";
        words[count++] = ttl;
    }
    if (b->priority) {
        snprintf(priority, sizeof priority, "%u", b->priority);
        words[count++] = "PRIORITY";
        words[count++] = priority;
    }
    b->said = true;
    assert(count <= sizeof words / sizeof words[0] && b->wants && b->wants <= DIBS_PARTS_MAX);
    belief_put_head(b, '*', count);
    for (size_t k = 0; k < count; k++)
        if (of[k])
            belief_put_bytes(b, of[k]->value, of[k]->value_len);
        else
            belief_put_word(b, words[k]);
}

void belief_say_goodbye(struct belief *b)
{
    const char *words[] = {"SESSION", "END"};

    if (*b->session && !b->gone && b->phase == BELIEF_UP)
        belief_say_aside(b, ASIDE_UNLOCK, words, 2); /* a LOCK that waits does not hold it up */
}

void belief_say_keep(struct belief *b)
{
    char ms[24];
    const char *keep[] = {"SESSION", "KEEP", ms}, *resume[] = {"SESSION", "RESUME", b->session};

    snprintf(ms, sizeof ms, "%" PRIu64, b->keep_ms);
    belief_say(b, *b->session ? resume : keep, 3);
}

void belief_say_about(struct belief *b, enum belief_call call, const char *name, uint64_t fence, uint64_t ms,
                      bool aside)
{
    static const char *const verbs[] = {[BELIEF_UNLOCK] = "UNLOCK",
                                        [BELIEF_RENEW] = "RENEW",
                                        [BELIEF_UPGRADE] = "UPGRADE",
                                        [BELIEF_DOWNGRADE] = "DOWNGRADE"};
    char number[24], time[24];
    const char *words[] = {verbs[call], name, number, call == BELIEF_UPGRADE ? "WAIT" : "TTL", time};
    size_t count = call == BELIEF_RENEW || (call == BELIEF_UPGRADE && ms) ? 5 : 3;

    snprintf(number, sizeof number, "%" PRIu64, fence);
    snprintf(time, sizeof time, "%" PRIu64, ms == DIBS_NO_WAIT ? 0 : ms);
    if (aside)
        belief_say_aside(b, call == BELIEF_RENEW ? ASIDE_RENEW : ASIDE_UNLOCK, words, count);
    else
        belief_say(b, words, count);
}
