/* agent.h - a daemon that is no member, and serves the clients of its machine through the members. See agent.c. */
#ifndef DIBS_SERVE_AGENT_H
#define DIBS_SERVE_AGENT_H

#include "serve.h"

/* Runs until SIGTERM or SIGINT. The loop, the log and the turn of `s` are ready; its node is not used. Returns the exit status. */
int agent_run(struct serve *s);

/* For HTTP. Appends the agent's counters, in the text format of Prometheus. */
void agent_metrics(struct serve *s, struct bytes *to);
/* Returns null if the agent has a member; else why the last call was in vain, or "". */
const char *agent_why_not(const struct serve *s);

#endif
