/* agent_metrics.c - what an agent tells over HTTP: its counters, for Prometheus, and whether it has a member. */
#include "agent_inside.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void agent_metric(struct bytes *to, const char *name, const char *help, const char *labels, uint64_t value)
{
    size_t len = strlen(name);
    bool counts = len > 6 && strcmp(name + len - 6, "_total") == 0;
    char text[512];

    len = (size_t)snprintf(text, sizeof text, "# HELP %s %s\n# TYPE %s %s\n%s%s %" PRIu64 "\n", name, help, name,
                           counts ? "counter" : "gauge", name, labels, value);
    memcpy(bytes_add(to, len), text, len);
}

static uint64_t agent_count(const struct ring *ring)
{
    uint64_t count = 0;

    for (const struct ring *at = ring->next; at != ring; at = at->next)
        count++;
    return count;
}

void agent_metrics(struct serve *s, struct bytes *to)
{
    const struct agent_daemon *a = s->loop.data;
    bool up = a->plan.state == AGENT_UP;
    uint64_t channels = 0;
    char labels[256];

    for (const struct ring *at = a->uplinks.next; at != &a->uplinks; at = at->next)
        channels += RING_OF(at, struct agent_uplink, in_agent)->mux.count;
    serve_mind_memory(s);
    snprintf(labels, sizeof labels, "{agent=\"%s\",version=\"%s\"}", s->conf->member[s->conf->self].name, DIBS_VERSION);
    agent_metric(to, "dibs_agent_info", "Which agent this is, and its version.", labels, 1);
    agent_metric(to, "dibs_agent_ready", "Is there a member that has accepted this agent?", "", up);
    if (up) {
        bool v6 = strchr(a->now->at.host, ':');

        snprintf(labels, sizeof labels, "{place=\"%s%s%s:%d\"}", v6 ? "[" : "", a->now->at.host, v6 ? "]" : "",
                 a->now->at.port);
        agent_metric(to, "dibs_agent_member_seconds",
                     "The place of its member, and for how long it has been connected.", labels,
                     (agent_now_ms() - a->plan.since_ms) / 1000);
    }
    agent_metric(to, "dibs_agent_places", "Places of members that it may connect to.", "", a->plan.places);
    agent_metric(to, "dibs_agent_connections", "Connections to members: one, and those to members that are drained.",
                 "", agent_count(&a->uplinks));
    agent_metric(to, "dibs_agent_channels", "Channels of clients over these connections.", "", channels);
    agent_metric(to, "dibs_agent_clients", "Clients that are connected to this agent.", "", agent_count(&a->locals));
    agent_metric(to, "dibs_agent_waiting_clients", "Of these, clients that wait for a member.", "",
                 agent_count(&a->held));
    agent_metric(to, "dibs_agent_clients_total", "Clients that have connected.", "", a->count.clients);
    agent_metric(to, "dibs_agent_refused_clients_total", "Clients that were refused: no member, no room, no memory.",
                 "", a->count.refused);
    agent_metric(to, "dibs_agent_calls_total", "Attempts to connect to a member.", "", a->count.calls);
    agent_metric(to, "dibs_agent_accepted_calls_total", "Attempts that a member has accepted.", "", a->count.accepted);
    agent_metric(to, "dibs_agent_lost_members_total", "Connections to members that were lost, with all their clients'.",
                 "", a->count.lost);
    agent_metric(to, "dibs_agent_left_members_total", "Members that were left for another, as they were being drained.",
                 "", a->count.left);
    agent_metric(to, "dibs_agent_buffered_bytes", "Bytes in the buffers of all clients.", "", s->buffered);
    agent_metric(to, "dibs_agent_memory_bytes", "Resident memory of this agent, without mapped files.", "",
                 s->node.stats.memory);
    if (tls_ends(s->conf->members_tls))
        agent_metric(to, "dibs_agent_certificate_end_time_seconds", "When its certificate ends, since 1970.", "",
                     (uint64_t)tls_ends(s->conf->members_tls));
}

const char *agent_why_not(const struct serve *s)
{
    const struct agent_daemon *a = s->loop.data;

    return a->plan.state == AGENT_UP ? NULL : a->why;
}
