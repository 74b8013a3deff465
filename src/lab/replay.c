/* replay.c - see replay.h. Traces come from other machines: every number is checked before it is used as a place. */
#include "replay.h"

#include "alg/list.h"
#include "base/memory.h"
#include "core/dme.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum replay_type { REPLAY_REQUEST, REPLAY_RELEASE, REPLAY_LOCAL, REPLAY_GET };

struct replay_send {
    uint32_t member;
    uint32_t event; /* that has sent it */
    uint32_t next;  /* the next one to the same member; UINT32_MAX: there is none */
    uint64_t number;
};

struct replay_event {
    enum replay_type type;
    bool enters;
    uint64_t age_ms;
    uint32_t site;         /* of the member */
    uint32_t mode;         /* REQUEST */
    uint32_t from;         /* GET: the member */
    uint32_t from_site;    /* GET, LOCAL: which of its sites */
    uint64_t number;       /* GET: of the letter */
    const char *hex;       /* GET: the message; its digits end before a space */
    uint32_t first, sends; /* in replay_member.send */
};

struct replay_mark {
    uint64_t age_ms;
    const char *hex;
    uint64_t sent[REPLAY_MEMBERS_MAX], got[REPLAY_MEMBERS_MAX];
};

struct replay_member {
    const char *name;
    bool known; /* a trace of it has been read */
    struct replay_event *event;
    uint32_t events;
    struct replay_send *send;
    uint32_t sends;
    struct replay_mark mark, end;
    uint32_t marks; /* in its trace: one for each piece; only the first is needed */
    uint32_t next;  /* the event that comes next */
    uint32_t cut;   /* the run begins before this event */
    uint32_t head
        [REPLAY_MEMBERS_MAX]; /* the first letter to each member that is sent behind `next`, as in replay_send.next */
    uint64_t told[REPLAY_MEMBERS_MAX];  /* letters to each member up to this number have been sent */
    uint64_t heard[REPLAY_MEMBERS_MAX]; /* letters of each member up to this number have been received */
};

struct replay {
    uint64_t view;
    uint32_t epoch, slots, n, home, limit;
    bool placed; /* a member knows the home */
    char rule[16];
    const struct dme_alg *alg;
    struct replay_member *member; /* by place */
    uint32_t events;
    const char *missing; /* a member that was not heard, or null */
    char *why;
};

static bool __attribute__((format(printf, 2, 3))) replay_wrong(struct replay *r, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    vsnprintf(r->why, REPLAY_WHY_MAX, format, args);
    va_end(args);
    return false;
}

/* ------------------------------------------------------------------------------------------------------------ reading */

/* The words of a line. */
struct replay_line {
    const char *at, *end;
    bool wrong;
};

static const char *replay_word(struct replay_line *l, size_t *len)
{
    const char *word = l->at;

    while (l->at < l->end && *l->at != ' ')
        l->at++;
    *len = (size_t)(l->at - word);
    l->wrong |= !*len;
    l->at += l->at < l->end;
    return word;
}

static uint64_t replay_number(struct replay_line *l, uint64_t most)
{
    size_t len;
    const char *word = replay_word(l, &len);
    uint64_t x = 0;

    l->wrong |= len > 20;
    for (size_t k = 0; k < len && !l->wrong; k++) {
        unsigned digit = (unsigned)(unsigned char)word[k] - '0';

        l->wrong |= digit > 9 || x > (UINT64_MAX - digit) / 10;
        x = 10 * x + digit;
    }
    l->wrong |= x > most;
    return l->wrong ? 0 : x;
}

/* Hexadecimal digits, or "-". */
static const char *replay_hex(struct replay_line *l)
{
    size_t len;
    const char *word = replay_word(l, &len);

    if (len == 1 && *word == '-')
        return word;
    l->wrong |= len % 2 || strspn(word, "0123456789abcdef") < len;
    return word;
}

static bool replay_is(const char *word, size_t len, const char *text)
{
    return len == strlen(text) && memcmp(word, text, len) == 0;
}

