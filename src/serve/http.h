/* http.h - metrics, the daemon's state and its web page over HTTP, if the configuration says where. See http.c. */
#ifndef DIBS_SERVE_HTTP_H
#define DIBS_SERVE_HTTP_H

#include "serve.h"

/* Returns true if the server was started, or is not configured. Returns false after a line in the log if it cannot
 * start. */
bool serve_http_start(struct serve *s);
void serve_http_stop(struct serve *s);
/* Writes an address that opens the page and logs in once, with the rights of a client that comes from `from`. Returns null,
 * or why there is none. */
const char *serve_http_invite(struct serve *s, const struct rights_who *who, const char *from, char *url, size_t size);
/* The version of the installed libmicrohttpd; null if there is none. */
const char *serve_http_version(void);

#endif
