/* agent.h - a daemon that is no member, and serves the clients of its machine through the members. See agent.c. */
#ifndef DIBS_SERVE_AGENT_H
#define DIBS_SERVE_AGENT_H

#include "serve.h"

/* Runs until SIGTERM or SIGINT. The loop, the log and the turn of `s` are there; its node is not. Returns the exit status. */
int agent_run(struct serve *s);

#endif
