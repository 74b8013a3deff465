/* man.h - manual pages in the language mdoc, from the tables that --help prints. "dibs help --format man" writes them. */
#ifndef DIBS_CLI_MAN_H
#define DIBS_CLI_MAN_H

#include "cli.h"

#define CLI_ABOUT                                                                                                      \
    "dibs - distributed mutual exclusion: a lock service without a central server, and a laboratory in which its "     \
    "algorithms are measured and checked"

/* dibs(1): all commands and exit statuses. */
void man_program(FILE *to);
/* dibs-COMMAND(1). */
void man_command(FILE *to, const struct cli_command *command, const struct cli_usage *usage);
/* dibs.conf(5), from the options of "dibs serve". */
void man_conf(FILE *to, const struct cli_usage *serve);

#endif
