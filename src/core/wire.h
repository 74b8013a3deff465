/* wire.h - messages as bytes between machines.
 *
 * A message is its kind (one byte), the fence, and the tickets; how many tickets there are follows from the kind, so
 * there is no length to lie about. Numbers are base-128 varints, seven bits a byte, lowest first, as short as possible.
 * A ticket is clock, mode, and site + 1 (0: no site). Sender and receiver are known to the link and do not travel.
 *
 * Every message has exactly one encoding (I7), and decoding accepts nothing else: dme_decode(bytes) succeeds only if
 * dme_encode(result) gives the same bytes again. */
#ifndef DIBS_CORE_WIRE_H
#define DIBS_CORE_WIRE_H

#include "dme.h"

/* Bytes that any message of this configuration fits into. */
size_t dme_wire_max(const struct dme_conf *conf);
/* The exact length of this message's encoding. */
size_t dme_wire_size(const struct dme_msg *m);
/* Writes the message into buf, which has room for dme_wire_size(m) bytes, and returns the length. */
size_t dme_encode(const struct dme_msg *m, uint8_t *buf);
/* Reads a message of exactly len bytes that came from a peer into m, which has room for dme_msg_size_max(conf) bytes.
 * Null if all is well, else what is wrong with the bytes. */
const char *dme_decode(const struct dme_conf *conf, dme_id from, dme_id to, const uint8_t *buf, size_t len,
                       struct dme_msg *m);

#endif
