/* resp.h - the protocol of Redis, versions 2 and 3, as a lock service needs it: requests in, replies out.
 *
 * A request is an array of strings, or a line of words as a person types it into a plain connection. Its length is
 * bounded by RESP_REQUEST_MAX bytes, which is enough for Redisson, which renews a hundred locks in one. So no client makes the daemon keep more (I19). */
#ifndef DIBS_PROTOCOL_RESP_H
#define DIBS_PROTOCOL_RESP_H

#include "base/bytes.h"

#include <stdbool.h>

enum { RESP_ARGS_MAX = 256, RESP_REQUEST_MAX = 16384 };

struct resp_word {
    const char *at;
    size_t len;
};

struct resp_request {
    size_t count; /* may be 0: an empty line */
    struct resp_word word[RESP_ARGS_MAX];
};

/* Reads a request. Returns the number of bytes that it takes; 0 if more bytes are needed; or -1 if this is no request, and `*wrong` gets
 * the reason. The words point into the bytes. */
int resp_parse(const char *bytes, size_t len, struct resp_request *r, const char **wrong);

/* Does the word equal `text`, in capital or small letters? */
bool resp_is(struct resp_word word, const char *text);

/* Replies. The protocol is 2 or 3. A type that version 2 does not have is written as a similar one. */
void resp_simple(struct bytes *to, const char *text);
void resp_error(struct bytes *to, const char *code, const char *text); /* one line, whatever is in the text */
void resp_integer(struct bytes *to, uint64_t x);
void resp_signed(struct bytes *to, int64_t x);
void resp_boolean(struct bytes *to, unsigned protocol, bool x); /* version 2: 1 or 0 */
void resp_string(struct bytes *to, const char *text, size_t len);
void resp_text(struct bytes *to, const char *text); /* ends with a zero byte */
void resp_null(struct bytes *to, unsigned protocol);
void resp_nil(struct bytes *to, unsigned protocol); /* the same, in place of a string */
void resp_array(struct bytes *to, size_t count);
void resp_map(struct bytes *to, unsigned protocol, size_t pairs);
void resp_push(struct bytes *to, size_t count); /* version 3 only: news, which answer no request */

#endif
