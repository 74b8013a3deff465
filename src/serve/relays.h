/* relays.h - agents as clients of this member: each has one connection, and each of its clients a channel of it (relay/mux.h).
 *
 * The node treats a channel as a connection over TCP. When the connection of the agent ends, in whatever way, the node is told that the
 * channels have broken, because that end says nothing about the agent's clients. Only the end of a channel does.
 *
 * A channel has the rights of its agent, but is never an operator. The user of a client is shown to people, but no rule of
 * this member is about it: a number of a user means something on one machine only. */
#ifndef DIBS_SERVE_RELAYS_H
#define DIBS_SERVE_RELAYS_H

#include "serve.h"

struct relay;

void serve_relays_init(struct serve *s);
/* The client of this connection is an agent from now on. */
struct relay *relay_begin(struct serve *s, struct stream *stream, const struct client *agent);
/* The stream of an agent that has said nothing for RELAY_SILENCE_MS, though it should send PING all the time (relay/agent.h); or null. */
enum { RELAY_SILENCE_MS = 5000 };
struct stream *relays_silent(const struct serve *s);
/* Bytes have come. Returns false if the connection has to be closed, for the reason `why`. */
bool relay_read(struct relay *r, const uint8_t *bytes, size_t len, const char **why);
/* The connection takes bytes again. */
void relay_room(struct relay *r);
/* The connection has ended. */
void relay_end(struct relay *r);
/* Does work that did not fit into earlier turns. */
void serve_relays_go_on(struct serve *s);
/* The daemon ends: the node is not told. */
void serve_relays_stop(struct serve *s);

#endif
