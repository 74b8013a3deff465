/* keep_convert.c - see keep.h and README.md (rule 11): a lock of a kept session changes its mode (lock/convert.h), and so do the
 * other members' records of it.
 *
 * Upgrade. The owner makes the claim exclusive, with a new fence. It sends the new record, which names the previous one
 * (`after`), and then the withdrawal of the previous one. The request to upgrade stands for the previous record: it has the
 * fence of that record, and the number of the letter that withdraws it. The client is told when all members have acknowledged
 * that letter. So each member has the previous record, both or the new one, and never none. If the owner is lost while a
 * member has the previous record, all members forget the new one (keep_forget_followers).
 *
 * Downgrade. The owner sends the record again, with the same fence, as shared. The claim is exclusive until all members have
 * acknowledged that. If the owner is lost before, some records may be exclusive and others shared. All members have the same
 * reports, and use the exclusive mode. */
#include "keep_inside.h"

#include <assert.h>

uint32_t keep_mode(const struct claim *c)
{
    return c->shares ? LOCK_SHARED : c->mode;
}

void keep_upgrade_claim(struct claim *c, struct claim *upgrade)
{
    struct keep_session *e = session_kept(c->session);
    struct node *node = c->session->node;

    if (!e || !keep_is_recorded(c))
        return;
    assert(!c->shares && node->keep.phase == KEEP_PASSED && !e->moves_to);
    c->kept_id[0] = e->id.high;
    c->kept_id[1] = e->id.low;
    c->after = upgrade->fence;
    keep_record_claim(c);
    upgrade->kept = e->changed = keep_say_free(node, e, c, upgrade->fence);
    upgrade->freed = true;
}

bool keep_share_claim(struct claim *c)
{
    struct node *node = c->session->node;

    if (!c->shares) {
        c->shares = true;
        keep_record_claim(c);
        c->session->kept->changed = c->kept;
    }
    keep_count_acks(node);
    if (c->kept <= node->keep.acked)
        keep_finish_share(c);
    return c->shares;
}

void keep_await_share(struct claim *request)
{
    request->kept = request->other->kept;
    request->freed = true; /* it has no record of its own */
    ring_push(&request->session->node->keep.pending, &request->in_list);
}

void keep_finish_share(struct claim *c)
{
    char line[256];
    struct dme_text why;

    if (!c->shares)
        return;
    dme_text_init(&why, line, sizeof line);
    c->shares = false;
    if (locks_downgrade(&c->session->node->locks, c, &why)) /* by another policy, and so it is exclusive as before */
        keep_record_claim(c);
    else
        watch_tell(c->session->node, WATCH_GRANTED, c);
}
