/* reply_json.h - replies of the node, in version 3 of the Redis protocol, as JSON. */
#ifndef DIBS_SERVE_REPLY_JSON_H
#define DIBS_SERVE_REPLY_JSON_H

#include <stddef.h>
#include <stdio.h>

/* Writes the reply at `at`, which is one of our own, and so complete and valid, as JSON. Returns its end. An error becomes
 * {"error": "CODE text"}. */
const char *reply_to_json(const char *at, FILE *to);
/* A string of JSON, with its quotation marks. */
void reply_text_to_json(const char *text, size_t len, FILE *to);

#endif
