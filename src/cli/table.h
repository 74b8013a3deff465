/* table.h - a CSV table in memory, as dibs writes it: a head of names, then rows of as many cells. */
#ifndef DIBS_CLI_TABLE_H
#define DIBS_CLI_TABLE_H

#include <stdbool.h>
#include <stddef.h>

struct table {
    char **cell; /* row after row; the head is not among them */
    size_t rows, columns, room;
    char **name; /* of the columns */
};

/* Reads a file behind what the table has already; the heads must be the same. cli_die if something is wrong. */
void table_read(struct table *t, const char *path);
void table_free(struct table *t);

/* Cuts one cell off a line of CSV and returns it, without its quotes. The line becomes null behind the last cell. */
char *table_cut(char **line);
/* Is there a column of this name? */
bool table_has(const struct table *t, const char *name);
/* The column of this name, or cli_die. */
size_t table_column(const struct table *t, const char *name);
const char *table_text(const struct table *t, size_t row, size_t column);
/* A cell as a number; NAN if it is empty or none. */
double table_number(const struct table *t, size_t row, size_t column);

#endif
