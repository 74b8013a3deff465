/* terminal.h - the terminal for a program with a screen: keys one by one, and the terminal in order afterwards.
 *
 * A program that has taken the terminal shows its screen beside what was there, and gets every key, also Ctrl-C. However the program
 * ends (exit, SIGTERM, SIGINT, SIGHUP, SIGQUIT), the terminal is as it was before. When the program is stopped (Ctrl-Z, SIGTSTP), the
 * terminal is given back until it goes on (SIGCONT). */
#ifndef DIBS_CLI_TERMINAL_H
#define DIBS_CLI_TERMINAL_H

#include <stdbool.h>

/* Keys that are no single byte. KEY_NONE: no key, but the screen is to be shown again, or the time is over. */
enum { KEY_GONE = -1, KEY_NONE = 256, KEY_UP, KEY_DOWN, KEY_RIGHT, KEY_LEFT, KEY_PAGE_UP, KEY_PAGE_DOWN, KEY_ESCAPE };

/* Takes the terminal, which is standard input and output. `who` is the command, for the error if that fails. */
void terminal_take(const char *who);
/* Waits for a key; at most wait_ms, or for any time if that is -1. KEY_GONE if the terminal is gone. Ctrl-Z stops the program. */
int terminal_key(int wait_ms);
/* Has a key been pressed, or the terminal been resized, since the last call of terminal_key? */
bool terminal_is_waited_for(void);
/* The size of the terminal now; 80 columns and 24 lines if it does not say. */
void terminal_size(unsigned *columns, unsigned *lines);

#endif
