/* audit.c - the audit trail: refusals, logins, what operators order, and which locks were lost. It is in the log, as records
 * that begin with "audit:", and, with --audit, in a file, where each record is a line of JSON with fields of its own.
 *
 * A client can cause as many records as it likes. So at most AUDITS_PER_SECOND of a sort get into the log in a second, and the next one of
 * that sort says how many were left out: a client that is refused again and again does not hide what another one does. The
 * file gets all of them, as long as the disk takes them (log.h); if the disk does not, the log says so, once a minute. Grants and releases are for the file only. */
#include "serve.h"

#include "log.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { AUDITS_PER_SECOND = 50, DROPPED_AGAIN_MS = 60000 };

/* Is there room for another record of this sort in the log? */
static bool audit_fits(struct serve *s, enum audit_what what)
{
    struct serve_audits *all = &s->audits;

    if (uv_now(&s->loop) - all->began_ms >= 1000) {
        all->began_ms = uv_now(&s->loop);
        for (unsigned k = 0; k < AUDIT_WHATS; k++)
            all->lines[k] = 0;
    }
    if (++all->lines[what] <= AUDITS_PER_SECOND)
        return true;
    all->untold[what]++;
    return false;
}

static void audit_log(struct serve *s, const struct audit *a, const char *identity, const char *who)
{
    const struct session *client = a->session;
    char more[64] = "", fence[40] = "";

    if (s->audits.untold[a->what])
        snprintf(more, sizeof more, " (%" PRIu64 " lines were left out before this one)", s->audits.untold[a->what]);
    s->audits.untold[a->what] = 0;
    if (a->fence)
        snprintf(fence, sizeof fence, ", fence %" PRIu64, a->fence);
    serve_say(s, a->what == AUDIT_LOST ? RECORD_WARNING : RECORD_INFO,
              "audit: %s: client %" PRIu64 " (%s%s%s, %s)%s%.*s%s%s%s%s%s", audit_name[a->what], client->id, identity,
              *client->from ? " from " : "", client->from, who, a->name_len ? ": \"" : "", (int)a->name_len, a->name,
              a->name_len ? "\"" : "", fence, *a->text ? ": " : "", a->text, more);
}

static void audit_append(struct serve *s, const struct audit *a, const char *identity, const char *who)
{
    char line[RECORD_LINE_MAX], name[LOCK_NAME_MAX + 1];
    struct log_record r = serve_record(s, a->what == AUDIT_LOST ? RECORD_WARNING : RECORD_INFO);
    struct log_field *f = r.field;

    snprintf(name, sizeof name, "%.*s", (int)a->name_len, a->name);
    *f++ = (struct log_field){.key = "audit", .text = audit_name[a->what]};
    *f++ = (struct log_field){.key = "client", .number = a->session->id};
    *f++ = (struct log_field){.key = "identity", .text = identity};
    *f++ = (struct log_field){.key = "from", .text = a->session->from};
    *f++ = (struct log_field){.key = "who", .text = who};
    if (a->name_len)
        *f++ = (struct log_field){.key = "lock", .text = name};
    if (a->fence)
        *f++ = (struct log_field){.key = "fence", .number = a->fence};
    r.text = a->text;
    log_line(s->trail, line, record_print(&r, RECORD_JSON, line));
}

void serve_audit(void *user, const struct audit *a)
{
    struct serve *s = user;
    const char *identity = a->session->party ? a->session->party->label : "unknown";
    const char *who = *a->session->who ? a->session->who : "no name";

    if (a->what != AUDIT_GRANTED && a->what != AUDIT_RELEASED && audit_fits(s, a->what))
        audit_log(s, a, identity, who);
    if (s->trail)
        audit_append(s, a, identity, who);
}

uint64_t serve_mind_trail(struct serve *s)
{
    int error = 0;
    uint64_t dropped = s->trail ? log_dropped(s->trail, &error) : 0, now_ms = uv_now(&s->loop);

    if (dropped == s->audits.dropped || (s->audits.dropped && now_ms - s->audits.dropped_ms < DROPPED_AGAIN_MS))
        return dropped;
    s->audits.dropped = dropped;
    s->audits.dropped_ms = now_ms;
    serve_warn(s, "the audit trail %s has lost %" PRIu64 " lines so far: %s", s->conf->audit, dropped,
               error ? strerror(error) : "it does not take them in time");
    return dropped;
}