/* "lock ...": which member this is, and whether all members speak of the same. */
static struct replay_member *replay_head(struct replay *r, struct replay_line *l, const char *name)
{
    uint64_t view = replay_number(l, UINT64_MAX);
    uint32_t epoch = (uint32_t)replay_number(l, UINT32_MAX), slots = (uint32_t)replay_number(l, 256);
    uint32_t n = (uint32_t)replay_number(l, REPLAY_MEMBERS_MAX),
             place = (uint32_t)replay_number(l, REPLAY_MEMBERS_MAX - 1);
    uint32_t home = (uint32_t)replay_number(l, UINT32_MAX), limit;
    size_t alg_len, rule_len;
    const char *alg = replay_word(l, &alg_len), *rule = replay_word(l, &rule_len);
    char alg_name[64];

    limit = (uint32_t)replay_number(l, UINT32_MAX);
    if (l->wrong || place >= n || alg_len >= sizeof alg_name || rule_len >= sizeof r->rule)
        return NULL;
    if (!r->member) {
        r->member = mem_new(n * sizeof *r->member);
        r->view = view;
        r->n = n;
    }
    if (view != r->view || n != r->n)
        return replay_wrong(r, "%s is in another view than others; ask again", name), NULL;
    if (home != UINT32_MAX && home < n) { /* this member knows the lock */
        if (r->placed && (epoch != r->epoch || slots != r->slots || home != r->home))
            return replay_wrong(r, "the lock is changing its kind; ask again"), NULL;
        r->placed = true;
        r->epoch = epoch;
        r->slots = slots;
        r->home = home;
        memcpy(alg_name, alg, alg_len);
        alg_name[alg_len] = '\0';
        r->alg = alg_find(alg_name);
        memcpy(r->rule, rule, rule_len);
        r->rule[rule_len] = '\0';
        r->limit = limit;
        if (!r->alg)
            return replay_wrong(r, "%s names an algorithm that is not known here", name), NULL;
    }
    if (r->member[place].known)
        return NULL;
    r->member[place].known = true;
    r->member[place].name = name;
    return &r->member[place];
}

static void replay_sends(struct replay *r, struct replay_member *m, struct replay_event *e, struct replay_line *l)
{
    e->first = m->sends;
    while (l->at < l->end && !l->wrong) {
        struct replay_line pair = {l->at, l->end, false};
        size_t len, to_len;
        const char *word = replay_word(l, &len), *colon = memchr(word, ':', len);
        struct replay_send s;

        if (!colon) {
            l->wrong = true;
            return;
        }
        to_len = (size_t)(colon - word);
        pair.end = word + to_len;
        s.member = (uint32_t)replay_number(&pair, r->n - 1);
        pair = (struct replay_line){colon + 1, word + len, pair.wrong};
        s.number = replay_number(&pair, UINT64_MAX);
        l->wrong |= pair.wrong;
        s.event = m->events;
        m->send = mem_grow(m->send, (m->sends + 1) * sizeof *m->send);
        m->send[m->sends++] = s;
    }
    e->sends = m->sends - e->first;
}

static bool replay_read_event(struct replay *r, struct replay_member *m, enum replay_type type, struct replay_line *l)
{
    struct replay_event e = {.type = type};
    size_t len;
    const char *word;

    e.age_ms = replay_number(l, UINT64_MAX);
    e.site = (uint32_t)replay_number(l, 255);
    if (type == REPLAY_REQUEST)
        e.mode = (uint32_t)replay_number(l, UINT32_MAX);
    if (type == REPLAY_GET)
        e.from = (uint32_t)replay_number(l, r->n - 1);
    if (type == REPLAY_GET || type == REPLAY_LOCAL)
        e.from_site = (uint32_t)replay_number(l, 255);
    if (type == REPLAY_GET) {
        e.number = replay_number(l, UINT64_MAX);
        e.hex = replay_hex(l);
    }
    word = replay_word(l, &len);
    e.enters = replay_is(word, len, "enters");
    l->wrong |= !e.enters && !replay_is(word, len, "-");
    replay_sends(r, m, &e, l);
    if (l->wrong || !m->marks || ++r->events > REPLAY_EVENTS_MAX)
        return false;
    m->event = mem_grow(m->event, (m->events + 1) * sizeof *m->event);
    m->event[m->events++] = e;
    return true;
}

