/* paper_report.h - what became of published claims: for people, for machines, and as the list in docs/papers.md. */
#ifndef DIBS_CLI_PAPER_REPORT_H
#define DIBS_CLI_PAPER_REPORT_H

#include "cli.h"
#include "paper/paper.h"

struct paper_outcome {
    double measured, half; /* NAN: nothing is measured */
    enum paper_verdict verdict;
};

/* A table with all its runs. */
struct paper_tabled {
    struct scatter scatter;
    struct paper_fit fit;
    double steady[PAPER_COLUMNS][PAPER_LOADS], other[PAPER_COLUMNS][PAPER_LOADS];
};

/* Where outcomes come from. */
struct paper_source {
    void *user;
    struct paper_outcome (*row)(void *user, const struct paper_row *row);
    const struct paper_tabled *(*table)(void *user, const struct paper_table *table);
};

/* Each returns the verdict on the experiment. */
enum paper_verdict paper_text(const struct paper *paper, const struct paper_source *from);
enum paper_verdict paper_json(struct cli_json *j, const struct paper *paper, const struct paper_source *from);
void paper_markdown(FILE *to, const struct paper *paper, const struct paper_source *from);

#endif
