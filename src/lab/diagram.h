/* diagram.h - a run as a space-time diagram, as the papers draw them: a line for each site, an arrow for each message,
 * and along the line who waits and who is inside. */
#ifndef DIBS_LAB_DIAGRAM_H
#define DIBS_LAB_DIAGRAM_H

#include "moves.h"

/* For a terminal: time goes down, a column for each site, a row for each move. */
void diagram_text(FILE *to, const struct moves *run);
/* For a browser or a paper: time goes to the right. To be freed. */
char *diagram_svg(const struct moves *run);

#endif
