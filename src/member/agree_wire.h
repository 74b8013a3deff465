/* agree_wire.h - the messages of Raft as bytes. */
#ifndef DIBS_MEMBER_AGREE_WIRE_H
#define DIBS_MEMBER_AGREE_WIRE_H

#include "base/bytes.h"

#include <raft.h>
#include <stdbool.h>

void agree_encode(const struct raft_message *m, struct bytes *to);
/* False: that is no message. What it points to is allocated as libraft expects, and is libraft's when it has received
 * it. */
bool agree_decode(struct raft_message *m, const uint8_t *bytes, size_t len);
/* What a message points to is freed: libraft does not get it. */
void agree_discard(struct raft_message *m);

/* A list of servers, each with a vote or without; at least one has one. */
void agree_encode_servers(const struct raft_configuration *conf, struct bytes *to);
bool agree_decode_servers(struct raft_configuration *conf, const uint8_t *bytes, size_t len);
/* The same as libraft writes it, into entries of its log. */
bool agree_decode_change(struct raft_configuration *conf, const uint8_t *bytes, size_t len);

#endif
