/* audit.c - the audit trail, as lines of the log that begin with "audit:": refusals, logins, and what operators order. A client
 * can cause as many as it likes, so at most AUDITS_PER_SECOND are written, and the next one says how many were left out. */
#include "serve.h"

#include "node/audit.h"

#include <inttypes.h>
#include <stdio.h>

enum { AUDITS_PER_SECOND = 50 };

void serve_audit(void *user, const struct audit *a)
{
    struct serve *s = user;
    struct serve_audits *all = &s->audits;
    const struct session *client = a->session;
    char more[64] = "";

    if (uv_now(&s->loop) - all->began_ms >= 1000) {
        all->began_ms = uv_now(&s->loop);
        all->lines = 0;
    }
    if (++all->lines > AUDITS_PER_SECOND) {
        all->untold++;
        return;
    }
    if (all->untold)
        snprintf(more, sizeof more, " (%" PRIu64 " lines were left out before this one)", all->untold);
    all->untold = 0;
    serve_log(s, "audit: %s: client %" PRIu64 " (%s%s%s, %s)%s%.*s%s%s%s%s", audit_name[a->what], client->id,
              client->party ? client->party->label : "unknown", *client->from ? " from " : "", client->from,
              *client->who ? client->who : "no name", a->name_len ? ": \"" : "", (int)a->name_len, a->name,
              a->name_len ? "\"" : "", *a->text ? ": " : "", a->text, more);
}
