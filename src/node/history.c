/* history.c - see history.h. */
#include "history.h"

#include "node.h"

#include <string.h>

static struct history_view *history_last(struct history_views *h)
{
    return &h->view[(h->count - 1) % HISTORY_VIEWS];
}

const struct history_view *history_at(const struct history_views *h, uint64_t back)
{
    return back < h->count && back < HISTORY_VIEWS ? &h->view[(h->count - 1 - back) % HISTORY_VIEWS] : NULL;
}

void history_install(struct node *node)
{
    struct history_views *h = &node->history;
    struct history_view *v;

    h->count++;
    v = history_last(h);
    bytes_free(&v->members);
    *v = (struct history_view){
        .number = node->view.number, .installed_ms = node->now_ms, .takes_part = node->takes_part};
    for (uint32_t k = 0; k < node->view.count; k++) {
        const struct view_member *m = &node->view.member[k];
        bool first = !bytes_len(&v->members);

        if (!m->incarnation)
            continue;
        if (!first)
            *bytes_add(&v->members, 1) = ' ';
        memcpy(bytes_add(&v->members, strlen(m->name)), m->name, strlen(m->name));
    }
}

void history_open(struct node *node)
{
    struct history_view *v = history_last(&node->history);

    v->opened = true;
    v->opened_ms = node->now_ms;
}

void history_free(struct history_views *h)
{
    for (unsigned k = 0; k < HISTORY_VIEWS; k++)
        bytes_free(&h->view[k].members);
}
