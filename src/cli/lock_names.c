/* lock_names.c - see lock.h: the locks of one `dibs lock`, and those under which it runs itself.
 *
 * What a command finds in its environment:
 *   DIBS_LOCK     the name of the lock, or of several, one in each line;
 *   DIBS_FENCE    the fencing token, if it is one lock;
 *   DIBS_FENCE_x  the fencing token of each lock, also of outer ones: x is the name, in which every byte that is no letter, digit or
 *                 underscore has become an underscore. If two names give the same variable, it is not set;
 *   DIBS_LOCKS    all locks under which the command runs, those of an outer `dibs lock` first: in each line the token, a space, and
 *                 the name, which has no control characters. */
#include "lock.h"

#include "base/memory.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---------------------------------------------------------------------------------------------------- the command line */

/* A mode that stands behind a name is the mode of that lock. A mode before all names is the mode of the locks without a mode
 * of their own. */
static void names_set_mode(struct lock_run *run, int words, const struct dibs_part *mode)
{
    size_t first = words ? (size_t)words - 1 : 0, end = words ? (size_t)words : run->count;

    if (first >= run->count) { /* without --, it stands behind a word of the command */
        first = run->count - 1;
        end = run->count;
    }
    for (size_t k = first; k < end; k++) {
        struct dibs_part *part = &run->part[k];

        if (part->mode != DIBS_EXCLUSIVE && !words)
            continue;
        if (part->mode != DIBS_EXCLUSIVE)
            cli_die("only one of --shared, --group and --slots is possible for \"%s\"", ask_clean(part->name));
        part->mode = mode->mode;
        part->group = mode->group;
        part->slots = mode->slots;
    }
}

void lock_name(struct lock_run *run, const char *const *names, size_t count, const struct lock_modes *modes)
{
    const struct {
        const struct cli_marks *marks;
        enum dibs_mode mode;
    } kinds[] = {{&modes->shared, DIBS_SHARED}, {&modes->group, DIBS_GROUP}, {&modes->slots, DIBS_SLOTS}};

    if (count > DIBS_PARTS_MAX)
        cli_die("%zu locks are too many; it takes at most %d", count, DIBS_PARTS_MAX);
    run->count = count;
    for (size_t k = 0; k < count; k++) {
        run->part[k].name = names[k];
        for (size_t j = 0; j < k; j++)
            if (strcmp(names[j], names[k]) == 0)
                cli_die("lock \"%s\" is named twice", ask_clean(names[k]));
    }
    for (int own = 1; own >= 0; own--) /* first the modes of single locks */
        for (unsigned kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++)
            for (unsigned k = 0; k < kinds[kind].marks->count; k++) {
                const struct cli_mark *mark = &kinds[kind].marks->item[k];

                if ((mark->words > 0) == own)
                    names_set_mode(run, mark->words,
                                   &(struct dibs_part){
                                       .mode = kinds[kind].mode, .group = mark->text, .slots = (unsigned)mark->number});
            }
    if (modes->shared.count + modes->group.count + modes->slots.count > 1 && count == 1)
        cli_die("only one of --shared, --group and --slots is possible");
}

const char *lock_label(const struct lock_run *run)
{
    static char text[400];
    size_t len = 0;

    for (size_t k = 0; k < run->count && len < sizeof text - 1; k++)
        len += (size_t)snprintf(text + len, sizeof text - len, "%s\"%s\"", k ? ", " : "", ask_clean(run->part[k].name));
    return text;
}

/* ---------------------------------------------------------------------------------------------------- the outer locks */

/* The next line of DIBS_LOCKS. Returns null at the end. */
static const char *names_outer(const char *at, uint64_t *fence, const char **name, size_t *len)
{
    char *end;

    while (at && *at) {
        *len = strcspn(at, "\n");
        *fence = strtoull(at, &end, 10);
        *name = end + 1;
        if (isdigit((unsigned char)*at) && *end == ' ' && end < at + *len) {
            *len -= (size_t)(*name - at);
            return *name + *len + ((*name)[*len] == '\n');
        }
        at += *len + (at[*len] == '\n'); /* it is none of ours */
    }
    return NULL;
}

uint64_t lock_outer_fence(const char *lock)
{
    const char *at = getenv("DIBS_LOCKS"), *name;
    uint64_t fence, last = 0;
    size_t len;

    while ((at = names_outer(at, &fence, &name, &len)))
        if (strlen(lock) == len && memcmp(lock, name, len) == 0)
            last = fence;
    return last;
}

