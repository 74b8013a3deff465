/* agenda.c - see agenda.h. */
#include "agenda.h"

#include "base/memory.h"

static bool agenda_before(const struct agenda_item *a, const struct agenda_item *b)
{
    return a->at != b->at ? a->at < b->at : a->order < b->order;
}

void agenda_add(struct agenda *a, const struct agenda_item *item)
{
    size_t hole = a->count++;

    if (a->count > a->room) {
        a->room = a->room ? 2 * a->room : 16;
        a->item = mem_grow(a->item, a->room * sizeof *a->item);
    }
    while (hole && agenda_before(item, &a->item[(hole - 1) / 2])) {
        a->item[hole] = a->item[(hole - 1) / 2];
        hole = (hole - 1) / 2;
    }
    a->item[hole] = *item;
}

struct agenda_item agenda_take(struct agenda *a)
{
    struct agenda_item first = a->item[0], last = a->item[--a->count];
    size_t hole = 0, child;

    while ((child = 2 * hole + 1) < a->count) {
        if (child + 1 < a->count && agenda_before(&a->item[child + 1], &a->item[child]))
            child++;
        if (!agenda_before(&a->item[child], &last))
            break;
        a->item[hole] = a->item[child];
        hole = child;
    }
    a->item[hole] = last;
    return first;
}
