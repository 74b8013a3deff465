/* dibs why - tells in words why a client waits for a lock: which client holds it, since when, what that client waits for in turn, and what
 * an operator can do.
 *
 * A holder waits in turn if the same connection waits for another lock, or if a process that descends from the holder's process
 * does: "dibs lock a -- dibs lock b -- ...". The second can be seen only for processes of this machine. The answers come one
 * after the other, so a chain that is changing meanwhile may be told wrongly; a deadlock does not change. */
#include "ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WHY_LOCKS_MAX = 256, WHY_CHAIN_MAX = 32, WHY_NAMED_MAX = 3, ANCESTORS_MAX = 64 };

/* A client that waits. */
struct why_wait {
    const char *lock; /* of the list of locks */
    const struct dibs_reply *row;
};

struct why {
    struct dibs *d;
    struct ask_lock *locks;
    size_t count;
    struct dibs_reply *asked[WHY_LOCKS_MAX]; /* answers about waiters */
    struct why_wait *wait;
    size_t answers, waits;
    const char *chain[WHY_CHAIN_MAX]; /* names of locks, each held by a client that waits for the next */
    size_t links;
    bool waited_for; /* does a client wait for the lock that was asked for? */
};

/* The waits of all clients, for at most WHY_LOCKS_MAX locks. */
static void why_ask_waits(struct why *w)
{
    for (size_t k = 0; k < w->count && w->answers < WHY_LOCKS_MAX; k++) {
        const char *words[] = {"WAITERS", w->locks[k].name};
        struct dibs_reply *r;

        if (!w->locks[k].waiters)
            continue;
        r = w->asked[w->answers++] = ask_daemon(w->d, words, 2);
        w->wait = realloc(w->wait, (w->waits + r->count + 1) * sizeof *w->wait);
        if (!w->wait)
            cli_die("out of memory");
        for (size_t i = 0; i < r->count; i++)
            if (ask_field(r->item[i], "who")->text)
                w->wait[w->waits++] = (struct why_wait){.lock = w->locks[k].name, .row = r->item[i]};
    }
}

/* The process of a client that is named "HOST:PROCESS command", if HOST is this machine; else 0. */
static long why_process(const struct dibs_reply *row)
{
    const char *who = ask_field(row, "who")->text;
    char host[256] = "";
    size_t len;

    gethostname(host, sizeof host - 1);
    len = strlen(host);
    return who && strncmp(who, host, len) == 0 && who[len] == ':' ? strtol(who + len + 1, NULL, 10) : 0;
}

/* The parent of a process, from /proc/N/stat: "N (command) state parent ..."; the command may have parentheses. 0: none. */
static long why_parent(long process)
{
    char path[64], line[512];
    FILE *file;
    const char *end = NULL;
    long parent = 0;

    snprintf(path, sizeof path, "/proc/%ld/stat", process);
    file = fopen(path, "r");
    if (file && fgets(line, sizeof line, file))
        end = strrchr(line, ')');
    if (!end || sscanf(end + 1, " %*c %ld", &parent) != 1)
        parent = 0;
    if (file)
        fclose(file);
    return parent;
}

static bool why_descends(long process, long from)
{
    for (unsigned k = 0; process > 1 && from > 1 && k < ANCESTORS_MAX; k++, process = why_parent(process))
        if (process == from)
            return true;
    return false;
}

/* Is the client that waits the holder itself? */
static bool why_is_itself(const struct dibs_reply *holder, const struct dibs_reply *waiter)
{
    const char *at = ask_field(holder, "member")->text, *there = ask_field(waiter, "member")->text;

    return at && there && strcmp(at, there) == 0 &&
           ask_field(holder, "client")->number == ask_field(waiter, "client")->number;
}

/* The wait of one of the holders of this lock, or of a process that a holder has started. If `upgrades`, the wait of a holder that waits until
 * the others have released the lock; else none of these. */
static const struct why_wait *why_find_wait(const struct why *w, const char *name, const struct dibs_reply *holders,
                                            bool upgrades)
{
    for (size_t h = 0; h < holders->count; h++)
        for (size_t k = 0; k < w->waits; k++) {
            bool itself = why_is_itself(holders->item[h], w->wait[k].row);

            if ((itself || why_descends(why_process(w->wait[k].row), why_process(holders->item[h]))) &&
                upgrades == (itself && strcmp(w->wait[k].lock, name) == 0))
                return &w->wait[k];
        }
    return NULL;
}

/* ------------------------------------------------------------------------------------------------------------- words */

static const char *why_age(uint64_t ms)
{
    static char text[48];
    uint64_t s = ms / 1000;

    if (s < 60)
        snprintf(text, sizeof text, "%" PRIu64 ".%" PRIu64 " s", s, ms % 1000 / 100);
    else if (s < 3600)
        snprintf(text, sizeof text, "%" PRIu64 " min %" PRIu64 " s", s / 60, s % 60);
    else
        snprintf(text, sizeof text, "%" PRIu64 " h %" PRIu64 " min", s / 3600, s / 60 % 60);
    return text;
}

static void why_client(const struct dibs_reply *row)
{
    const char *who = ask_field(row, "who")->text;

    printf("    %s", who && *who ? ask_clean(who) : "a client without a name");
    printf(" (%s, client %" PRIu64 " of member %s), for %s\n", ask_clean(ask_field(row, "from")->text),
           ask_field(row, "client")->number, ask_clean(ask_field(row, "member")->text),
           why_age(ask_field(row, "age_ms")->number));
}

