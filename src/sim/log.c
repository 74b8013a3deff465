/* log.c - see log.h. */
#include "log.h"

#include "base/memory.h"
#include "lab/world.h"

#include <inttypes.h>
#include <stdlib.h>

static const char *const log_events[] = {
    [DME_REQUEST] = "request", [DME_RELEASE] = "release", [DME_RECEIVE] = "receive", [DME_TIMER] = "timer",
    [DME_RESTART] = "restart", [DME_JOIN] = "join",       [DME_LEAVE] = "leave",     [WORLD_CRASH] = "crash",
    [WORLD_CUT] = "cut",       [WORLD_HEAL] = "heal",
};
_Static_assert(sizeof log_events / sizeof log_events[0] == WORLD_HEAL + 1, "an event has a name");

void sim_log_begin(struct sim_log *log, FILE *to, const struct sim_spec *spec)
{
    const struct dme_conf *conf = &spec->conf;
    const struct dme_option *o = conf->alg->options;

    *log = (struct sim_log){.to = to, .conf = conf, .text_size = 64 + 64 * (size_t)conf->n};
    log->text = mem_new(log->text_size);
    fprintf(to, "{\"algorithm\":\"%s\",\"sites\":%u,\"rule\":\"%s\",\"limit\":%u,\"seed\":%" PRIu64 ",\"options\":{",
            conf->alg->name, conf->n, dme_rule_name(conf->rule), conf->limit, spec->seed);
    for (unsigned k = 0; o && o[k].key; k++) {
        fprintf(to, "%s\"%s\":", k ? "," : "", o[k].key);
        if (o[k].choices)
            fprintf(to, "\"%s\"", o[k].choices[conf->option[k]]);
        else
            fprintf(to, "%" PRIu64, conf->option[k]);
    }
    fprintf(to, "}}\n");
}

static const char *log_text(struct sim_log *log, const struct dme_msg *m)
{
    struct dme_text text;

    dme_text_init(&text, log->text, log->text_size);
    dme_print_msg(log->conf, m, &text);
    return log->text;
}

static void log_sends(struct sim_log *log, const struct sim_event *e)
{
    bool echo = log->conf->alg->needs & DME_SEQUENCED;
    uint64_t number = e->sends;
    unsigned count = 0;

    for (const struct dme_msg *m = NULL; (m = dme_next(e->out, e->site, m));) {
        fprintf(log->to, "%s{\"to\":", count++ ? "," : ",\"sends\":[");
        if (m->to == DME_ALL)
            fprintf(log->to, "\"all\"");
        else
            fprintf(log->to, "%u", m->to);
        fprintf(log->to, ",\"number\":%" PRIu64 ",\"text\":\"%s\"}", number, log_text(log, m));
        number += m->to == DME_ALL ? log->conf->n - !echo : 1;
    }
    if (count)
        fprintf(log->to, "]");
}

void sim_log_observe(void *user, const struct sim_event *e)
{
    struct sim_log *log = user;

    fprintf(log->to, "{\"at\":%.17g,\"site\":%u,\"event\":\"%s\"", e->at, e->site, log_events[e->event->type]);
    if (e->event->type == DME_REQUEST)
        fprintf(log->to, ",\"mode\":%u", e->event->arg);
    if (e->event->type == WORLD_CUT)
        fprintf(log->to, ",\"side\":%u", e->event->arg);
    if (e->event->type == DME_RESTART)
        fprintf(log->to, ",\"memory\":%s", e->event->arg ? "true" : "false");
    if (e->event->type == DME_TIMER)
        fprintf(log->to, ",\"timer\":%u", e->event->arg);
    if (e->event->type == DME_RECEIVE)
        fprintf(log->to, ",\"from\":%u,\"number\":%" PRIu64 ",\"text\":\"%s\"", e->event->msg->from, e->number,
                log_text(log, e->event->msg));
    if (e->out->entered)
        fprintf(log->to, ",\"enters\":true");
    log_sends(log, e);
    if (e->out->fault)
        fprintf(log->to, ",\"fault\":\"%s\"", e->out->fault);
    fprintf(log->to, "}\n");
}

void sim_log_end(struct sim_log *log)
{
    free(log->text);
}
