/* http.h - /metrics, /healthz and /status.json over HTTP, if the configuration says where. See http.c. */
#ifndef DIBS_SERVE_HTTP_H
#define DIBS_SERVE_HTTP_H

#include "serve.h"

/* Returns true if the server was started, or is not configured. Returns false after a line in the log if it cannot
 * start. */
bool serve_http_start(struct serve *s);
void serve_http_stop(struct serve *s);

#endif
