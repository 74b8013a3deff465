/* agreement.h - agreement alone (member/agree.h), with a network and disks that a test holds in its hands. Servers have the ids
 * 1 to AGREEMENT_MAX. Letters wait in one line, until agreement_carry brings them to those that are there. */
#ifndef DIBS_TESTS_AGREEMENT_H
#define DIBS_TESTS_AGREEMENT_H

#include "member/agree.h"
#include "member/agree_wire.h"
#include "test.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { AGREEMENT_MAX = 5, ELECTION_MS = 100, STEP_MS = 5, PATIENCE_STEPS = 2000 };

struct letter {
    struct letter *next;
    uint64_t from, to;
    size_t len;
    uint8_t bytes[];
};

struct server {
    struct agree *agree; /* null: it does not run */
    struct bytes journal;
    struct disk disk;
    uint64_t id, random;
    unsigned replaced;         /* how often the journal was written anew */
    unsigned writes, fails_at; /* this write fails, and all behind it; 0: none does */
};

static struct server server[AGREEMENT_MAX];
static struct letter *first_letter, **last_letter;
static uint64_t now_ms;
static size_t longest_letter;
static unsigned carried, carries; /* letters, so far and at most */

static inline struct server *server_of(uint64_t id)
{
    return &server[id - 1];
}

static inline bool agreement_write(struct server *s)
{
    return ++s->writes < s->fails_at || !s->fails_at;
}

static inline enum disk_status agreement_append(void *user, const uint8_t *bytes, size_t len)
{
    struct server *s = user;

    if (!agreement_write(s))
        return DISK_FAILED;
    memcpy(bytes_add(&s->journal, len), bytes, len);
    return DISK_WRITTEN;
}

static inline enum disk_status agreement_replace(void *user, const uint8_t *bytes, size_t len)
{
    struct server *s = user;
    struct bytes next = {0}; /* what is written may be what it is read from */

    if (!agreement_write(s))
        return DISK_FAILED;
    memcpy(bytes_add(&next, len), bytes, len);
    bytes_free(&s->journal);
    s->journal = next;
    s->replaced++;
    return DISK_WRITTEN;
}

static inline uint64_t agreement_chance(void *user)
{
    struct server *s = user;

    return test_random(&s->random);
}

static inline void agreement_post(void *user, uint64_t to, const uint8_t *bytes, size_t len)
{
    struct letter *m = malloc(sizeof *m + len);

    *m = (struct letter){.from = ((struct server *)user)->id, .to = to, .len = len};
    longest_letter = longest_letter < len ? len : longest_letter;
    memcpy(m->bytes, bytes, len);
    *last_letter = m;
    last_letter = &m->next;
}

static inline void agreement_forget_letters(void)
{
    while (first_letter) {
        struct letter *m = first_letter;

        first_letter = m->next;
        free(m);
    }
    last_letter = &first_letter;
}

/* No server runs, and all disks are empty. */
static inline void agreement_clear(uint64_t seed)
{
    for (unsigned k = 0; k < AGREEMENT_MAX; k++)
        server[k] = (struct server){.id = k + 1, .random = 1000 * k + seed};
    now_ms = 1000;
    carried = 0;
    carries = UINT32_MAX;
    last_letter = &first_letter;
}

static inline void agreement_stop(uint64_t id)
{
    if (server_of(id)->agree)
        agree_free(server_of(id)->agree);
    server_of(id)->agree = NULL;
}

static inline void agreement_end(void)
{
    for (uint64_t id = 1; id <= AGREEMENT_MAX; id++) {
        agreement_stop(id);
        bytes_free(&server_of(id)->journal);
    }
    agreement_forget_letters();
}

/* From what its disk has, or new. */
static inline void agreement_new(uint64_t id)
{
    struct server *s = server_of(id);
    struct agree_conf conf = {
        .disk = &s->disk, .election_ms = ELECTION_MS, .user = s, .random = agreement_chance, .send = agreement_post};
    struct bytes kept = {0};
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (bytes_len(&s->journal))
        memcpy(bytes_add(&kept, bytes_len(&s->journal)), s->journal.at + s->journal.start, bytes_len(&s->journal));
    s->disk = (struct disk){s, agreement_append, agreement_replace};
    s->agree = agree_new(&conf, kept.at, bytes_len(&kept), &why);
    assert(s->agree);
    bytes_free(&kept);
}

static inline void agreement_restart(uint64_t id)
{
    char line[256];
    struct dme_text why;
    bool begun;

    agreement_stop(id);
    agreement_new(id);
    dme_text_init(&why, line, sizeof line);
    begun = agree_begin(server_of(id)->agree, now_ms, &why);
    assert(begun);
}

static inline void agreement_roster(struct view *view, unsigned n)
{
    char name[8], address[24];

    view_begin(view);
    for (unsigned k = 1; k <= n; k++) {
        snprintf(name, sizeof name, "s%u", k);
        snprintf(address, sizeof address, "10.0.0.%u:7400", k);
        assert(!view_add(view, name, address, VIEW_MEMBER));
    }
}

/* One of the founders of a cluster of n; or one that joins, and does not know how many they are. */
static inline void agreement_begin(uint64_t id, unsigned n, bool joins)
{
    struct view view;
    char line[256];
    struct dme_text why;
    bool begun;

    dme_text_init(&why, line, sizeof line);
    agreement_roster(&view, n);
    agreement_new(id);
    begun = (joins ? agree_join : agree_found)(server_of(id)->agree, &view, id, &why) &&
            agree_begin(server_of(id)->agree, now_ms, &why);
    assert(begun);
}

static inline void agreement_advance(void)
{
    now_ms += STEP_MS;
    for (uint64_t id = 1; id <= AGREEMENT_MAX; id++)
        if (server_of(id)->agree)
            agree_advance(server_of(id)->agree, now_ms);
}

static inline void agreement_carry(void)
{
    while (first_letter) {
        struct letter *m = first_letter;

        first_letter = m->next;
        if (!first_letter)
            last_letter = &first_letter;
        if (carried < carries && m->to <= AGREEMENT_MAX && server_of(m->to)->agree) {
            carried++;
            agree_receive(server_of(m->to)->agree, m->from, m->bytes, m->len);
        }
        free(m);
    }
}

static inline void agreement_step(void)
{
    agreement_advance();
    agreement_carry();
}

static inline uint64_t agreement_leader(void)
{
    for (uint64_t id = 1; id <= AGREEMENT_MAX; id++)
        if (server_of(id)->agree && agree_leads(server_of(id)->agree))
            return id;
    return 0;
}

/* Steps until a server leads. */
static inline uint64_t agreement_elect(void)
{
    for (unsigned k = 0; k < PATIENCE_STEPS && !agreement_leader(); k++)
        agreement_step();
    return agreement_leader();
}

/* A member says this to another one. */
static inline void agreement_say(uint64_t to, uint64_t from, const struct raft_message *m)
{
    struct bytes b = {0};

    agree_encode(m, &b);
    agree_receive(server_of(to)->agree, from, b.at + b.start, bytes_len(&b));
    bytes_free(&b);
}

/* The oldest letter of this type, to this one; all others before it are discarded. Returns false if there is none. */
static inline bool agreement_read(uint64_t to, unsigned short type, struct raft_message *m)
{
    while (first_letter) {
        struct letter *l = first_letter;
        bool found = l->to == to && agree_decode(m, l->bytes, l->len);

        first_letter = l->next;
        if (!first_letter)
            last_letter = &first_letter;
        free(l);
        if (found && m->type == type)
            return true;
        if (found)
            agree_discard(m);
    }
    return false;
}

#endif
