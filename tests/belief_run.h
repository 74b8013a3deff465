/* belief_run.h - one step of a case of test_belief.c: a call of the program, bytes of the daemon, or the time is passed to the decisions of the
 * client library (client/belief.h), and what comes of it is written as a line. */
#ifndef DIBS_TESTS_BELIEF_RUN_H
#define DIBS_TESTS_BELIEF_RUN_H

#include "test.h"

#include "client/belief.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct step {
    uint64_t at_ms;
    const char *act, *expected;
};

enum { LINE = 1024 };

static const char *const run_codes[] = {"ok",        "timeout", "lost",   "gone",      "not held", "wrong kind",
                                        "no quorum", "refused", "misuse", "no memory", "in doubt", "deadlock"};

struct run {
    struct belief b;
    char said[LINE], lost[LINE];
};

static void run_add(char line[LINE], const char *word)
{
    size_t len = strlen(line);

    snprintf(line + len, LINE - len, "%s%s", len && *word ? " " : "", word);
}

/* A call. DIBS_WAITING: there is no result yet, or there will not be one. */
static int run_call(struct run *r, const struct step *s)
{
    const char *space = strchr(s->act, ' '), *name = space ? space + 1 : "";
    size_t len = space ? (size_t)(space - s->act) : strlen(s->act);
    const struct dibs_wish none = {0}, brief = {.wait_ms = 500};
    int code = DIBS_WAITING;

#define IS(text) (len == strlen(text) && memcmp(s->act, text, len) == 0)
    if (IS("hello"))
        belief_hello(&r->b, "me", 0, s->at_ms);
    else if (IS("keep") || IS("keep_long"))
        belief_hello(&r->b, "me", IS("keep") ? 5000 : 60000, s->at_ms);
    else if (IS("break"))
        belief_break(&r->b, "broken", s->at_ms);
    else if (IS("elsewhere"))
        r->b.elsewhere = true;
    else if (IS("return"))
        belief_return(&r->b, "me", s->at_ms);
    else if (IS("lock") || IS("wait"))
        code = belief_lock(&r->b, name, IS("wait") ? &brief : &none, true, s->at_ms);
    else if (IS("hold"))
        code =
            belief_ask(&r->b, (const char *[]){"LOCK", name, "TOKEN", "t", "TTL", "9", "WAIT", "60000"}, 8, s->at_ms);
    else if (IS("share"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.mode = DIBS_SHARED}, true, s->at_ms);
    else if (IS("red"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.mode = DIBS_GROUP, .group = "red"}, true, s->at_ms);
    else if (IS("again") || IS("again_shared"))
        code = belief_lock(&r->b, name,
                           &(struct dibs_wish){.mode = IS("again") ? DIBS_EXCLUSIVE : DIBS_SHARED, .reentrant = true},
                           true, s->at_ms);
    else if (IS("again_red") || IS("again_blue"))
        code = belief_lock(
            &r->b, name,
            &(struct dibs_wish){.mode = DIBS_GROUP, .group = IS("again_red") ? "red" : "blue", .reentrant = true}, true,
            s->at_ms);
    else if (IS("slot") || IS("again_2_slots") || IS("again_3_slots"))
        code = belief_lock(
            &r->b, name,
            &(struct dibs_wish){.mode = DIBS_SLOTS, .slots = IS("again_3_slots") ? 3 : 2, .reentrant = !IS("slot")},
            true, s->at_ms);
    else if (IS("start"))
        code = belief_lock(&r->b, name, &none, false, s->at_ms);
    else if (IS("start_share"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.mode = DIBS_SHARED}, false, s->at_ms);
    else if (IS("lease"))
        code = belief_lock(&r->b, name, &(struct dibs_wish){.ttl_ms = 100, .priority = 9}, true, s->at_ms);
    else if (IS("start_both"))
        code = belief_lock_many(&r->b, (const struct dibs_part[]){{.name = "x"}, {.name = "y"}}, 2, &none, false,
                                s->at_ms);
    else if (IS("cancel"))
        code = belief_cancel(&r->b);
    else if (IS("result"))
        code = belief_lock_result(&r->b, s->at_ms);
    else if (IS("unlock"))
        code = belief_unlock(&r->b, name, s->at_ms);
    else if (IS("start_unlock"))
        code = belief_start_unlock(&r->b, name);
    else if (IS("renew"))
        code = belief_renew(&r->b, name, 100, s->at_ms);
    else if (IS("start_renew"))
        code = belief_start_renew(&r->b, name, 100);
    else if (IS("upgrade"))
        code = belief_upgrade(&r->b, name, 0, s->at_ms);
    else if (IS("try_upgrade"))
        code = belief_upgrade(&r->b, name, DIBS_NO_WAIT, s->at_ms);
    else if (IS("downgrade"))
        code = belief_downgrade(&r->b, name, s->at_ms);
    else if (IS("confirm"))
        code = belief_confirm(&r->b, name, s->at_ms);
    else if (IS("fence"))
        code = (int)belief_fence(&r->b, name, s->at_ms);
    else if (IS("safe"))
        code = (int)belief_safe_ms(&r->b, s->at_ms);
    else if (IS("goodbye"))
        belief_say_goodbye(&r->b);
    else if (IS("end"))
        belief_end(&r->b, "ended");
    else if (!IS("clock"))
        fail_msg("%s", s->act);
#undef IS
    return code;
}

