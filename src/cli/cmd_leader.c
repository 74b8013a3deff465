/* dibs leader - tell who holds a lock that was taken with a value, and every change of that.
 *
 * The leader is the holder with the largest fence. There are two sources. HOLDERS asks all members. Its answer is complete; but
 * that no client holds the lock is certain only if every member that takes part in the view has answered. Events come at once and
 * name every leader, even one that leads for a moment; but some may be missing. So events are believed where they tell of a
 * larger fence, or of the end of the present one; and HOLDERS is asked when a connection is made, and every SYNC_MS.
 *
 * While a session moves from one member to another, each of the two may have been asked when the other one had it. So HOLDERS
 * must have named no holder twice, SOON_MS apart, before the leader is taken to be gone. */
#include "ask.h"
#include "lock.h"

#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { SYNC_MS = 2000, SOON_MS = 250, PAUSE_MS = 50, PAUSE_MS_MAX = 1000, ATTEMPTS = 20 };

struct leader_is {
    uint64_t fence; /* 0: there is none */
    char *value;    /* as text, see dibs.h; null: that of none */
    char member[64], who[96], since[32];
};

struct leader {
    const char *name;
    bool json, follow;
    struct leader_is is;
    bool told;        /* it has been printed */
    uint64_t gone;    /* the largest fence that an event has told the end of */
    unsigned nobody;  /* how often in a row HOLDERS has named no holder */
    bool complained;  /* that there is no daemon */
    uint64_t sync_ms; /* when to ask next */
};

/* "2026-03-01T12:00:00Z": this long ago. */
static void leader_time(uint64_t age_ms, char *text, size_t size)
{
    time_t then = time(NULL) - (time_t)(age_ms / 1000);
    struct tm utc;

    gmtime_r(&then, &utc);
    strftime(text, size, "%Y-%m-%dT%H:%M:%SZ", &utc);
}

/* ----------------------------------------------------------------------------------------------------------- printing */

static void leader_print_json(const struct leader_is *is)
{
    struct cli_json j = {.to = stdout, .first = true, .line = true};
    const struct {
        const char *key, *text;
    } texts[] = {{"value", is->value ? is->value : ""}, {"member", is->member}, {"who", is->who}, {"since", is->since}};

    json_object(&j);
    json_key(&j, "leads");
    json_bool(&j, is->fence != 0);
    json_key(&j, "fence");
    json_count(&j, is->fence);
    for (unsigned k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        json_key(&j, texts[k].key);
        json_text(&j, texts[k].text);
    }
    json_end(&j, '}');
}

static void leader_print(const struct leader *l)
{
    if (l->json)
        leader_print_json(&l->is);
    else if (!l->is.fence)
        printf("\n");
    else
        printf("%s\n", l->is.value && *l->is.value ? ask_clean(l->is.value) : "-");
    fflush(stdout);
}

/* The leader is this one; or, if the fence is 0, there is none. Takes the value. */
static void leader_set(struct leader *l, struct leader_is *is)
{
    bool same = l->told && l->is.fence == is->fence;

    free(l->is.value);
    l->is = *is;
    is->value = NULL;
    l->nobody = 0;
    l->told = true;
    if (!same)
        leader_print(l);
}

/* ------------------------------------------------------------------------------------------------------------- events */

static void leader_hear(void *user, const struct dibs_event *e)
{
    struct leader *l = user;
    struct leader_is is = {0};

    if (strcmp(e->event, "granted") == 0 && e->fence > l->is.fence && e->fence > l->gone) {
        is.fence = e->fence;
        is.value = strdup(e->value);
        snprintf(is.member, sizeof is.member, "%s", ask_clean(e->member));
        snprintf(is.who, sizeof is.who, "%s", ask_clean(e->who));
        leader_time(0, is.since, sizeof is.since);
        leader_set(l, &is);
    } else if (strcmp(e->event, "released") == 0 || strcmp(e->event, "lost") == 0) {
        l->gone = e->fence > l->gone ? e->fence : l->gone;
        if (l->told && l->is.fence && l->is.fence <= l->gone)
            leader_set(l, &is);
    }
}

/* ------------------------------------------------------------------------------------------------------------- asking */

