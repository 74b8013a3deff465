/* session_convert.c - a client changes the mode in which it holds a lock (lock/convert.h). See session.h.
 *
 * A request to upgrade is a claim of its own, for which the session waits as for any other: it ends by its time, by CANCEL, or as the victim
 * of a deadlock, and the lock is shared as before. The claim of the lock stays the same, with its TTL, its value and its count.
 *
 * If the session is kept, the client is told of both changes when all members know of them (keep_convert.c). So a request to downgrade
 * is a claim of its own there, too. It is in no lock, and cannot be cancelled. */
#include "session.h"

#include <assert.h>

/* Returns null, or why the mode of the claim, which is held, cannot change. */
static const char *session_objects_to_change(const struct claim *c)
{
    return c->slots ? "a lock with slots is neither shared nor exclusive"
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
    if (c->shares) { /* its client has resumed the session before it was told of that */
        dme_print(why, "\"%.*s\" is being downgraded; ask again", (int)name_len, name);
        return "BUSY";
    }
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

void session_note_change(struct claim *request)
{
    struct claim *c = request->other;
    struct node *node = c->session->node;

    if (request->state == CLAIM_DOWNGRADED) {
        keep_finish_share(c);
        return;
    }
    stats_add_time(&node->stats.wait, node->now_ms - request->since_ms);
    session_begin_ttl(c, c->ttl_ms);
    watch_tell(node, WATCH_GRANTED, c);
}

void session_undo_upgrade(struct claim *upgrade)
{
    struct claim *c = upgrade->other;
    struct locks *l = &c->session->node->locks;
    char line[256];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    keep_free_claim(c); /* by its new fence */
    c->fence = upgrade->fence;
    session_withdraw(c->session);
    if (c->kept)
        locks_take_away(l, c, LOSS_RIGHT);
    else
        locks_downgrade(l, c, &why);
}

/* The client is told when all members know that the lock is to be shared. */
static void session_await_share(struct claim *c)
{
    struct claim *request = session_new_claim(c->session, c->name, c->name_len);

    request->state = CLAIM_DOWNGRADED;
    request->lock = c->lock;
    request->fence = c->fence;
    request->mode = LOCK_SHARED;
    request->other = c;
    c->other = request;
    session_begin_wait(request, SESSION_FOREVER);
    keep_await_share(request);
}

const char *session_downgrade(struct session *s, const char *name, size_t name_len, uint64_t fence, bool *waits,
                              struct dme_text *why)
{
    const char *code;
    struct claim *c = session_find_changing(s, name, name_len, fence, &code, why);

    *waits = false;
    if (!c || c->mode == LOCK_SHARED)
        return code;
    if (session_kept(s) && !(code = locks_may_downgrade(&s->node->locks, c, why))) {
        *waits = keep_share_claim(c);
        if (*waits)
            session_await_share(c);
        return NULL;
    }
    if (code || (code = locks_downgrade(&s->node->locks, c, why)))
        return code;
    watch_tell(s->node, WATCH_GRANTED, c);
    return NULL;
}
