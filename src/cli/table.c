/* table.c - see table.h. */
#include "table.h"

#include "base/memory.h"
#include "cli.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

char *table_cut(char **line)
{
    char *from = *line, *to = from, *cell = from;
    bool quoted = false;

    for (; *from && (quoted || *from != ','); from++) {
        if (*from == '"')
            quoted = !quoted;
        else
            *to++ = *from;
    }
    *line = *from ? from + 1 : NULL;
    *to = 0;
    return cell;
}

static size_t table_cells(char *line, char **cell, size_t max)
{
    size_t count = 0;

    while (line) {
        char *text = table_cut(&line);

        if (count < max)
            cell[count] = strdup(text);
        count++;
    }
    return count;
}

static void table_head(struct table *t, char *line, const char *path)
{
    char *name[256];
    size_t count = table_cells(line, name, 256);
    bool same = count == t->columns;

    if (!t->columns && count <= 256) {
        t->columns = count;
        t->name = mem_new(count * sizeof *t->name);
        memcpy(t->name, name, count * sizeof *name);
        return;
    }
    for (size_t k = 0; k < count && k < 256; k++) {
        same = same && strcmp(name[k], t->name[k]) == 0;
        free(name[k]);
    }
    if (!same)
        cli_die("%s: its columns are not those of the table before it", path);
}

void table_read(struct table *t, const char *path)
{
    FILE *file = fopen(path, "r");
    char *line = NULL;
    size_t room = 0;

    if (!file)
        cli_die("%s: %s", path, strerror(errno));
    for (unsigned number = 1; getline(&line, &room, file) > 0; number++) {
        line[strcspn(line, "\r\n")] = 0;
        if (number == 1) {
            table_head(t, line, path);
            continue;
        }
        if ((t->rows + 1) * t->columns > t->room) {
            t->room = 2 * t->room + 64 * t->columns;
            t->cell = mem_grow(t->cell, t->room * sizeof *t->cell);
        }
        if (table_cells(line, t->cell + t->rows * t->columns, t->columns) != t->columns)
            cli_die("%s:%u: a row of another length than the head; a table comes from dibs sweep", path, number);
        t->rows++;
    }
    free(line);
    fclose(file);
    if (!t->columns)
        cli_die("%s: empty; a table comes from dibs sweep", path);
}

void table_free(struct table *t)
{
    for (size_t k = 0; k < t->rows * t->columns; k++)
        free(t->cell[k]);
    for (size_t k = 0; k < t->columns; k++)
        free(t->name[k]);
    free(t->cell);
    free(t->name);
}

bool table_has(const struct table *t, const char *name)
{
    for (size_t k = 0; k < t->columns; k++)
        if (strcmp(t->name[k], name) == 0)
            return true;
    return false;
}

size_t table_column(const struct table *t, const char *name)
{
    for (size_t k = 0; k < t->columns; k++)
        if (strcmp(t->name[k], name) == 0)
            return k;
    cli_die("the table has no column \"%s\"; a table comes from dibs sweep", name);
}

const char *table_text(const struct table *t, size_t row, size_t column)
{
    return t->cell[row * t->columns + column];
}

double table_number(const struct table *t, size_t row, size_t column)
{
    const char *text = table_text(t, row, column);
    char *end;
    double x = strtod(text, &end);

    return end == text || *end ? NAN : x;
}
