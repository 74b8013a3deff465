/* renew.c - SIGHUP: the daemon reads its keys and certificates again.
 *
 * The files may be on a network, or on a disk that is slow, so a thread of libuv reads them. Meanwhile the loop goes on with
 * the old ones. Connections that exist keep what they were made with; new connections use what was read. A SIGHUP that
 * comes while the files are being read makes the daemon read them once more. */
#include "serve.h"

/* In a thread. Until renew_done the draft is the thread's. */
static void renew_read(uv_work_t *work)
{
    struct serve *s = work->data;

    s->renewal.good = conf_read_secrets(s->draft, &s->renewal.fresh);
}

static void renew_begin(struct serve *s);

static void renew_done(uv_work_t *work, int status)
{
    struct serve *s = work->data;
    bool again = s->renewal.again && !s->stopping;

    (void)status;
    s->renewing = false;
    if (s->renewal.good)
        conf_use_secrets(s->conf, &s->renewal.fresh);
    serve_log(s, s->renewal.good ? "SIGHUP: keys and certificates were read again, for connections to come"
                                 : "SIGHUP: keys and certificates stay as they were, because of this:");
    for (unsigned k = 0; k < s->draft->mistakes && k < CONF_MISTAKES_MAX; k++)
        serve_log(s, "%s", s->draft->mistake[k].text);
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
    if (!s->conf->members_tls)
        serve_log(s, "SIGHUP: there are no keys and certificates to be read again");
    else if (s->renewing)
        s->renewal.again = true;
    else
        renew_begin(s);
}
