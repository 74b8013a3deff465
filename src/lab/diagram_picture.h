/* diagram_picture.h - a diagram as a picture: one layout for all formats, which are canvases.
 *
 * Coordinates are pixels, y goes down. A class says what a thing is, and a canvas says how that looks:
 *
 *   bands   waits inside down reads, and paper under a label
 *   lines   lane message flies news axis loop
 *   texts   site caption label broken note mark tick legend remark */
#ifndef DIBS_LAB_DIAGRAM_PICTURE_H
#define DIBS_LAB_DIAGRAM_PICTURE_H

#include "diagram_inner.h"

struct diagram_box {
    double x1, y1, x2, y2; /* of a line: its ends */
};
enum diagram_anchor { DIAGRAM_LEFT, DIAGRAM_MIDDLE, DIAGRAM_RIGHT }; /* which point of a text is at x */
enum diagram_end { DIAGRAM_PLAIN, DIAGRAM_HEAD, DIAGRAM_LOST };      /* of a line: nothing, an arrow head, a cross */

struct diagram_canvas {
    void (*begin)(FILE *to, double width, double height);
    void (*band)(FILE *to, const char *class, const struct diagram_box *b);
    void (*line)(FILE *to, const char *class, const struct diagram_box *b, enum diagram_end end);
    void (*text)(FILE *to, const char *class, enum diagram_anchor anchor, double x, double y, const char *text);
    void (*end)(FILE *to);
};

void diagram_draw(FILE *to, const struct diagram_canvas *canvas, const struct moves *run, bool down);

#endif
