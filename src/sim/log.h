/* log.h - a run as JSON lines: the first line says what was run, each further one is a step.
 *
 *     {"at":0.5,"site":0,"event":"request","mode":0,"sends":[{"to":1,"number":3,"text":"REQUEST[1.0]"}]}
 *     {"at":1.5,"site":1,"event":"receive","from":0,"number":3,"text":"REQUEST[1.0]","enters":true}
 *
 * Messages are numbered, so that each receipt can be matched with its sending: played in this order, on whatever
 * driver, the steps give the same run. A broadcast goes to "all", and its copies have consecutive numbers, in the order
 * of the receivers. */
#ifndef DIBS_SIM_LOG_H
#define DIBS_SIM_LOG_H

#include "sim.h"

#include <stdio.h>

struct sim_log {
    FILE *to;
    const struct dme_conf *conf;
    char *text;
    size_t text_size;
};

void sim_log_begin(struct sim_log *log, FILE *to, const struct sim_spec *spec);
/* To be given as sim_spec.observe, with the log as its user. */
void sim_log_observe(void *log, const struct sim_event *event);
void sim_log_end(struct sim_log *log);

#endif
