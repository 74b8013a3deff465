/* report.h - the result of a simulation as text, JSON or CSV. */
#ifndef DIBS_CLI_REPORT_H
#define DIBS_CLI_REPORT_H

#include "cli.h"
#include "sim/sim.h"

/* CSV in parts: the head, the columns that say what was run, and those that say what came out, up to the end of line.
 */
enum { REPORT_KEY_SIZE = 1024 };
void report_csv_head(FILE *to);
void report_csv_key(const struct sim_spec *spec, struct dme_text *text);
void report_csv_values(FILE *to, const struct sim_result *result);

void report_print(FILE *to, enum cli_format format, const struct sim_spec *spec, const struct sim_result *result);

#endif
