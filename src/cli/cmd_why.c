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
    bool waited_for;          /* does a client wait for the lock that was asked for? */
    bool unheard;             /* a member has not answered about its clients */
    bool open[WHY_CHAIN_MAX]; /* by link: the lock has other slots, which may become free */
};

/* Moves the rows of members that were not heard, which tell of no client, behind the others. Returns the number of the others. */
static size_t why_heard(struct dibs_reply *rows)
{
    size_t heard = 0;

    for (size_t k = 0; k < rows->count; k++) {
        struct dibs_reply *row = rows->item[k];

        if (ask_field(row, "error")->text)
            continue;
        memmove(&rows->item[heard + 1], &rows->item[heard], (k - heard) * sizeof(struct dibs_reply *));
        rows->item[heard++] = row;
    }
    return heard;
}

/* The members that take part and have not answered, or "". What their clients do is not known, and that has to be said: silence would
 * read as "none". Of the others no client holds a lock. */
static const char *why_unheard(struct why *w, const struct dibs_reply *rows, size_t heard)
{
    static char names[512];
    size_t used = 0;

    *names = '\0';
    for (size_t k = heard; k < rows->count; k++) {
        const char *member = ask_field(rows->item[k], "member")->text;

        if (ask_takes_part(w->d, member) && used < sizeof names)
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "", ask_clean(member));
    }
    w->unheard |= used > 0;
    return names;
}

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

/* The process of a client that is named "HOST:PROCESS command", if HOST is this machine; else 0. That of the owner of a token has
 * ended. */
static long why_process(const struct dibs_reply *row)
{
    const char *who = ask_field(row, "who")->text, *state = ask_field(row, "state")->text;
    char host[256] = "";
    size_t len;

    if (state && strcmp(state, "token") == 0)
        return 0;
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
    const char *who = ask_field(row, "who")->text, *from = ask_field(row, "from")->text;

    printf("    %s", who && *who ? ask_clean(who) : "a client without a name");
    printf(" (%s%sclient %" PRIu64 " of member %s), for %s\n", from && *from ? ask_clean(from) : "",
           from && *from ? ", " : "", ask_field(row, "client")->number, ask_clean(ask_field(row, "member")->text),
           why_age(ask_field(row, "age_ms")->number));
}

static void why_clients(const struct dibs_reply *rows, size_t heard)
{
    for (size_t k = 0; k < heard && k < WHY_NAMED_MAX; k++)
        why_client(rows->item[k]);
    if (heard > WHY_NAMED_MAX)
        printf("    and %zu more\n", heard - WHY_NAMED_MAX);
}

/* What keeps the lock if it is not the connection of its first holder. */
static void why_state(const struct dibs_reply *first)
{
    const char *state = ask_field(first, "state")->text;
    uint64_t left = ask_field(first, "left_ms")->number;

    if (!state || strcmp(state, "held") == 0)
        return;
    if (strcmp(state, "token") == 0) {
        printf("    A token owns it: \"dibs hold\", or a lock library of Redis. It is free");
        if (left)
            printf(" in %s if it is not renewed, and", why_age(left));
        printf(" as soon as it is released.\n");
    } else if (strcmp(state, "orphaned") == 0) {
        printf("    Its connection is gone, and the lock is kept for it");
        if (left)
            printf(": it is free in %s if the client does not come back", why_age(left));
        printf(".\n");
    } else {
        printf("    It has lost the lock. It is free when the client cannot believe in it any more, at the latest.\n");
    }
}

static void why_holders(struct why *w, const char *name, const struct dibs_reply *holders, size_t heard)
{
    const char *mode = heard ? ask_field(holders->item[0], "mode")->text : NULL;
    const char *unheard = why_unheard(w, holders, heard);

    if (heard) {
        printf("\"%s\" is held (%s) by\n", ask_clean(name), ask_clean(mode));
        why_clients(holders, heard);
        why_state(holders->item[0]);
        w->open[w->links] = heard > 1 && mode && strcmp(mode, "slot") == 0;
    } else {
        printf(*unheard ? "No client is known that holds \"%s\".\n" : "No client holds \"%s\".\n", ask_clean(name));
    }
    if (*unheard)
        printf("Not heard: %s. Clients there may hold it.\n", unheard);
}

