/* report.h - the result of a simulation as text, JSON or CSV. */
#ifndef DIBS_CLI_REPORT_H
#define DIBS_CLI_REPORT_H

#include "cli.h"
#include "sim/sim.h"

void report_print(FILE *to, enum cli_format format, const struct sim_spec *spec, const struct sim_result *result);

#endif