/* Is this member's daemon ready, and has none of the silent ones a part in the view? */
static bool leader_is_certain(struct dibs *d, const struct dibs_reply *holders)
{
    const char *words[] = {"STATUS"};
    struct dibs_reply *r = NULL;
    bool certain = dibs_ask(d, words, 1, &r) == DIBS_OK && ask_field(r, "ready")->number;
    const struct dibs_reply *members = certain ? ask_field(r, "members") : NULL;

    for (size_t k = 0; members && k < members->count; k++)
        for (size_t i = 0; i < holders->count; i++) {
            const char *silent = ask_field(holders->item[i], "member")->text, *name;

            name = ask_field(members->item[k], "name")->text;
            if (silent && name && strcmp(silent, name) == 0 && ask_field(holders->item[i], "error")->text &&
                ask_field(members->item[k], "takes_part")->number)
                certain = false;
        }
    dibs_free(r);
    return certain;
}

/* Asks all members. Returns DIBS_OK, and `is` is what they say; DIBS_WAITING: that is not certain; or an error. */
static int leader_ask(struct leader *l, struct dibs *d, struct leader_is *is)
{
    const char *words[] = {"HOLDERS", l->name};
    const struct dibs_reply *best = NULL;
    struct dibs_reply *r = NULL;
    int code = dibs_ask(d, words, 2, &r);

    *is = (struct leader_is){0};
    for (size_t k = 0; code == DIBS_OK && k < r->count; k++) {
        const struct dibs_reply *row = r->item[k];
        const char *state = ask_field(row, "state")->text;

        if (state && strcmp(state, "lingers") != 0 && ask_field(row, "fence")->number > is->fence) {
            best = row;
            is->fence = ask_field(row, "fence")->number;
        }
    }
    if (best) {
        const char *value = ask_field(best, "value")->text, *who = ask_field(best, "who")->text;

        is->value = strdup(value ? value : "");
        snprintf(is->member, sizeof is->member, "%s", ask_clean(ask_field(best, "member")->text));
        snprintf(is->who, sizeof is->who, "%s", ask_clean(who));
        leader_time(ask_field(best, "age_ms")->number, is->since, sizeof is->since);
    } else if (code == DIBS_OK && !leader_is_certain(d, r)) {
        code = DIBS_WAITING;
    }
    dibs_free(r);
    return code;
}

/* Compares what is known with what all members say. */
static int leader_sync(struct leader *l, struct dibs *d)
{
    struct leader_is is;
    int code = leader_ask(l, d, &is);

    if (code == DIBS_OK && is.fence) {
        if (is.fence > l->gone && is.fence >= l->is.fence)
            leader_set(l, &is);
    } else if (code == DIBS_OK && ++l->nobody > 1) {
        leader_set(l, &is);
    }
    free(is.value);
    l->sync_ms = lock_now_ms() + (code == DIBS_WAITING || l->nobody || !l->told ? SOON_MS : SYNC_MS);
    if (l->nobody > 1 || (l->told && !l->is.fence)) /* it is told, and can only change by a grant */
        l->sync_ms = lock_now_ms() + SYNC_MS;
    return code == DIBS_WAITING ? DIBS_OK : code;
}

/* ---------------------------------------------------------------------------------------------------------- following */

/* A pattern that matches this name only. */
static char *leader_pattern(const char *name)
{
    char *pattern = malloc(2 * strlen(name) + 1), *to = pattern;

    for (; pattern && *name; name++) {
        if (strchr("*?[]\\", *name))
            *to++ = '\\';
        *to++ = *name;
    }
    if (pattern)
        *to = '\0';
    return pattern;
}

/* Follows over one connection until it ends. */
static int leader_watch(struct leader *l, struct dibs *d, const char *pattern)
{
    int code = dibs_watch(d, pattern, leader_hear, l);

    while (code == DIBS_OK && !ferror(stdout)) {
        uint64_t now_ms = lock_now_ms();
        struct pollfd polled;
        int library_ms, wait_ms;

        if (now_ms >= l->sync_ms && (code = leader_sync(l, d)) != DIBS_OK)
            break;
        now_ms = lock_now_ms();
        library_ms = dibs_timeout_ms(d);
        wait_ms = l->sync_ms > now_ms ? (int)(l->sync_ms - now_ms) : 0;
        polled = (struct pollfd){.fd = dibs_fd(d), .events = dibs_events(d)};
        poll(&polled, 1, library_ms >= 0 && library_ms < wait_ms ? library_ms : wait_ms);
        code = dibs_process(d);
    }
    return code;
}