static void why_advice(const struct why *w, const struct dibs_reply *holders, size_t heard, const char *name)
{
    const char *state = heard ? ask_field(holders->item[0], "state")->text : NULL;
    bool connected = state && strcmp(state, "held") == 0; /* else its process may be another one by now */
    long process = connected && heard == 1 ? why_process(holders->item[0]) : 0;

    if (w->unheard && !heard) {
        printf("\"dibs status\" tells which members are reached, and whether locks are granted.\n");
        return;
    }
    if (!w->waited_for && w->links == 1) {
        if (!heard)
            printf("It is free.\n");
        return;
    }
    if (!heard) {
        printf("The members are about to grant it. If that does not happen, \"dibs status\" tells whether they can.\n");
        return;
    }
    printf("To let the others go on, wait%s", !connected   ? ""
                                              : heard == 1 ? " for that client, or end it"
                                                           : " for these clients, or end them");
    if (process)
        printf(" (kill %ld)", process);
    printf(", or take the lock away:\n    dibs force-unlock '%s'\n", ask_clean(name));
}

/* Has one of the locks from this link on, which are a circle, other slots? */
static bool why_is_open(const struct why *w, size_t link)
{
    for (; link < w->links; link++)
        if (w->open[link])
            return true;
    return false;
}

/* Follows the chain from `name` on. Returns true if it leads back to a lock that it has passed. */
static bool why_follow(struct why *w, const char *name)
{
    for (;;) {
        const char *words[] = {"HOLDERS", name};
        struct dibs_reply *holders = ask_daemon(w->d, words, 2);
        size_t heard = why_heard(holders);
        const struct why_wait *next = why_find_wait(w, name, holders, false),
                              *upgrade = why_find_wait(w, name, holders, true);

        why_holders(w, name, holders, heard);
        if (upgrade) {
            printf("One of these holders waits to become the only one (UPGRADE), and is served before all others:\n");
            why_client(upgrade->row);
        }
        w->chain[w->links++] = name;
        for (size_t k = 0; next && k < w->links; k++)
            if (strcmp(w->chain[k], next->lock) == 0) {
                if (why_is_open(w, k)) {
                    printf("which waits for \"%s\" in turn: a circle. It ends when another client of these releases "
                           "its slot.\n",
                           ask_clean(next->lock));
                    dibs_free(holders);
                    return false;
                }
                printf("which waits for \"%s\" in turn: a deadlock. None of these clients can go on.\n",
                       ask_clean(next->lock));
                printf("End one of them, or take its lock away:\n    dibs force-unlock '%s'\n", ask_clean(name));
                dibs_free(holders);
                return true;
            }
        if (!next || w->links == WHY_CHAIN_MAX)
            why_advice(w, holders, heard, name);
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
    const char *unheard;
    size_t heard;
    bool deadlock;

    if (cli_parse(argc, argv, &usage, &name, 1) == 0)
        cli_die("no lock is named (usage: %s)", usage.line);
    w.d = ask_connect(&place, NULL, CLI_FAILED);
    w.locks = ask_list_locks(w.d, "*", true, &w.count);
    why_ask_waits(&w);
    words[1] = name;
    waiters = ask_daemon(w.d, words, 2);
    heard = why_heard(waiters);
    w.waited_for = heard > 0;
    unheard = why_unheard(&w, waiters, heard);
    if (heard)
        printf("%zu client%s for \"%s\":\n", heard, heard == 1 ? " waits" : "s wait", ask_clean(name));
    else
        printf(*unheard ? "No client is known that waits for \"%s\".\n" : "No client waits for \"%s\".\n",
               ask_clean(name));
    why_clients(waiters, heard);
    if (*unheard)
        printf("Not heard: %s. Clients there may wait for it.\n", unheard);
    dibs_free(waiters);
    deadlock = why_follow(&w, name);
    why_free(&w);
    return deadlock ? CLI_FAILED : CLI_OK;
}
