/* explained.h - what the heads of src/alg say of each algorithm, as text for people. */
#ifndef DIBS_LAB_EXPLAINED_H
#define DIBS_LAB_EXPLAINED_H

/* Paragraphs are lines; LABEL<tab>TEXT is an item of a list. A part that the head does not have is null. */
struct explained {
    const char *name;
    const char *idea, *messages;
    const char *algorithm; /* rules: "request", "release", "timer" or "on KIND(fields)", and what a site does then */
    const char *invariants, *departures, *notes;
};
extern const struct explained explained[]; /* of all algorithms without a flaw; ends with a null name */

#endif