static bool replay_read_mark(struct replay_member *m, struct replay_mark *mark, struct replay_line *l)
{
    m->marks++;
    mark->age_ms = replay_number(l, UINT64_MAX);
    mark->hex = replay_hex(l);
    return !l->wrong;
}

static bool replay_read_letters(const struct replay *r, struct replay_mark *mark, struct replay_line *l)
{
    uint32_t j = (uint32_t)replay_number(l, r->n - 1);

    mark->sent[j] = replay_number(l, UINT64_MAX);
    mark->got[j] = replay_number(l, UINT64_MAX);
    return !l->wrong;
}

static bool replay_read_line(struct replay *r, struct replay_member *m, bool *ended, struct replay_line *l)
{
    static const char *const verbs[] = {"request", "release", "local", "get"};
    struct replay_mark later; /* is read and forgotten */
    size_t len;
    const char *word = replay_word(l, &len);

    if (replay_is(word, len, "mark") && !*ended)
        return replay_read_mark(m, m->marks ? &later : &m->mark, l);
    if (replay_is(word, len, "letters") && (m->marks || *ended))
        return replay_read_letters(r, *ended ? &m->end : m->marks > 1 ? &later : &m->mark, l);
    if (replay_is(word, len, "end") && !*ended)
        return *ended = true;
    for (unsigned k = 0; k < sizeof verbs / sizeof verbs[0] && !*ended; k++)
        if (replay_is(word, len, verbs[k]))
            return replay_read_event(r, m, (enum replay_type)k, l);
    return false;
}

static bool replay_read(struct replay *r, const struct replay_trace *trace)
{
    const char *at = trace->text;
    struct replay_member *m = NULL;
    bool ended = false;

    if (!at) { /* it may not be needed */
        r->missing = trace->member;
        return true;
    }
    while (*at) {
        size_t len = strcspn(at, "\n"), word_len;
        struct replay_line l = {at, at + len, false};
        struct replay_line copy = l;
        const char *word = replay_word(&copy, &word_len);

        at += len + (at[len] == '\n');
        if (replay_is(word, word_len, "untraced"))
            return replay_wrong(
                r, "member %s has not recorded this lock: others were used more, or its state is too large",
                trace->member);
        if (!m && replay_is(word, word_len, "lock"))
            m = replay_head(r, &copy, trace->member);
        else if (!m || !replay_read_line(r, m, &ended, &l))
            m = NULL;
        if (!m)
            return *r->why
                       ? false
                       : replay_wrong(r, "what member %s has recorded makes no sense here; is it of another version?",
                                      trace->member);
    }
    return m && ended && m->marks
               ? true
               : replay_wrong(r, "what member %s has recorded is not whole; ask again", trace->member);
}

/* ------------------------------------------------------------------------------------------------------ the beginning */

/* The member goes on by one event. */
static const struct replay_event *replay_go_on(struct replay *r, uint32_t k)
{
    struct replay_member *m = &r->member[k];
    const struct replay_event *e = &m->event[m->next++];

    if (e->type == REPLAY_GET && e->number > m->heard[e->from])
        m->heard[e->from] = e->number;
    for (uint32_t s = e->first; s < e->first + e->sends; s++) {
        m->head[m->send[s].member] = m->send[s].next;
        if (m->send[s].number > m->told[m->send[s].member])
            m->told[m->send[s].member] = m->send[s].number;
    }
    return e;
}

/* Each member stands at its mark. */
static void replay_stand(struct replay_member *m)
{
    for (uint32_t b = 0; b < REPLAY_MEMBERS_MAX; b++)
        m->head[b] = UINT32_MAX;
    for (uint32_t s = m->sends; s-- > 0;) {
        m->send[s].next = m->head[m->send[s].member];
        m->head[m->send[s].member] = s;
    }
    memcpy(m->told, m->mark.sent, sizeof m->told);
    memcpy(m->heard, m->mark.got, sizeof m->heard);
}

/* Has `b` received a letter that `a` has not sent yet? Then `a` goes on until it has. */
static bool replay_catch_up(struct replay *r, uint32_t a, uint32_t b)
{
    struct replay_member *m = &r->member[a];
    uint32_t s = m->head[b];

    if (a == b || s == UINT32_MAX || m->send[s].number > r->member[b].heard[a])
        return false;
    while (m->next <= m->send[s].event)
        replay_go_on(r, a);
    return true;
}

