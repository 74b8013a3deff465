/* top_locks.c - the list of locks of dibs top. See top.h. */
#include "top.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

const char *const top_sorts[TOP_SORTS + 1] = {"wait", "hold", "waiters", "name", NULL};

/* ----------------------------------------------------------------------------------------------------------- asking */

bool top_connect(struct top *t)
{
    if (t->d)
        return true;
    if (ask_try_connect(t->place, NULL, &t->d) == DIBS_OK)
        return true;
    snprintf(t->trouble, sizeof t->trouble, "%s", dibs_message(t->d));
    dibs_close(t->d);
    t->d = NULL;
    return false;
}

struct dibs_reply *top_ask(struct top *t, const char *const *words, size_t count)
{
    struct dibs_reply *r = NULL;
    int code;

    if (!top_connect(t))
        return NULL;
    code = dibs_ask(t->d, words, count, &r);
    if (code == DIBS_OK)
        return r;
    snprintf(t->trouble, sizeof t->trouble, "%s", dibs_message(t->d));
    dibs_free(r);
    if (code == DIBS_GONE) {
        dibs_close(t->d);
        t->d = NULL;
    }
    return NULL;
}

/* ----------------------------------------------------------------------------------------------------------- a pass */

static void top_empty(struct top_list *l)
{
    for (size_t k = 0; k < l->count; k++)
        free(l->lock[k].name);
    free(l->lock);
    *l = (struct top_list){0};
}

void top_free(struct top *t)
{
    top_empty(&t->shown);
    top_empty(&t->pass);
    dibs_close(t->d);
}

void top_begin(struct top *t)
{
    top_empty(&t->pass);
    t->unheard[0] = '\0';
    snprintf(t->cursor, sizeof t->cursor, "0");
}

static void top_note_unheard(struct top *t, const char *member, const char *error)
{
    size_t len = strlen(t->unheard);

    snprintf(t->unheard + len, sizeof t->unheard - len, "%s%s: %s", len ? "; " : "", member ? member : "?", error);
}

/* Adds the rows of one page. A row is a lock as one member sees it. */
static void top_add(struct top *t, const struct dibs_reply *rows)
{
    struct top_list *l = &t->pass;

    if (l->count + rows->count > l->room) {
        l->room = 2 * (l->count + rows->count);
        l->lock = realloc(l->lock, l->room * sizeof *l->lock);
        if (!l->lock)
            cli_die("out of memory");
    }
    for (size_t k = 0; k < rows->count; k++) {
        const struct dibs_reply *row = rows->item[k];
        const char *error = ask_field(row, "error")->text, *name = ask_field(row, "name")->text;

        if (error)
            top_note_unheard(t, ask_field(row, "member")->text, error);
        else if (name)
            l->lock[l->count++] = (struct top_lock){.name = strdup(name),
                                                    .slots = ask_field(row, "slots")->number,
                                                    .holders = ask_field(row, "holders")->number,
                                                    .waiters = ask_field(row, "waiters")->number,
                                                    .wait_ms = ask_field(row, "wait_ms")->number,
                                                    .hold_ms = ask_field(row, "hold_ms")->number};
    }
}

static int top_compare_names(const void *a, const void *b)
{
    return strcmp(((const struct top_lock *)a)->name, ((const struct top_lock *)b)->name);
}

static uint64_t top_most(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Adds up the rows about the same lock. */
static void top_sum(struct top_list *l)
{
    size_t sums = 0;

    if (l->count)
        qsort(l->lock, l->count, sizeof *l->lock, top_compare_names);
    for (size_t k = 0; k < l->count; k++) {
        struct top_lock *sum = sums ? &l->lock[sums - 1] : NULL, *row = &l->lock[k];

        if (!sum || strcmp(sum->name, row->name) != 0) {
            l->lock[sums++] = *row;
            continue;
        }
        sum->slots |= row->slots;
        sum->holders += row->holders;
        sum->waiters += row->waiters;
        sum->wait_ms = top_most(sum->wait_ms, row->wait_ms);
        sum->hold_ms = top_most(sum->hold_ms, row->hold_ms);
        free(row->name);
    }
    l->count = sums;
}

enum top_pass top_go_on(struct top *t, bool (*stop)(void))
{
    bool any = strpbrk(t->pattern, "*?[") != NULL;
    char pattern[sizeof t->pattern + 2];

    snprintf(pattern, sizeof pattern, any ? "%s" : *t->pattern ? "*%s*" : "*%s", t->pattern);
    if (!t->cursor[0])
        top_begin(t);
    for (unsigned pages = 0; pages < TOP_PAGES && !(stop && stop()); pages++) {
        const char *words[] = {"LOCKS", pattern, "USED", "CURSOR", t->cursor};
        struct dibs_reply *r = top_ask(t, words, 5);

        if (!r)
            return TOP_FAILED;
        if (r->type != DIBS_LIST || r->count != 2)
            cli_die("the daemon does not know LOCKS as we do; is it of another version?");
        top_add(t, r->item[1]);
        snprintf(t->cursor, sizeof t->cursor, "%" PRIu64, r->item[0]->number);
        dibs_free(r);
        if (strcmp(t->cursor, "0") == 0) {
            top_empty(&t->shown);
            t->shown = t->pass;
            t->pass = (struct top_list){0};
            t->complete = true;
            snprintf(t->trouble, sizeof t->trouble, "%s", t->unheard);
            top_sum(&t->shown);
            top_sort_list(t);
            top_begin(t);
            return TOP_COMPLETE;
        }
    }
    return TOP_MORE;
}

/* ---------------------------------------------------------------------------------------------------------- sorting */

static enum top_sort top_order; /* for qsort */

static int top_larger(uint64_t a, uint64_t b)
{
    return (a < b) - (a > b);
}

static int top_compare(const void *a, const void *b)
{
    const struct top_lock *x = a, *y = b;
    int by[] = {
        [TOP_BY_WAIT] = top_larger(x->wait_ms, y->wait_ms),
        [TOP_BY_HOLD] = top_larger(x->hold_ms, y->hold_ms),
        [TOP_BY_WAITERS] = top_larger(x->waiters, y->waiters),
        [TOP_BY_NAME] = strcmp(x->name, y->name),
    };

    for (unsigned k = 0; k < TOP_SORTS; k++) {
        int order = by[k ? k - (k <= (unsigned)top_order) : (unsigned)top_order];

        if (order)
            return order;
    }
    return 0;
}

void top_sort_list(struct top *t)
{
    top_order = t->sort;
    if (t->shown.count)
        qsort(t->shown.lock, t->shown.count, sizeof *t->shown.lock, top_compare);
}
