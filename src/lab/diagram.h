/* diagram.h - a run as a space-time diagram, as the papers draw them: a line for each site, an arrow for each message,
 * and along the line when a site waits and when it is inside. */
#ifndef DIBS_LAB_DIAGRAM_H
#define DIBS_LAB_DIAGRAM_H

#include "moves.h"

/* For a terminal: time goes down, a column for each site, a row for each move. It fits into 80 columns for up to 8 sites. */
void diagram_text(FILE *to, const struct moves *run);
/* For a browser or a paper: time goes to the right, to scale if the run has times. */
void diagram_svg(FILE *to, const struct moves *run);
void diagram_svg_down(FILE *to, const struct moves *run); /* the same with time going down */
void diagram_tikz(FILE *to, const struct moves *run);
void diagram_tikz_down(FILE *to, const struct moves *run);
/* For other tools: a sequence diagram of Mermaid, and a log with vector clocks for ShiViz. */
void diagram_mermaid(FILE *to, const struct moves *run);
void diagram_shiviz(FILE *to, const struct moves *run);

/* One of these into a text, to be freed. */
char *diagram_make(void (*form)(FILE *to, const struct moves *run), const struct moves *run);

#endif