/* The requests that are to be sent, as words in brackets. */
static void run_sent(struct run *r)
{
    size_t len;
    const char *bytes = belief_output(&r->b, &len);
    char *copy = strndup(len ? bytes : "", len), *at = copy, word[256];

    belief_sent(&r->b, len);
    while (*at == '*') {
        unsigned long count = strtoul(at + 1, &at, 10);

        *word = 0;
        for (at += 2; count > 0; count--) {
            unsigned long size = strtoul(at + 1, &at, 10);
            bool aside = size == 9 && memcmp(at + 2, "MEANWHILE", 9) == 0;

            snprintf(word + strlen(word), sizeof word - strlen(word), "%s%.*s%s", *word ? "" : "[",
                     aside ? 1 : (int)size, aside ? "~" : at + 2,
                     aside       ? ""
                     : count > 1 ? " "
                                 : "]");
            at += 2 + size + 2;
        }
        run_add(r->said, word);
    }
    free(copy);
}

static void run_hear(struct run *r, const struct step *s)
{
    struct belief_news news;
    char word[400];

    while (belief_next(&r->b, &news, s->at_ms)) {
        if (news.type == BELIEF_DOUBT && news.in_doubt)
            assert_true(*news.why); /* people read it */
        if (news.type == BELIEF_DOUBT)
            snprintf(word, sizeof word, "%s", news.in_doubt ? "doubt" : "no doubt");
        else
            snprintf(word, sizeof word, "lost %s: %s", news.name, news.why);
        run_add(r->lost, word);
    }
}

/* Bytes of the daemon come in pieces: all at once, or one by one. */
static void run_feed(struct run *r, const struct step *s, size_t piece)
{
    const char *bytes = s->act + 1;

    for (size_t len = strlen(bytes), some; len > 0; len -= some, bytes += some) {
        size_t room;
        char *at = belief_room(&r->b, &room);

        some = len < piece ? len : piece;
        memcpy(at, bytes, some);
        belief_received(&r->b, some);
        run_hear(r, s);
    }
}

static void run_step(struct run *r, const struct step *s, size_t piece)
{
    char word[64] = "";
    int code = DIBS_WAITING;
    bool grant;

    *r->said = *r->lost = 0;
    if (*s->act == '<')
        run_feed(r, s, piece);
    else
        code = run_call(r, s);
    belief_clock(&r->b, s->at_ms);
    run_hear(r, s);
    run_sent(r);
    grant = r->b.call == BELIEF_LOCK || strcmp(s->act, "result") == 0;
    if (r->b.call)
        code = belief_answer(&r->b);
    if (r->b.call)
        snprintf(word, sizeof word, "..");
    else if (strncmp(s->act, "fence", 5) == 0 || strcmp(s->act, "safe") == 0)
        snprintf(word, sizeof word, "%d", code);
    else if (code == DIBS_OK && grant)
        snprintf(word, sizeof word, "ok %llu", (unsigned long long)r->b.fence);
    else if (code == DIBS_WAITING && grant)
        snprintf(word, sizeof word, "waiting");
    else if (code != DIBS_WAITING)
        snprintf(word, sizeof word, "%s", run_codes[-code]);
    run_add(r->said, word);
    run_add(r->said, r->lost);
    snprintf(word, sizeof word, "by %llu", (unsigned long long)belief_due_ms(&r->b));
    if (belief_due_ms(&r->b) != UINT64_MAX)
        run_add(r->said, word);
}

#endif
