/* metrics.h - what a member counts (lock/stats.h) and what it is, as the text that Prometheus reads. */
#ifndef DIBS_NODE_METRICS_H
#define DIBS_NODE_METRICS_H

#include "base/bytes.h"

struct node;

/* Appends the metrics of the node to `to`, in the text format of Prometheus, version 0.0.4. */
void metrics_write(const struct node *node, struct bytes *to);

#endif
