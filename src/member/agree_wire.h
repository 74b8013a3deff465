/* agree_wire.h - the messages of Raft as bytes. */
#ifndef DIBS_MEMBER_AGREE_WIRE_H
#define DIBS_MEMBER_AGREE_WIRE_H

#include "base/bytes.h"

#include <raft.h>
#include <stdbool.h>

void agree_encode(const struct raft_message *m, struct bytes *to);
/* Returns false if the bytes are no message. What `m` points to is allocated as libraft expects, and libraft owns it
 * once it has received `m`. */
bool agree_decode(struct raft_message *m, const uint8_t *bytes, size_t len);
/* Frees what `m` points to, for a message that libraft does not receive. */
void agree_discard(struct raft_message *m);

/* A list of servers, each with a vote or without. At least one server has a vote. */
void agree_encode_servers(const struct raft_configuration *conf, struct bytes *to);
bool agree_decode_servers(struct raft_configuration *conf, const uint8_t *bytes, size_t len);
/* The same list as libraft encodes it in entries of its log. */
bool agree_decode_change(struct raft_configuration *conf, const uint8_t *bytes, size_t len);

#endif
