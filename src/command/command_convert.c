/* command_convert.c - UPGRADE and DOWNGRADE: a client changes the mode in which it holds a lock. */
#include "command.h"
#include "permit.h"

#include <string.h>

/* Sends the error for a lock whose mode cannot change. */
static void command_object_to_change(struct client *c, const struct resp_request *r, uint64_t fence, const char *code,
                                     const char *line)
{
    if (strcmp(code, "NOTHELD") == 0)
        command_not_held(c, r->word[1], fence);
    else
        resp_error(&c->out, code, line);
}

/* UPGRADE name [fence] [WAIT ms] */
void command_upgrade(struct client *c, const struct resp_request *r)
{
    bool waits = r->count > 3 || (r->count == 3 && resp_is(r->word[2], "WAIT"));
    uint64_t fence, named, wait_ms = SESSION_FOREVER;
    const char *code;
    char line[512];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (waits && (r->count == 3 || !resp_is(r->word[r->count - 2], "WAIT") ||
                  !command_number(r->word[r->count - 1], COMMAND_MS_MAX, &wait_ms))) {
        resp_error(&c->out, "ERR", "usage: UPGRADE name [fence] [WAIT ms], with at most 1000000000 ms");
        return;
    }
    if (!command_is_name(c, r->word[1]))
        return;
    fence = 0;
    if (r->count != 4 && !command_fence(c, r, waits ? 5 : 3, &fence))
        return;
    if (!permit(c, RIGHT_LOCK, r->word[1]) || !permit_more(c, 0))
        return;
    named = fence;
    c->session->ruled = c->session->node->rules.version;
    if ((code = session_upgrade(c->session, r->word[1].at, r->word[1].len, &fence, wait_ms, &why))) {
        command_object_to_change(c, r, named, code, line);
    } else if (fence) {
        resp_array(&c->out, 2);
        resp_string(&c->out, r->word[1].at, r->word[1].len);
        resp_integer(&c->out, fence);
    }
}

void command_downgrade(struct client *c, const struct resp_request *r)
{
    uint64_t fence;
    bool waits = false;
    const char *code;
    char line[512];
    struct dme_text why;

    dme_text_init(&why, line, sizeof line);
    if (!command_is_name(c, r->word[1]) || !command_fence(c, r, 3, &fence))
        return;
    if ((code = session_downgrade(c->session, r->word[1].at, r->word[1].len, fence, &waits, &why)))
        command_object_to_change(c, r, fence, code, line);
    else if (!waits)
        resp_simple(&c->out, "OK");
}
