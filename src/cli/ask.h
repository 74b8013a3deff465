/* ask.h - what the commands that talk to the daemon share. */
#ifndef DIBS_CLI_ASK_H
#define DIBS_CLI_ASK_H

#include "client/dibs.h"

/* Connects to the daemon at this path, null: where it usually is. If there is none, a line, and exit with this status. */
void cli_connect(struct dibs *d, const char *path, int status);
/* The answer to a command. What is an error to the daemon ends the program. */
struct dibs_reply *cli_ask(struct dibs *d, const char *const *words, size_t count);

#endif
