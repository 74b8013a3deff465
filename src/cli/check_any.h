/* check_any.h - dibs check --any-sites: exclusion for any number of sites; see src/check/crowd.c. */
#ifndef DIBS_CLI_CHECK_ANY_H
#define DIBS_CLI_CHECK_ANY_H

#include "check/check.h"

/* Prints the result. The caller frees its trace. */
void check_any(struct check_task *task, struct check_result *r);

#endif
