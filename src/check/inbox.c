/* inbox.c - the messages that are on their way to a site.
 *
 * An inbox is a list of items in a normal form, so that two orders of sending that no site can tell apart are one
 * state: what arrives in the order of sending stands in that order (a lane), and all else in the order of its
 * number. */
#include "space_inner.h"

#include "base/memory.h"

#include <stdlib.h>
#include <string.h>

/* Messages of one lane arrive in the order they were sent; those of the last lane in any order. */
static uint32_t space_lane(const struct space *s, uint32_t item)
{
    const struct dme_msg *m = space_message(s, item);

    if (m->to == DME_ALL && s->needs & DME_SEQUENCED)
        return s->conf.n;
    return s->needs & DME_FIFO ? m->from : s->conf.n + 1;
}

static bool space_lane_ordered(const struct space *s, uint32_t lane)
{
    return lane <= s->conf.n;
}

/* Does item a stand before item b, which is the newer one? */
static bool space_stands_before(const struct space *s, uint32_t a, uint32_t b)
{
    uint32_t lane_a = space_lane(s, a), lane_b = space_lane(s, b);

    if (lane_a != lane_b)
        return lane_a < lane_b;
    return space_lane_ordered(s, lane_a) || a <= b;
}

uint32_t space_append(struct space *s, uint32_t part, uint32_t item)
{
    uint32_t known = memo_get(&s->appended, part, item), len, k, *list;
    struct space_part p;

    if (known != MEMO_MISSING)
        return known;
    if (space_key(s, part)->node.down && !space_may_return(s))
        return part;
    p = s->part[part];
    len = s->inboxes.length[p.inbox] / sizeof *list;
    list = mem_new((len + 1) * sizeof *list);
    memcpy(list, intern_get(&s->inboxes, p.inbox), len * sizeof *list);
    for (k = len; k > 0 && !space_stands_before(s, list[k - 1], item); k--)
        list[k] = list[k - 1];
    list[k] = item;
    known = space_put_part(s, p.node, intern_put(&s->inboxes, list, (len + 1) * sizeof *list));
    memo_put(&s->appended, part, item, known);
    free(list);
    return known;
}

uint32_t space_without(struct space *s, uint32_t inbox, uint32_t k)
{
    uint32_t len = s->inboxes.length[inbox] / sizeof(uint32_t), *list = mem_new(len * sizeof *list), id;
    const uint32_t *old = intern_get(&s->inboxes, inbox);

    memcpy(list, old, k * sizeof *list);
    memcpy(list + k, old + k + 1, (len - k - 1) * sizeof *list);
    id = intern_put(&s->inboxes, list, (len - 1) * sizeof *list);
    free(list);
    return id;
}

uint32_t space_twice(struct space *s, uint32_t inbox, uint32_t k)
{
    uint32_t len = s->inboxes.length[inbox] / sizeof(uint32_t), *list = mem_new((len + 1) * sizeof *list), id;
    const uint32_t *old = intern_get(&s->inboxes, inbox);

    memcpy(list, old, (k + 1) * sizeof *list);
    memcpy(list + k + 1, old + k, (len - k) * sizeof *list);
    id = intern_put(&s->inboxes, list, (len + 1) * sizeof *list);
    free(list);
    return id;
}

/* Is item k news of a site of which messages are still to come? */
static bool space_news_too_early(const struct space *s, uint32_t inbox, uint32_t k)
{
    const uint32_t *list = intern_get(&s->inboxes, inbox);
    const struct dme_msg *news = space_message(s, list[k]);
    uint32_t len = s->inboxes.length[inbox] / sizeof *list;

    if (news->kind < DME_NEWS || !(s->needs & DME_DETECTION))
        return false;
    for (k = 0; k < len; k++)
        if (space_message(s, list[k])->from == news->from && space_message(s, list[k])->kind < DME_NEWS)
            return true;
    return false;
}

bool space_arrives(const struct space *s, uint32_t inbox, uint32_t k)
{
    const uint32_t *list = intern_get(&s->inboxes, inbox);

    if (!(s->needs & DME_FIFO) && space_news_too_early(s, inbox, k))
        return false;
    if (k == 0)
        return true;
    if (space_lane_ordered(s, space_lane(s, list[k])))
        return space_lane(s, list[k - 1]) != space_lane(s, list[k]);
    return list[k - 1] != list[k];
}
