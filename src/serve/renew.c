/* renew.c - SIGHUP: the daemon reads its keys and certificates again, and the rules for clients.
 *
 * The files may be on a network, or on a slow disk, so a thread of libuv reads them. Meanwhile the loop goes on with
 * the old keys and rules. The file of the audit trail is opened again, since it may have been renamed. Existing connections keep the keys with which they were made; new
 * connections use the keys that were read. The rules apply to every client from then on; locks that are held stay. If there is any mistake in the rules, the old
 * rules stay. While the members have agreed on rights, the agreed ones apply; their users and groups are looked up again. Other settings of the file take effect after a
 * restart. If SIGHUP comes while the files are being read, the daemon reads them once more. */
#include "serve.h"

#include "log.h"

#include "node/rules.h"

#include <stdlib.h>

/* Runs in a thread, which owns the drafts until renew_done. */
static void renew_read(uv_work_t *work)
{
    struct serve *s = work->data;

    s->renewal.good = true;
    if (s->conf->members_tls) {
        s->renewal.good = conf_read_secrets(s->draft, &s->renewal.fresh);
        tls_end_thread();
    }
    s->renewal.rights = s->draft->file ? conf_read_rights(&s->renewal.rules, s->draft->file) : NULL;
}

static void renew_begin(struct serve *s);

static void renew_tell(struct serve *s, const char *what, bool good, const struct conf_draft *d)
{
    serve_say(s, good ? RECORD_INFO : RECORD_WARNING,
              good ? "SIGHUP: %s were read again, for connections to come"
                   : "SIGHUP: %s stay as they were, because of this:",
              what);
    for (unsigned k = 0; !good && k < d->mistakes && k < CONF_MISTAKES_MAX; k++)
        serve_warn(s, "%s", d->mistake[k].text);
}

static void renew_rules(struct serve *s)
{
    struct rights *t = s->renewal.rights;
    char counts[RIGHTS_COUNTS_MAX];

    if (!t) {
        renew_tell(s, "the rules for clients", false, &s->renewal.rules);
        return;
    }
    rights_count(t, counts);
    serve_log(s, "SIGHUP: the rules for clients were read again: %s%s", counts,
              s->node.rules.agreed
                  ? "; they do not count, as the members have agreed on others (dibs config show rights)"
                  : "");
    if (!s->node.rules.agreed && s->conf->rights && s->conf->rights->rules && !t->rules)
        serve_warn(s, "SIGHUP: there are no rules for clients any more: every client may use all locks");
    rules_renew(&s->node, t);
    free(s->conf->rights); /* verdicts do not outlast a command */
    s->conf->rights = t;
}

static void renew_done(uv_work_t *work, int status)
{
    struct serve *s = work->data;
    bool again = s->renewal.again && !s->stopping;

    (void)status;
    s->renewing = false;
    if (s->conf->members_tls) {
        if (s->renewal.good)
            conf_use_secrets(s->conf, &s->renewal.fresh);
        renew_tell(s, "keys and certificates", s->renewal.good, s->draft);
    }
    if (s->draft->file)
        renew_rules(s);
    if (again)
        renew_begin(s);
}

static void renew_begin(struct serve *s)
{
    s->renewal.again = false;
    s->renewal.work.data = s;
    s->renewing = uv_queue_work(&s->loop, &s->renewal.work, renew_read, renew_done) == 0;
}

void serve_renew(uv_signal_t *signal, int number)
{
    struct serve *s = signal->data;

    (void)number;
    if (s->node.rules.agreed)
        serve_look_up_again(s);
    if (s->trail) {
        log_reopen(s->trail);
        serve_log(s, "SIGHUP: the audit trail goes on in %s", s->conf->audit);
    }
    if (!s->conf->members_tls && !s->draft->file && !s->trail && !s->node.rules.agreed)
        serve_log(s, "SIGHUP: there are no keys and certificates to be read again");
    else if (s->renewing)
        s->renewal.again = true;
    else if (s->conf->members_tls || s->draft->file)
        renew_begin(s);
}

void serve_renew_agent(uv_signal_t *signal, int number)
{
    struct serve *s = signal->data;
    const char *what = s->conf->has_cert ? "certificate" : "key";
    struct secrets fresh;

    (void)number;
    if (!s->conf->has_cert && !s->conf->has_key) {
        serve_log(s, "SIGHUP: there is no key and no certificate to be read again");
    } else if (conf_read_secrets(s->draft, &fresh)) {
        conf_use_secrets(s->conf, &fresh);
        serve_log(s, "SIGHUP: the %s was read again, for connections to come", what);
    } else {
        serve_warn(s, "SIGHUP: the %s stays as it was: %s", what, s->draft->mistake[0].text);
    }
}