static bool replay_cut(struct replay *r)
{
    bool again = true;

    for (uint32_t k = 0; k < r->n; k++)
        replay_stand(&r->member[k]);
    while (again) {
        again = false;
        for (uint32_t a = 0; a < r->n; a++)
            for (uint32_t b = 0; b < r->n; b++)
                again = replay_catch_up(r, a, b) || again;
    }
    for (uint32_t a = 0; a < r->n; a++) {
        r->member[a].cut = r->member[a].next;
        for (uint32_t b = 0; b < r->n; b++)
            if (a != b && r->member[b].end.got[a] < r->member[a].told[b])
                return replay_wrong(r, "%s has not received yet what %s sent before the beginning; ask again",
                                    r->member[b].name, r->member[a].name);
    }
    return true;
}

/* ------------------------------------------------------------------------------------------------------- the scenario */

static uint32_t replay_sites(const struct replay *r)
{
    return r->slots ? r->slots : 1;
}

/* The number of a member's site in the algorithm: they are counted from the home (lock/instance.c). */
static uint32_t replay_site(const struct replay *r, uint32_t member, uint32_t s)
{
    return (member + r->n - r->home) % r->n * replay_sites(r) + s % replay_sites(r);
}

static int replay_digits(const char *hex)
{
    return (int)strcspn(hex, " \n");
}

/* The states of the sites at the mark, and what happened at each member from there to the beginning of the run. */
static void replay_write_states(const struct replay *r, FILE *to)
{
    for (uint32_t k = 0; k < r->n; k++)
        if (*r->member[k].mark.hex != '-')
            fprintf(to, "state %u %u %.*s\n", replay_site(r, k, 0), replay_sites(r),
                    replay_digits(r->member[k].mark.hex), r->member[k].mark.hex);
    for (uint32_t k = 0; k < r->n; k++)
        for (uint32_t i = 0; i < r->member[k].cut; i++) {
            const struct replay_event *e = &r->member[k].event[i];
            uint32_t site = replay_site(r, k, e->site);

            fprintf(to, "before %u %u ", replay_site(r, k, 0), replay_sites(r));
            if (e->type == REPLAY_REQUEST)
                fprintf(to, "request %u %u\n", site, e->mode);
            else if (e->type == REPLAY_RELEASE)
                fprintf(to, "release %u\n", site);
            else if (e->type == REPLAY_LOCAL)
                fprintf(to, "local %u %u\n", site, replay_site(r, k, e->from_site));
            else
                fprintf(to, "get %u %u %.*s\n", site, replay_site(r, e->from, e->from_site), replay_digits(e->hex),
                        e->hex);
        }
}

static void replay_write_flight(const struct replay *r, FILE *to)
{
    for (uint32_t k = 0; k < r->n; k++)
        for (uint32_t i = r->member[k].cut; i < r->member[k].events; i++) {
            const struct replay_event *e = &r->member[k].event[i];

            if (e->type == REPLAY_GET && e->number <= r->member[e->from].told[k])
                fprintf(to, "inflight %u %u %.*s\n", replay_site(r, e->from, e->from_site), replay_site(r, k, e->site),
                        replay_digits(e->hex), e->hex);
        }
}

static void replay_begin(const struct replay *r, const char *lock, FILE *to)
{
    uint64_t age_ms = 0;
    bool whole = true;

    for (uint32_t k = 0; k < r->n; k++) {
        const struct replay_member *m = &r->member[k];

        whole = whole && *m->mark.hex == '-' && !m->cut;
        if (m->cut < m->events && m->event[m->cut].age_ms > age_ms)
            age_ms = m->event[m->cut].age_ms;
    }
    fprintf(to, "# The lock \"%s\" in view %" PRIu64 ", as its members have recorded it.", lock, r->view);
    for (uint32_t k = 0; k < r->n; k++)
        fprintf(to, "%s %s %s %u%s", k ? "," : "", r->member[k].name, r->slots ? "has the sites from" : "is site",
                replay_site(r, k, 0), k + 1 < r->n ? "" : ".\n");
    fprintf(to, "# It begins %.3f s before the members were asked, %s.\n", (double)age_ms / 1000,
            whole ? "with all sites as at first" : "in the midst: what was before is forgotten");
    fprintf(to, "algorithm %s\nsites %u\nrule %s", r->alg->name, r->n * replay_sites(r), r->rule);
    if (strcmp(r->rule, "slots") == 0 || strcmp(r->rule, "group") == 0)
        fprintf(to, ":%u", r->limit);
    fprintf(to, "\norder fifo\nrecorded\n");
    replay_write_states(r, to);
    replay_write_flight(r, to);
}

