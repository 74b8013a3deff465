/* metrics.h - a member's counters (lock/stats.h) and its state, as text for Prometheus. */
#ifndef DIBS_NODE_METRICS_H
#define DIBS_NODE_METRICS_H

#include "base/bytes.h"

struct node;

/* Appends the metrics of the node to `to`, in the text format of Prometheus, version 0.0.4. */
void metrics_write(const struct node *node, struct bytes *to);

#endif