/* Through disconnections: while there is no daemon, the leader is taken to be who it was. */
static int leader_follow(struct leader *l, const struct ask_place *place)
{
    char *pattern = leader_pattern(l->name);
    int pause_ms = PAUSE_MS, code = DIBS_OK;

    while (pattern && !ferror(stdout)) {
        struct dibs *d;

        code = ask_try_connect(place, NULL, &d);
        if (code == DIBS_OK) {
            l->sync_ms = 0;
            pause_ms = PAUSE_MS;
            l->complained = false;
            code = leader_watch(l, d, pattern);
        }
        if (!l->complained)
            ask_complain(place, d);
        l->complained = true;
        dibs_close(d);
        if (code == DIBS_REFUSED) /* it may not watch the lock, and will not later */
            break;
        poll(NULL, 0, pause_ms);
        pause_ms = pause_ms < PAUSE_MS_MAX ? 2 * pause_ms : PAUSE_MS_MAX;
    }
    free(pattern);
    free(l->is.value);
    return code == DIBS_REFUSED ? LOCK_REFUSED : CLI_FAILED;
}

/* The leader now. */
static int leader_once(struct leader *l, const struct ask_place *place)
{
    struct dibs *d = ask_connect(place, NULL, LOCK_NO_DAEMON);
    struct leader_is is = {0};
    int code = DIBS_WAITING;

    for (unsigned k = 0; code == DIBS_WAITING && k < ATTEMPTS; k++) {
        if (k)
            poll(NULL, 0, SOON_MS);
        code = leader_ask(l, d, &is);
    }
    if (code == DIBS_OK && (is.fence || l->json))
        leader_set(l, &is);
    if (code == DIBS_WAITING)
        fprintf(stderr, "dibs: the leader \"%s\" is not known: a member has not answered (dibs status tells which)\n",
                ask_clean(l->name));
    else if (code != DIBS_OK)
        ask_complain(place, d);
    else if (!is.fence && !l->is.fence && !l->json)
        fprintf(stderr, "dibs: there is no leader \"%s\"\n", ask_clean(l->name));
    dibs_close(d);
    free(is.value);
    free(l->is.value);
    return code == DIBS_WAITING ? LOCK_NO_QUORUM
           : code == DIBS_GONE  ? LOCK_NO_DAEMON
           : code != DIBS_OK    ? LOCK_REFUSED
           : l->is.fence        ? CLI_OK
                                : LOCK_NOT_GRANTED;
}

int cmd_leader(int argc, char **argv)
{
    const char *const formats[] = {"text", "json", NULL};
    struct ask_place place = {0};
    struct leader l = {0};
    unsigned format = 0;
    const struct cli_option options[] = {
        {"--follow", CLI_FLAG, &l.follow, NULL,
         "print the leader, and then every change, a line each; go on when the daemon is away", 0, 0, NULL},
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        ASK_PLACE_OPTIONS(place),
        {0},
    };
    const struct cli_usage usage = {
        "dibs leader NAME [OPTION...]",
        "Prints the value of the leader NAME: the client that holds this lock, by \"dibs lead\" or by a request with "
        "a value. A backslash of the value is printed as \\\\, and a byte that cannot be shown as \\xNN. If the "
        "leader has no value, a dash is printed. As JSON, the leader is an object in one line, which also has its "
        "fence (the term), its member and the time since when it leads.\n\n"
        "With --follow, an empty line says that there is no leader. A new leader has a larger fence than all before. "
        "While there is no connection to a daemon, nothing is printed; dibs connects again, and prints only what has "
        "changed meanwhile.\n\n"
        "Exit status: 0 there is a leader, 112 there is none, 114 the daemon has refused the question, 115 no daemon "
        "was reached, 116 it is not known, since a member has not answered, 2 the command line is wrong. With "
        "--follow: 1 the program that reads the output has ended.",
        options,
        {{"Print the address of the leader:", "dibs leader scheduler"},
         {"Do something at every change:",
          "dibs leader scheduler --follow | while read -r leader; do ./point-at \"$leader\"; done"}}};
    const char *name = NULL;

    if (cli_parse(argc, argv, &usage, &name, 1) == 0)
        cli_die("no leader is named (usage: %s)", usage.line);
    l.name = name;
    l.json = format == 1;
    return l.follow ? leader_follow(&l, &place) : leader_once(&l, &place);
}