/* As many locks as a daemon knows of (DEADLOCK_UNDER_MAX), in as many bytes of DIBS_LOCKS as libdibs passes on. */
enum { NAMES_DEEP_MAX = 64, NAMES_DEEP_BYTES_MAX = 15872, FENCE_BYTES_MAX = 20 };

bool lock_nests_too_deep(const struct lock_run *run)
{
    const char *outer = getenv("DIBS_LOCKS"), *at = outer, *name;
    size_t bytes = outer ? strlen(outer) : 0, count = 0, len;
    uint64_t fence;

    if (!bytes)
        return false; /* the locks of one command line are never too many */
    while ((at = names_outer(at, &fence, &name, &len)))
        count++;
    for (size_t k = 0; k < run->count; k++)
        bytes += strlen(run->part[k].name) + FENCE_BYTES_MAX + 2;
    if (count + run->count <= NAMES_DEEP_MAX && bytes <= NAMES_DEEP_BYTES_MAX)
        return false;
    fprintf(stderr,
            "dibs: this runs under %zu locks, and %zu more would be too many; nest fewer: daemons find deadlocks of a "
            "command under at most %d locks, in at most %d bytes of DIBS_LOCKS\n",
            count, run->count, NAMES_DEEP_MAX, NAMES_DEEP_BYTES_MAX);
    return true;
}

/* ---------------------------------------------------------------------------------------------------- the environment */

enum { VARIABLE_MAX = 300 };

static void names_variable(const char *name, size_t len, char variable[VARIABLE_MAX])
{
    size_t at = (size_t)snprintf(variable, VARIABLE_MAX, "DIBS_FENCE_");

    for (size_t k = 0; k < len && at < VARIABLE_MAX - 1; k++)
        variable[at++] = name[k] & 0x80 || !isalnum((unsigned char)name[k]) ? '_' : name[k];
    variable[at] = '\0';
}

/* Sets DIBS_FENCE_x for each line of DIBS_LOCKS. */
static void names_set_fences(const char *all)
{
    const char *at = all, *name, *other;
    uint64_t fence, ignored;
    size_t len, other_len;

    while ((at = names_outer(at, &fence, &name, &len))) {
        char variable[VARIABLE_MAX], again[VARIABLE_MAX], text[24];
        bool alone = true;

        names_variable(name, len, variable);
        for (const char *k = all; (k = names_outer(k, &ignored, &other, &other_len));) {
            names_variable(other, other_len, again);
            alone = alone && (strcmp(variable, again) != 0 || (len == other_len && memcmp(name, other, len) == 0));
        }
        snprintf(text, sizeof text, "%" PRIu64, fence);
        if (alone)
            setenv(variable, text, 1);
        else
            unsetenv(variable);
    }
}

void lock_set_environment(const struct lock_run *run)
{
    enum { FENCE_MAX = 24 };
    const char *outer = getenv("DIBS_LOCKS");
    size_t names_size = 1, all_size = outer ? strlen(outer) + 2 : 1, names_len = 0, all_len = 0;
    char *names, *all, fence[FENCE_MAX];

    for (size_t k = 0; k < run->count; k++) {
        names_size += strlen(run->part[k].name) + 1;
        all_size += strlen(run->part[k].name) + 1 + FENCE_MAX;
    }
    names = mem_new(names_size);
    all = mem_new(all_size);
    if (outer && *outer)
        all_len = (size_t)snprintf(all, all_size, "%s\n", outer);
    for (size_t k = 0; k < run->count; k++) {
        names_len +=
            (size_t)snprintf(names + names_len, names_size - names_len, "%s%s", k ? "\n" : "", run->part[k].name);
        all_len += (size_t)snprintf(all + all_len, all_size - all_len, "%s%" PRIu64 " %s", k ? "\n" : "",
                                    run->part[k].fence, run->part[k].name);
    }
    snprintf(fence, sizeof fence, "%" PRIu64, run->part[0].fence);
    if (run->count == 1)
        setenv("DIBS_FENCE", fence, 1);
    else
        unsetenv("DIBS_FENCE");
    setenv("DIBS_LOCK", names, 1);
    setenv("DIBS_LOCKS", all, 1);
    names_set_fences(all);
    free(names);
    free(all);
}