static bool replay_is_ready(const struct replay *r, uint32_t k)
{
    const struct replay_member *m = &r->member[k];
    const struct replay_event *e = m->event ? &m->event[m->next] : NULL;

    return m->next < m->events && (e->type != REPLAY_GET || e->number <= r->member[e->from].told[k]);
}

/* The member whose event comes next: the last one again, while its sites talk to each other; else the oldest. r->n: none. */
static uint32_t replay_next(const struct replay *r, uint32_t last)
{
    uint32_t best = r->n;

    if (last < r->n && replay_is_ready(r, last) && r->member[last].event[r->member[last].next].type == REPLAY_LOCAL)
        return last;
    for (uint32_t k = 0; k < r->n; k++)
        if (replay_is_ready(r, k) && (best == r->n || r->member[k].event[r->member[k].next].age_ms >
                                                          r->member[best].event[r->member[best].next].age_ms))
            best = k;
    return best;
}

static void replay_write_event(const struct replay *r, uint32_t k, const struct replay_event *e, FILE *to)
{
    uint32_t site = replay_site(r, k, e->site);

    if (e->type == REPLAY_REQUEST)
        fprintf(to, "request %u %u\n", site, e->mode);
    else if (e->type == REPLAY_RELEASE)
        fprintf(to, "release %u\n", site);
    else
        fprintf(to, "deliver %u %u\n", replay_site(r, e->type == REPLAY_LOCAL ? k : e->from, e->from_site), site);
    fprintf(to, "recorded %" PRIu64 " %s %.*s\n", e->age_ms, e->enters ? "enters" : "-",
            e->hex ? replay_digits(e->hex) : 1, e->hex ? e->hex : "-");
}

static void replay_write(struct replay *r, const char *lock, FILE *to)
{
    uint32_t left = 0;

    replay_begin(r, lock, to);
    for (uint32_t k = r->n; (k = replay_next(r, k)) < r->n;) {
        const struct replay_event *e = replay_go_on(r, k);

        replay_write_event(r, k, e, to);
    }
    for (uint32_t k = 0; k < r->n; k++)
        left += r->member[k].events - r->member[k].next;
    if (left)
        fprintf(to, "# %u more events followed while the members answered.\n", left);
}

/* Is there a trace for every member of the view? */
static bool replay_is_whole(struct replay *r)
{
    if (r->n == 1 && !r->placed)
        return replay_wrong(r, "one member alone grants locks without an algorithm");
    if (!r->member || !r->placed)
        return replay_wrong(r, "no member has used this lock since the view began");
    for (uint32_t k = 0; k < r->n; k++)
        if (!r->member[k].known)
            return replay_wrong(r, "member %s was not heard, so its part is missing; ask again when it is connected",
                                r->missing ? r->missing : "?");
    return true;
}

char *replay_merge(const char *lock, const struct replay_trace *trace, unsigned count, char why[REPLAY_WHY_MAX])
{
    struct replay r = {.why = why};
    char *text = NULL;
    size_t len;
    bool fine = true;
    FILE *to;

    *why = '\0';
    for (unsigned k = 0; k < count && fine; k++)
        fine = replay_read(&r, &trace[k]);
    if (fine && replay_is_whole(&r) && replay_cut(&r) && (to = open_memstream(&text, &len))) {
        replay_write(&r, lock, to);
        fclose(to);
    }
    for (uint32_t k = 0; r.member && k < r.n; k++) {
        free(r.member[k].event);
        free(r.member[k].send);
    }
    free(r.member);
    return text;
}
