/* agree_wire.h - the messages of Raft as bytes. */
#ifndef DIBS_NODE_AGREE_WIRE_H
#define DIBS_NODE_AGREE_WIRE_H

#include "bytes.h"

#include <raft.h>
#include <stdbool.h>

void agree_encode(const struct raft_message *m, struct bytes *to);
/* False: that is no message. What it points to is allocated as libraft expects, and is libraft's when it has received
 * it. */
bool agree_decode(struct raft_message *m, const uint8_t *bytes, size_t len);

/* A list of servers. */
void agree_encode_servers(const struct raft_configuration *conf, struct bytes *to);
bool agree_decode_servers(struct raft_configuration *conf, const uint8_t *bytes, size_t len);

#endif
