/* http.h - /metrics, /healthz and /status.json over HTTP, if the configuration says where. See http.c. */
#ifndef DIBS_SERVE_HTTP_H
#define DIBS_SERVE_HTTP_H

#include "serve.h"

/* True also if it is not asked for. False: a line was logged. */
bool serve_http_start(struct serve *s);
void serve_http_stop(struct serve *s);

#endif