static void why_clients(const struct dibs_reply *rows)
{
    for (size_t k = 0; k < rows->count && k < WHY_NAMED_MAX; k++)
        why_client(rows->item[k]);
    if (rows->count > WHY_NAMED_MAX)
        printf("    and %zu more\n", rows->count - WHY_NAMED_MAX);
}

static void why_holders(const char *name, const struct dibs_reply *holders)
{
    const struct dibs_reply *first = holders->count ? holders->item[0] : NULL;
    const char *mode = first ? ask_field(first, "mode")->text : NULL,
               *state = first ? ask_field(first, "state")->text : NULL;

    if (!first) {
        printf("No client holds \"%s\".\n", ask_clean(name));
        return;
    }
    printf("\"%s\" is held (%s) by\n", ask_clean(name), ask_clean(mode));
    why_clients(holders);
    if (state && strcmp(state, "held") != 0)
        printf("    Its connection is gone. The lock is free when the client cannot believe in it any more, at the "
               "latest.\n");
}

static void why_advice(const struct why *w, const struct dibs_reply *holders, const char *name)
{
    long process = holders->count ? why_process(holders->item[0]) : 0;

    if (!w->waited_for && w->links == 1) {
        if (!holders->count)
            printf("It is free.\n");
        return;
    }
    if (!holders->count) {
        printf("The members are about to grant it. If that does not happen, \"dibs status\" tells whether they can.\n");
        return;
    }
    printf("To let the others go on, wait for that client, or end it");
    if (process)
        printf(" (kill %ld)", process);
    printf(", or take the lock away:\n    dibs force-unlock '%s'\n", ask_clean(name));
}

/* Follows the chain from `name` on. Returns true if it leads back to a lock that it has passed. */
static bool why_follow(struct why *w, const char *name)
{
    for (;;) {
        const char *words[] = {"HOLDERS", name};
        struct dibs_reply *holders = ask_daemon(w->d, words, 2);
        const struct why_wait *next = why_find_wait(w, name, holders, false),
                              *upgrade = why_find_wait(w, name, holders, true);

        why_holders(name, holders);
        if (upgrade) {
            printf("One of these waits to be the only one (UPGRADE), before all others:\n");
            why_client(upgrade->row);
        }
        w->chain[w->links++] = name;
        for (size_t k = 0; next && k < w->links; k++)
            if (strcmp(w->chain[k], next->lock) == 0) {
                printf("which waits for \"%s\" in turn: a deadlock. None of these clients can go on.\n",
                       ask_clean(next->lock));
                printf("End one of them, or take its lock away:\n    dibs force-unlock '%s'\n", ask_clean(name));
                dibs_free(holders);
                return true;
            }
        if (!next || w->links == WHY_CHAIN_MAX)
            why_advice(w, holders, name);
        else
            printf("which waits for \"%s\" in turn, for %s.\n", ask_clean(next->lock),
                   why_age(ask_field(next->row, "age_ms")->number));
        dibs_free(holders);
        if (!next || w->links == WHY_CHAIN_MAX)
            return false;
        name = next->lock;
    }
}

static void why_free(struct why *w)
{
    for (size_t k = 0; k < w->answers; k++)
        dibs_free(w->asked[k]);
    free(w->wait);
    ask_free_locks(w->locks, w->count);
    dibs_close(w->d);
}

int cmd_why(int argc, char **argv)
{
    const char *name = NULL;
    struct ask_place place = {0};
    const struct cli_option options[] = {ASK_PLACE_OPTIONS(place), {0}};
    const struct cli_usage usage = {
        "dibs why NAME [OPTION...]",
        "Tells why clients wait for the lock NAME: which client holds it and since when; which lock that client waits "
        "for in turn, and so on; whether that is a deadlock; and what you can do.\n"
        "\n"
        "A holder that waits is found by its connection, and, if it runs on this machine, by the processes that it has "
        "started.\n"
        "\n"
        "Exit status: 0, or 1 if there is a deadlock.",
        options,
        {{"Find out why \"dibs lock backup\" does not go on:", "dibs why backup"},
         {"Ask the daemon of another machine:", "dibs why backup --connect 10.0.0.1:7411 --key client.key"}}};
    struct why w = {0};
    const char *words[] = {"WAITERS", NULL};
    struct dibs_reply *waiters;
    bool deadlock;

    if (cli_parse(argc, argv, &usage, &name, 1) == 0)
        cli_die("no lock is named (usage: %s)", usage.line);
    w.d = ask_connect(&place, NULL, CLI_FAILED);
    w.locks = ask_list_locks(w.d, "*", true, &w.count);
    why_ask_waits(&w);
    words[1] = name;
    waiters = ask_daemon(w.d, words, 2);
    w.waited_for = waiters->count > 0;
    if (!w.waited_for)
        printf("No client waits for \"%s\".\n", ask_clean(name));
    else
        printf("%zu client%s for \"%s\":\n", waiters->count, waiters->count == 1 ? " waits" : "s wait",
               ask_clean(name));
    why_clients(waiters);
    dibs_free(waiters);
    deadlock = why_follow(&w, name);
    why_free(&w);
    return deadlock ? CLI_FAILED : CLI_OK;
}
