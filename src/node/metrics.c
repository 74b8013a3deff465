/* metrics.c - see metrics.h. */
#include "metrics.h"

#include "audit.h"
#include "node.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void metrics_print(struct bytes *to, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void metrics_print(struct bytes *to, const char *format, ...)
{
    char line[512];
    va_list args;
    int len;

    va_start(args, format);
    len = vsnprintf(line, sizeof line, format, args);
    va_end(args);
    assert(len >= 0 && (size_t)len < sizeof line); /* nothing was cut off */
    memcpy(bytes_add(to, (size_t)len), line, (size_t)len);
}

static void metrics_head(struct bytes *to, const char *name, const char *type, const char *help)
{
    metrics_print(to, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

static void metrics_one(struct bytes *to, const char *name, const char *type, const char *help, uint64_t value)
{
    metrics_head(to, name, type, help);
    metrics_print(to, "%s %" PRIu64 "\n", name, value);
}

static void metrics_ms(struct bytes *to, const char *name, const char *type, const char *help, uint64_t ms)
{
    metrics_head(to, name, type, help);
    metrics_print(to, "%s %" PRIu64 ".%03u\n", name, ms / 1000, (unsigned)(ms % 1000));
}

/* For how long the client of this claim has waited, or has held the lock; 0 if `c` is null. */
static uint64_t metrics_age(const struct node *node, const struct claim *c)
{
    return c && c->since_ms < node->now_ms ? node->now_ms - c->since_ms : 0;
}

static void metrics_times(struct bytes *to, const char *name, const char *help, const struct stats_times *t)
{
    uint64_t count = 0;

    metrics_head(to, name, "histogram", help);
    for (unsigned k = 0; k < STATS_BUCKETS; k++) {
        count += t->bucket[k];
        metrics_print(to, "%s_bucket{le=\"%s\"} %" PRIu64 "\n", name, stats_bound[k].seconds, count);
    }
    count += t->bucket[STATS_BUCKETS];
    metrics_print(to, "%s_bucket{le=\"+Inf\"} %" PRIu64 "\n", name, count);
    metrics_print(to, "%s_sum %" PRIu64 ".%03u\n%s_count %" PRIu64 "\n", name, t->sum_ms / 1000,
                  (unsigned)(t->sum_ms % 1000), name, count);
}

static void metrics_of_messages(const struct node *node, struct bytes *to, bool sent)
{
    const struct stats_messages *m = &node->locks.messages;
    const char *name = sent ? "dibs_messages_sent_total" : "dibs_messages_received_total";

    metrics_head(to, name, "counter", "Messages of algorithms between this member and others.");
    for (unsigned k = 0; k < m->algs; k++)
        for (unsigned kind = 0; kind < STATS_KINDS_MAX; kind++) {
            uint64_t count = sent ? m->alg[k].sent[kind] : m->alg[k].received[kind];

            if (count)
                metrics_print(to, "%s{algorithm=\"%s\",kind=\"%s\"} %" PRIu64 "\n", name, m->alg[k].alg->name,
                              m->alg[k].alg->kinds[kind].name, count);
        }
}

static void metrics_of_links(const struct node *node, struct bytes *to)
{
    static const struct {
        const char *name, *type, *help;
    } each[] = {
        {"dibs_link_up", "gauge", "Is the connection to this member up?"},
        {"dibs_link_messages_total", "counter", "Messages for this member."},
        {"dibs_link_resends_total", "counter", "Messages that were sent again after the connection had broken."},
        {"dibs_link_backlog_bytes", "gauge", "Messages for this member that it has not acknowledged."},
    };

    for (unsigned k = 0; k < sizeof each / sizeof each[0]; k++) {
        metrics_head(to, each[k].name, each[k].type, each[k].help);
        for (uint32_t j = 0; j < admin_members(node); j++) {
            const struct link *link = admin_link(node, j);

            if (link)
                metrics_print(to, "%s{member=\"%s\"} %" PRIu64 "\n", each[k].name, admin_name(node, j),
                              k == 0   ? (uint64_t)(link->state == LINK_UP)
                              : k == 1 ? link->made
                              : k == 2 ? link->resent
                                       : (uint64_t)bytes_len(&link->unacked));
        }
    }
}

static uint64_t metrics_taking_part(const struct node *node)
{
    uint64_t count = 0;

    for (uint32_t k = 0; k < node->view.count; k++)
        count += node->view.member[k].incarnation != 0;
    return count;
}

/* The member, its lease and its view. */
static void metrics_of_member(const struct node *node, struct bytes *to)
{
    uint64_t vouches_ms = node_vouches_ms(node);

    metrics_head(to, "dibs_info", "gauge", "Which member this is, and its version.");
    metrics_print(to, "dibs_info{member=\"%s\",version=\"%s\"} 1\n", node->self.name, DIBS_VERSION);
    metrics_one(to, "dibs_ready", "gauge", "Does this member grant locks?", node_is_open(node));
    metrics_head(to, "dibs_vouches_seconds", "gauge", "For how long this member vouches for its clients' locks.");
    if (vouches_ms == UINT64_MAX)
        metrics_print(to, "dibs_vouches_seconds +Inf\n");
    else
        metrics_print(to, "dibs_vouches_seconds %" PRIu64 ".%03u\n", vouches_ms / 1000, (unsigned)(vouches_ms % 1000));
    metrics_one(to, "dibs_view", "gauge", "The number of the view of the cluster that this member is in.",
                node->view.number);
    metrics_one(to, "dibs_view_members", "gauge", "Members that take part in this view.", metrics_taking_part(node));
    metrics_one(to, "dibs_members", "gauge", "Members of the cluster, whether or not they take part.",
                node->agree ? node->view.count : 1);
    metrics_one(to, "dibs_lapses_total", "counter",
                "How often this member has lost its lease, and its clients their locks.", node->lapses);
    metrics_one(to, "dibs_clock_standstills_total", "counter",
                "How often the clock of this machine was found to have stood still, or to run too slowly.",
                node->stills);
}

static void metrics_of_locks(const struct node *node, struct bytes *to)
{
    const struct stats *s = &node->stats;

    metrics_one(to, "dibs_sessions_total", "counter", "Connections of clients so far.", node->session_count);
    metrics_one(to, "dibs_locks", "gauge", "Names of locks that this member remembers.", node->locks.count);
    metrics_one(to, "dibs_holders", "gauge", "Locks held by clients of this member.", s->holders);
    metrics_one(to, "dibs_waiters", "gauge", "Clients of this member that wait for a lock.", s->waiters);
    metrics_ms(to, "dibs_oldest_wait_seconds", "gauge", "The longest time for which a client has been waiting.",
               metrics_age(node, locks_oldest_wait(&node->locks)));
    metrics_ms(to, "dibs_oldest_hold_seconds", "gauge", "The longest time for which a client has been holding a lock.",
               metrics_age(node, locks_oldest_hold(&node->locks)));
    metrics_one(to, "dibs_subscriptions", "gauge", "Subscriptions to events.", node->admin.watch.count);
    metrics_one(to, "dibs_grants_total", "counter", "Locks granted to clients of this member.", node->grants);
    metrics_one(to, "dibs_releases_total", "counter", "Locks that clients of this member have released.", s->releases);
    metrics_one(to, "dibs_losses_total", "counter", "Locks that clients of this member have lost.", node->losses);
    metrics_one(to, "dibs_timeouts_total", "counter", "Waits that took too long.", s->timeouts);
    metrics_one(to, "dibs_deadlocks_total", "counter", "Waits that have ended as the youngest of a cycle.",
                node->deadlocks.victims);
    metrics_one(to, "dibs_refusals_total", "counter", "Requests for a lock of another kind.", s->refusals);
}

static void metrics_of_times(const struct stats *s, struct bytes *to)
{
    metrics_times(to, "dibs_wait_seconds", "From a client's request to its grant.", &s->wait);
    metrics_times(to, "dibs_hold_seconds", "From a grant to its release or loss.", &s->hold);
    metrics_times(to, "dibs_handover_seconds",
                  "From a release, while a client of this member waits, to its next grant of the same lock.",
                  &s->handover);
    metrics_times(to, "dibs_journal_write_seconds", "How long it took to write to the journal.", &s->disk);
    metrics_times(to, "dibs_turn_seconds", "How long a turn of the daemon's loop took: nothing else is done meanwhile.",
                  &s->turn);
    metrics_times(to, "dibs_turn_cpu_seconds",
                  "Processor time of a turn of the daemon's loop: what it took, whatever else the machine did.",
                  &s->turn_cpu);
}

/* The daemon as a process. */
static void metrics_of_process(const struct stats *s, struct bytes *to)
{
    metrics_one(to, "dibs_memory_bytes", "gauge", "Resident memory of this daemon, without mapped files.", s->memory);
    metrics_one(to, "dibs_memory_max_bytes", "gauge",
                "Memory beyond which clients are refused what would have to be kept (0: no bound).", s->memory_max);
    metrics_head(to, "dibs_connections", "gauge", "Connections of clients now.");
    metrics_print(to, "dibs_connections{over=\"unix\"} %" PRIu64 "\ndibs_connections{over=\"tcp\"} %" PRIu64 "\n",
                  s->connections[0], s->connections[1]);
    metrics_ms(to, "process_cpu_seconds_total", "counter", "Processor time of this daemon.", s->cpu_ms);
    metrics_one(to, "process_resident_memory_bytes", "gauge", "Memory of this daemon, as dibs_memory_bytes.",
                s->memory);
    metrics_one(to, "process_start_time_seconds", "gauge", "When this daemon began, in seconds since 1970.",
                (uint64_t)s->began_s);
    if (s->certificate_ends_s)
        metrics_one(to, "dibs_certificate_end_time_seconds", "gauge",
                    "When the certificate of this member ends, in seconds since 1970.",
                    (uint64_t)s->certificate_ends_s);
    metrics_one(to, "dibs_log_lines_dropped_total", "counter",
                "Lines of the log that were dropped because nothing has read them in time.", s->log_dropped);
    metrics_head(to, "dibs_audits_total", "counter", "Entries of the audit trail, by what they are about.");
    for (int k = 0; k < AUDIT_WHATS; k++)
        metrics_print(to, "dibs_audits_total{about=\"%s\"} %" PRIu64 "\n", audit_name[k], s->audits[k]);
}

void metrics_write(const struct node *node, struct bytes *to)
{
    metrics_of_member(node, to);
    metrics_of_locks(node, to);
    metrics_of_times(&node->stats, to);
    metrics_of_process(&node->stats, to);
    metrics_of_messages(node, to, true);
    metrics_of_messages(node, to, false);
    metrics_of_links(node, to);
}
