/* session_convert.c - a client changes the mode in which it holds a lock (lock/convert.h). See session.h.
 *
 * A request to upgrade is a claim of its own, for which the session waits as for any other: it ends by its time, by CANCEL, or as the victim
 * of a deadlock, and the lock is shared as before. The claim of the lock stays the same, with its TTL, its value and its count. */
#include "session.h"

#include <assert.h>

/* Returns null, or why the mode of the claim, which is held, cannot change. */
static const char *session_objects_to_change(const struct claim *c)
{
    return c->session->kept || c->kept
               ? "the mode of a lock of a kept session does not change; release it, and ask for it again"
           : c->slots ? "a lock with slots is neither shared nor exclusive"
           : c->mode != LOCK_SHARED && c->mode != LOCK_ALONE
               ? "it is held by a group; only a shared lock can be upgraded, and only an exclusive one downgraded"
               : NULL;
}

/* The claim of the session whose mode is to change. Otherwise null, and the error code. */
static struct claim *session_find_changing(struct session *s, const char *name, size_t name_len, uint64_t fence,
                                           const char **code, struct dme_text *why)
{
    struct claim *c = session_find(s, name, name_len, fence);
    const char *objection;

    if (c)
        locks_lose_early(&s->node->locks, c); /* as in session_lock */
    *code = "NOTHELD";
    if (!c || c->state != CLAIM_HELD)
        return NULL;
    objection = session_objects_to_change(c);
    *code = objection ? "ERR" : NULL;
    if (objection)
        dme_print(why, "\"%.*s\": %s", (int)name_len, name, objection);
    return objection ? NULL : c;
}

const char *session_upgrade(struct session *s, const char *name, size_t name_len, uint64_t *fence, uint64_t wait_ms,
                            struct dme_text *why)
{
    const char *code;
    struct claim *c = session_find_changing(s, name, name_len, *fence, &code, why), *upgrade;

    assert(!s->waiting);
    *fence = 0;
    if (!c)
        return code;
    if (c->mode == LOCK_ALONE) {
        *fence = c->fence;
        return NULL;
    }
    if (node_is_over(s->node) || (wait_ms == 0 && node_state(s->node) >= NODE_NO_QUORUM)) {
        node_say_no_quorum(s->node, why);
        return "NOQUORUM";
    }
    upgrade = session_new_claim(s, name, name_len);
    upgrade->mode = LOCK_ALONE;
    if ((code = locks_upgrade(&s->node->locks, upgrade, c, wait_ms == 0, why))) {
        session_free_claim(s->node, upgrade);
        return code;
    }
    session_begin_wait(upgrade, wait_ms);
    return NULL;
}

void session_note_upgrade(struct claim *upgrade)
{
    struct claim *c = upgrade->other;
    struct node *node = c->session->node;

    stats_add_time(&node->stats.wait, node->now_ms - upgrade->since_ms);
    session_begin_ttl(c, c->ttl_ms);
    watch_tell(node, WATCH_GRANTED, c);
}

const char *session_downgrade(struct session *s, const char *name, size_t name_len, uint64_t fence,
                              struct dme_text *why)
{
    const char *code;
    struct claim *c = session_find_changing(s, name, name_len, fence, &code, why);

    if (!c || c->mode == LOCK_SHARED || (code = locks_downgrade(&s->node->locks, c, why)))
        return code;
    watch_tell(s->node, WATCH_GRANTED, c);
    return NULL;
}
