/* check_report.h - what the checker found, for people and for machines. */
#ifndef DIBS_CLI_CHECK_REPORT_H
#define DIBS_CLI_CHECK_REPORT_H

#include "check/check.h"

void check_print_text(const struct check_task *task, const struct check_result *r);
void check_print_json(const struct check_task *task, const struct check_result *r);
/* ", modulus=5, mistake=small-modulus": options that are not as they are at first, and the mistake; the same as a JSON object "options". */
void check_print_options(const struct dme_conf *conf);
struct cli_json;
void check_json_options(struct cli_json *j, const struct dme_conf *conf);
/* The exit status. */
int check_status(const struct check_result *r);
/* Which event has happened in which phase of a site, and which never. */
void check_print_coverage(const struct check_result *r);
/* The counterexample as a scenario, as a picture. */
void check_save(const struct check_task *task, const struct check_result *r, const char *path);
void check_draw(const struct check_task *task, const struct check_result *r, const char *path);

#endif
