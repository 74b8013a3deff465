/* interrupt.h - Ctrl-C ends long work with what is known by then. */
#ifndef DIBS_CLI_INTERRUPT_H
#define DIBS_CLI_INTERRUPT_H

#include <signal.h>

/* From now on the first SIGINT sets the flag that is returned, and the program goes on: it ends when it has told what is known. A second one
 * ends the program at once, unless it comes within INTERRUPT_ONE_MS of the first: timeout(1) sends the signal to its command and then to its
 * process group, so that it comes twice. If the caller ignores SIGINT, as a shell without jobs has it for a command in the background, so does
 * the program. */
enum { INTERRUPT_ONE_MS = 250 };
const volatile sig_atomic_t *interrupt_catch(void);

#endif
