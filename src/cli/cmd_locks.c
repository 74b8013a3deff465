/* dibs locks - the names of all locks, and how many clients hold each and wait for it. */
#include "ask.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static int locks_compare(const void *a, const void *b)
{
    return strcmp(((const struct ask_lock *)a)->name, ((const struct ask_lock *)b)->name);
}

/* Adds the rows of one page. A row is a lock as one member sees it. */
static void locks_add(struct ask_lock **locks, size_t *count, const struct dibs_reply *rows)
{
    *locks = realloc(*locks, (*count + rows->count + 1) * sizeof **locks);
    if (!*locks)
        cli_die("out of memory");
    for (size_t k = 0; k < rows->count; k++) {
        const struct dibs_reply *row = rows->item[k], *error = ask_field(row, "error");
        const char *algorithm = ask_field(row, "algorithm")->text;

        if (error->text)
            fprintf(stderr, "dibs: %s: %s\n", ask_clean(ask_field(row, "member")->text), ask_clean(error->text));
        else if (ask_field(row, "name")->text)
            (*locks)[(*count)++] = (struct ask_lock){.name = strdup(ask_field(row, "name")->text),
                                                     .algorithm = strdup(algorithm ? algorithm : ""),
                                                     .slots = ask_field(row, "slots")->number,
                                                     .holders = ask_field(row, "holders")->number,
                                                     .waiters = ask_field(row, "waiters")->number};
    }
}

/* Adds up the rows about the same lock. Returns how many locks there are. */
static size_t locks_sum(struct ask_lock *locks, size_t count)
{
    size_t sums = 0;

    qsort(locks, count, sizeof *locks, locks_compare);
    for (size_t k = 0; k < count; k++) {
        struct ask_lock *sum = sums ? &locks[sums - 1] : NULL;

        if (!sum || strcmp(sum->name, locks[k].name) != 0) {
            locks[sums++] = locks[k];
            continue;
        }
        sum->slots |= locks[k].slots;
        sum->holders += locks[k].holders;
        sum->waiters += locks[k].waiters;
        free(locks[k].name);
        free(locks[k].algorithm);
    }
    return sums;
}

/* Page after page, member after member. */
struct ask_lock *ask_list_locks(struct dibs *d, const char *pattern, bool used, size_t *count)
{
    struct ask_lock *locks = NULL;
    char cursor[24] = "0";

    *count = 0;
    do {
        const char *all[] = {"LOCKS", pattern, "CURSOR", cursor},
                   *some[] = {"LOCKS", pattern, "USED", "CURSOR", cursor};
        struct dibs_reply *r = used ? ask_daemon(d, some, 5) : ask_daemon(d, all, 4);

        if (r->type != DIBS_LIST || r->count != 2)
            cli_die("the daemon's answer to LOCKS is not understood: it may be of another version (dibs status, dibs "
                    "--version)");
        locks_add(&locks, count, r->item[1]);
        snprintf(cursor, sizeof cursor, "%" PRIu64, r->item[0]->number);
        dibs_free(r);
    } while (strcmp(cursor, "0") != 0);
    *count = locks_sum(locks, *count);
    return locks;
}

void ask_free_locks(struct ask_lock *locks, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        free(locks[k].name);
        free(locks[k].algorithm);
    }
    free(locks);
}

static void locks_show(const struct ask_lock *lock, struct cli_json *j)
{
    if (!j) {
        printf("name %s  algorithm %s  slots %" PRIu64 "  holders %" PRIu64 "  waiters %" PRIu64 "\n",
               ask_clean(lock->name), ask_clean(lock->algorithm), lock->slots, lock->holders, lock->waiters);
        return;
    }
    json_object(j);
    json_key(j, "name");
    json_text(j, lock->name);
    json_key(j, "algorithm");
    json_text(j, lock->algorithm);
    json_key(j, "slots");
    json_count(j, lock->slots);
    json_key(j, "holders");
    json_count(j, lock->holders);
    json_key(j, "waiters");
    json_count(j, lock->waiters);
    json_end(j, '}');
}

int cmd_locks(int argc, char **argv)
{
    const char *const formats[] = {"text", "json", NULL};
    const char *pattern = NULL;
    struct ask_place place = {0};
    bool held = false, waited = false;
    unsigned format = 0;
    const struct cli_option options[] = {
        {"--held", CLI_FLAG, &held, NULL, "list only locks that a client holds", 0, 0, NULL},
        {"--waited", CLI_FLAG, &waited, NULL, "list only locks for which a client waits", 0, 0, NULL},
        ASK_PLACE_OPTIONS(place),
        {"--format", CLI_CHOICE, &format, "F", "print in format F (default text)", 0, 0, formats},
        {0},
    };
    const struct cli_usage usage = {
        "dibs locks [PATTERN] [OPTION...]",
        "Lists the locks that the members know, and how many clients hold each and wait for it. PATTERN is a pattern "
        "of the shell (default: all locks).",
        options,
        {{"List the locks for which clients wait:", "dibs locks --waited"},
         {"List the locks whose names begin with \"db-\":", "dibs locks 'db-*'"}}};
    struct cli_json j = {.to = stdout, .first = true};
    struct ask_lock *locks;
    struct dibs *d;
    size_t count;

    cli_parse(argc, argv, &usage, &pattern, 1);
    d = ask_connect(&place, NULL, CLI_FAILED);
    locks = ask_list_locks(d, pattern ? pattern : "*", held || waited, &count);
    if (format)
        json_array(&j);
    for (size_t k = 0; k < count; k++)
        if ((!held || locks[k].holders) && (!waited || locks[k].waiters))
            locks_show(&locks[k], format ? &j : NULL);
    if (format)
        json_end(&j, ']');
    ask_free_locks(locks, count);
    dibs_close(d);
    return CLI_OK;
}
